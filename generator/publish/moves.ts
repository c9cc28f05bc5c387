/** Moves and deletes trees of files, and folders that they leave empty. */
import {
  lstatSync,
  mkdirSync,
  opendirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  type Dir,
  type Dirent,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../base/errors.js';
import { ifExists, renameFolder, requireNoLink } from '../base/files.js';

/**
 * Whether a call may have failed since it is for files and there is a folder, or the other way round. Systems
 * differ in the error, so the caller looks at the place itself.
 */
const isMismatch = (error: unknown): boolean =>
  ['EACCES', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EPERM'].includes(codeOf(error) ?? '');

/** What is at a path; undefined if nothing is. A symbolic link is no folder, wherever it leads. */
const typeAt = (path: string): 'folder' | 'other' | undefined => {
  const found = ifExists(() => lstatSync(path));
  return found && (found.isDirectory() ? 'folder' : 'other');
};

const isNotEmpty = (error: unknown): boolean => ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '');

/**
 * The entries of a folder, each of which must be moved away or deleted when it is yielded; then
 * removes the folder. Some file systems skip entries of a folder that changes while it is read, so it
 * is read until it is empty.
 */
function* draining(path: string): Generator<Dirent, void, undefined> {
  const opened = (): Dir | undefined => ifExists(() => opendirSync(path));
  for (let folder = opened(); folder !== undefined; folder = opened()) {
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry;
    } finally {
      folder.closeSync();
    }
    try {
      rmdirSync(path);
      return;
    } catch (error) {
      if (!isNotEmpty(error)) throw error;
    }
  }
}

/** Moves a file, or everything below a folder, and yields after each move. Idempotent: see `moveInto`. */
export function* move(from: string, to: string): Generator<void, void, undefined> {
  const found = statSync(from, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) {
    if (typeAt(to) === 'folder' || !moveWhole(from, to)) yield* moveInto(from, to);
  } else if (found !== undefined) {
    moveFile(from, to);
    yield;
  }
}

/**
 * Moves everything below one folder into another, yields after each move, and removes the emptied
 * folder. A folder that does not exist there yet is moved by a single rename. Idempotent: a second
 * run moves what remains.
 */
function* moveInto(from: string, to: string): Generator<void, void, undefined> {
  for (const entry of draining(from)) {
    const source = `${from}/${entry.name}`;
    const target = `${to}/${entry.name}`;
    if (!entry.isDirectory()) moveFile(source, target);
    else if (!moveWhole(source, target)) {
      yield* moveInto(source, target);
      continue;
    }
    yield;
  }
}

/** Renames a file, into a folder that is there. A folder in its place is deleted. */
export function moveFile(source: string, target: string): void {
  try {
    renameSync(source, target);
  } catch (error) {
    if (!isMismatch(error) || typeAt(target) !== 'folder') throw error;
    rmSync(target, { recursive: true, force: true });
    renameSync(source, target);
  }
}

/**
 * Moves a folder by one rename, which replaces a missing folder, on some systems an empty one, but no
 * other folder. A file in its place is deleted.
 * HAZARD: an overlay copies the files of a lower layer as they are moved, which takes room. A commit has
 * such files only if its container was killed and has become an image, and fails until there is room.
 * @returns false if its files must be moved one by one, into a folder that is there
 */
function moveWhole(source: string, target: string): boolean {
  try {
    if (renameFolder(source, target)) return true;
  } catch (error) {
    if (!isMismatch(error) || typeAt(target) === undefined) throw error;
  }
  if (typeAt(target) === 'other') {
    requireNoLink(target);
    unlinkSync(target);
    return moveWhole(source, target);
  }
  if (typeAt(target) === undefined) mkdirSync(target);
  return false;
}

/**
 * Deletes a folder within a time budget; `rmSync` would call stat and read all names first.
 * @returns whether everything was deleted
 */
export function deleteFolder(folder: string, budgetMs = Number.POSITIVE_INFINITY): boolean {
  const until = performance.now() + budgetMs;
  const emptied = (path: string): boolean => {
    for (const entry of draining(path)) {
      const child = join(path, entry.name);
      if (!entry.isDirectory()) unlinkSync(child);
      else if (!emptied(child)) return false;
      if (performance.now() > until) return false;
    }
    return true;
  };
  return emptied(folder);
}

/** Deletes a file, if it exists, and the parent folders that become empty, up to the root. */
export function deleteFile(root: string, file: string): void {
  try {
    unlinkSync(join(root, file));
  } catch (error) {
    const code = codeOf(error);
    if (isMismatch(error) && typeAt(join(root, file)) === 'folder')
      rmSync(join(root, file), { recursive: true, force: true });
    else if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch (error) {
      const code = codeOf(error);
      if (isNotEmpty(error)) return;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    }
  }
}
