/** Moves and deletes files of a tree, and folders that they leave empty. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  renameSync,
  rmSync,
  rmdirSync,
  unlinkSync,
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
 * Moves files from one folder to the same paths in another, and yields after each. Idempotent: what is not there was
 * moved before.
 */
export function* moveFiles(
  from: string,
  to: string,
  files: Iterable<string>,
): Generator<void, void, undefined> {
  let [folder, isLeft, ready] = ['.', true, '.'];
  // Folders of the root that were moved as a whole: nothing below them is left to ask for.
  const whole = new Set<string>();
  for (const file of files) {
    if (dirname(file) !== folder) {
      folder = dirname(file);
      isLeft = !whole.has(folder.replace(/\/.*/, '')) && existsSync(join(from, folder));
      if (isLeft) {
        const moved = makeWay(from, to, folder, ready);
        ready = folder;
        isLeft = moved === undefined;
        if (moved !== undefined && !moved.includes('/')) whole.add(moved);
      }
    }
    if (isLeft) moveFile(join(from, file), join(to, file));
    yield;
  }
}

/**
 * Makes a folder for files that are moved: the one that they are in is moved as a whole, which takes no room, where
 * there is none. A file in its place, or in that of a folder above, is deleted.
 * HAZARD: an overlay copies the files of a lower layer as they are moved, which takes room. A commit has
 * such files only if its container was killed and has become an image, and fails until there is room.
 * @param ready a folder for which that was done
 * @returns the folder that was moved as a whole, if one was
 * @throws Failure environment: a link is in its place
 */
function makeWay(from: string, to: string, folder: string, ready: string): string | undefined {
  let path = '';
  for (const name of folder.split('/')) {
    path += `/${name}`;
    if (`/${ready}/`.startsWith(`${path}/`)) continue;
    const found = typeAt(to + path);
    if (found === 'folder') continue;
    if (found === 'other') {
      requireNoLink(to + path);
      unlinkSync(to + path);
    }
    if (ifExists(() => renameFolder(from + path, to + path)) === true) return path.slice(1);
    mkdirSync(to + path);
  }
  return undefined;
}

/** Moves what is at a path, if anything is, to a place of its own, which something may be at. */
export function moveWhole(from: string, to: string): void {
  if (!existsSync(from)) return;
  rmSync(to, { recursive: true, force: true });
  if (!renameFolder(from, to)) cpSync(from, to, { recursive: true });
}

/** Renames a file, if there is one, into a folder that is there. A folder in its place is deleted. */
export function moveFile(source: string, target: string): void {
  try {
    renameSync(source, target);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !existsSync(source)) return;
    if (codeOf(error) === 'EXDEV') return moveAcross(source, target);
    if (!isMismatch(error) || typeAt(target) !== 'folder') throw error;
    rmSync(target, { recursive: true, force: true });
    renameSync(source, target);
  }
}

/** Moves a file to a folder that another file system is mounted on. Until the rename, the old one is there. */
function moveAcross(source: string, target: string): void {
  const partial = `${target}.partial`;
  cpSync(source, partial, { preserveTimestamps: true });
  moveFile(partial, target);
  unlinkSync(source);
}

/**
 * Deletes a folder; `rmSync` alone would read all names before it deletes anything.
 * @param until when to stop, by `performance.now()`
 */
export function deleteFolder(folder: string, until = Number.POSITIVE_INFINITY): void {
  // Most are empty, as after a commit, and need not be read. Any other reason for an error shows below.
  try {
    rmdirSync(folder);
    return;
  } catch {}
  const entries = ifExists(() => opendirSync(folder));
  try {
    for (let entry = entries?.readSync(); entry; entry = entries?.readSync()) {
      if (performance.now() > until) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) deleteFolder(path, until);
      else unlinkSync(path);
    }
  } finally {
    entries?.closeSync();
  }
  // Some file systems skip entries of a folder that changes while it is read.
  if (performance.now() <= until) rmSync(folder, { recursive: true, force: true });
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
