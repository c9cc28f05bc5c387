/** File system primitives: write, link, move into place, delete along with emptied folders. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  opendirSync,
  readSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Dir, Dirent } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { codeOf } from '../errors.js';

/** Creates a folder and its parents. Node 20's recursive mkdir never returns below /proc. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeFolder(parent);
    mkdirSync(path);
  }
}

/** Whether an absolute path is a folder or lies inside it. */
export function liesIn(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** How many created folders a writer remembers. */
const FOLDERS_KNOWN = 1024;

/** Creates a folder. Usually only the last is missing, and a recursive mkdir is slower by half. */
function makeMissing(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') mkdirSync(folder, { recursive: true });
  }
}

/** Hard-links a file, or copies it if the file system does not support hard links. */
export function linkOrCopy(source: string, path: string): void {
  try {
    linkSync(source, path);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(codeOf(error) ?? '')) throw error;
    copyFileSync(source, path);
  }
}

/** Writes files below a folder, creating their folders. */
export class FileWriter {
  readonly #root: string;
  /** Folders known to exist. */
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  #place(file: string): string {
    // Called for every file: `join` and `dirname` are slower, since they parse the path.
    const path = `${this.#root}/${file}`;
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (this.#made.has(folder)) return path;
    if (this.#made.size === FOLDERS_KNOWN) this.#made.clear();
    makeMissing(folder);
    this.#made.add(folder);
    return path;
  }

  write(file: string, body: Uint8Array): void {
    writeFileSync(this.#place(file), body);
  }

  /** Hard-links an existing file. */
  link(file: string, source: string): void {
    linkOrCopy(source, this.#place(file));
  }
}

/** Writes lines to a file in batches. The file is created with the first line. */
export class LineWriter {
  readonly #file: string;
  readonly #separator: string;
  #descriptor: number | undefined;
  #lines: string[] = [];
  #length = 0;

  /** @param separator written between lines, but not after the last */
  constructor(file: string, separator = '\n') {
    this.#file = file;
    this.#separator = separator;
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#lines.length >= LINES_AT_ONCE || this.#length >= CHARACTERS_AT_ONCE) this.#flush();
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join(this.#separator);
    const isFirst = this.#descriptor === undefined;
    this.#descriptor ??= openSync(this.#file, 'w');
    writeFileSync(this.#descriptor, isFirst ? text : this.#separator + text);
    this.#lines = [];
    this.#length = 0;
  }

  finish(): void {
    this.#flush();
    this.close();
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

const LINES_AT_ONCE = 1000;
/** 1 MiB: a line may be a whole document. */
const CHARACTERS_AT_ONCE = 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

/** The bytes of a file, in chunks that are valid until the next one is read. */
export function* chunksOf(file: string): Generator<Buffer, void, undefined> {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer)) {
      yield buffer.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

export function* linesOf(file: string): Generator<string, void, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for (const chunk of chunksOf(file)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const isNotEmpty = (error: unknown): boolean => ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '');

/**
 * The entries of a folder, each of which must be moved away or deleted when it is yielded; then
 * removes the folder. Some file systems skip entries of a folder that changes while it is read, so it
 * is read until it is empty.
 */
function* draining(path: string): Generator<Dirent, void, undefined> {
  for (let folder = opened(path); folder !== undefined; folder = opened(path)) {
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

function opened(path: string): Dir | undefined {
  try {
    return opendirSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Moves everything below one folder into another, yields after each move, and removes the emptied
 * folder. A folder that does not exist there yet is moved by a single rename. Idempotent: a second
 * run moves what remains.
 */
export function* moveInto(from: string, to: string): Generator<void, void, undefined> {
  for (const entry of draining(from)) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (!entry.isDirectory()) moveFile(source, target);
    else if (!moveWhole(source, target)) yield* moveInto(source, target);
    yield;
  }
}

/**
 * Moves the files in a folder's subfolders to the paths that `placeOf` gives for their names, below
 * another folder; yields after each move, and removes the emptied folders. Idempotent: a second run
 * moves what remains.
 */
export function* moveEach(
  from: string,
  to: string,
  placeOf: (name: string) => string,
): Generator<void, void, undefined> {
  for (const { name } of draining(from)) {
    for (const entry of draining(join(from, name))) {
      moveFile(join(from, name, entry.name), join(to, placeOf(entry.name)));
      yield;
    }
  }
}

/** Renames a file. A folder in its place is deleted; a missing parent folder is created. */
function moveFile(source: string, target: string): void {
  try {
    renameSync(source, target);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EISDIR') rmSync(target, { recursive: true, force: true });
    else if (['ENOENT', 'ENOTDIR'].includes(code ?? '') && existsSync(source)) restoreFolder(dirname(target));
    else throw error;
    renameSync(source, target);
  }
}

/** Creates a folder. A file in its place, or in a parent's place, is deleted. */
function restoreFolder(folder: string): void {
  try {
    mkdirSync(folder);
    return;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') unlinkSync(folder);
    else if (code === 'ENOENT' || code === 'ENOTDIR') restoreFolder(dirname(folder));
    else throw error;
  }
  mkdirSync(folder);
}

/** rename(2) replaces a missing or empty folder, but no other. */
function moveWhole(source: string, target: string): boolean {
  try {
    renameSync(source, target);
    return true;
  } catch (error) {
    if (isNotEmpty(error)) return false;
    if (codeOf(error) !== 'ENOTDIR') throw error;
    // There is a file in the folder's place.
    unlinkSync(target);
    renameSync(source, target);
    return true;
  }
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
    if (code === 'EISDIR') rmSync(join(root, file), { recursive: true, force: true });
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
