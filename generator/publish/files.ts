/** Files and folders of the tree: written, linked, moved into place, deleted with their emptied folders. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  opendirSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { codeOf } from '../errors.js';

/** Makes a folder and what is missing above it. Node's own recursive mkdir never returns below /proc (Node 20). */
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

/** Whether an absolute path is that of a folder, or of something in it. */
export function liesIn(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** Folders that a writer remembers to have made. */
const FOLDERS_KNOWN = 1024;

/** Makes a folder. Mostly it is missing alone, and asking for those above as well would cost half as much again. */
function makeMissing(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') mkdirSync(folder, { recursive: true });
  }
}

/** Gives a file a second name, or copies it: some file systems have no second names. */
export function linkOrCopy(source: string, path: string): void {
  try {
    linkSync(source, path);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(codeOf(error) ?? '')) throw error;
    copyFileSync(source, path);
  }
}

/** Puts files below a folder, making their folders as it goes. */
export class FileWriter {
  readonly #root: string;
  /** The last folders that are known to be there. */
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  #place(file: string): string {
    // Done for each file of the tree: `join` and `dirname` would take their paths apart first.
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

  /** Gives a file a second name here. */
  link(file: string, source: string): void {
    linkOrCopy(source, this.#place(file));
  }
}

/** Collects lines in a file, many in one write. The file is made with the first line. */
export class LineWriter {
  readonly #file: string;
  readonly #separator: string;
  #descriptor: number | undefined;
  #lines: string[] = [];

  /** @param separator stands between lines, not after the last */
  constructor(file: string, separator = '\n') {
    this.#file = file;
    this.#separator = separator;
  }

  write(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length >= LINES_AT_ONCE) this.#flush();
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join(this.#separator);
    const isFirst = this.#descriptor === undefined;
    this.#descriptor ??= openSync(this.#file, 'w');
    writeFileSync(this.#descriptor, isFirst ? text : this.#separator + text);
    this.#lines = [];
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

const CHUNK_BYTES = 64 * 1024;

/** The bytes of a file, in pieces that are valid until the next is asked for. */
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

/** The lines of a file. */
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

/**
 * Moves everything below one folder to another and yields after each move. A folder that is not there yet moves
 * whole, by one rename. Doing it again after an interruption moves the rest.
 */
export function* moveInto(from: string, to: string): Generator<void, void, undefined> {
  const folder = opendirSync(from);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      const source = join(from, entry.name);
      const target = join(to, entry.name);
      if (!entry.isDirectory()) moveFile(source, target);
      else if (!moveWhole(source, target)) yield* moveInto(source, target);
      yield;
    }
  } finally {
    folder.closeSync();
  }
}

/**
 * Moves the files in a folder's folders, each to the place below another folder that its name tells, and yields after
 * each move. Doing it again after an interruption moves the rest.
 */
export function* moveEach(
  from: string,
  to: string,
  placeOf: (name: string) => string,
): Generator<void, void, undefined> {
  for (const name of readdirSync(from)) {
    const folder = opendirSync(join(from, name));
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        moveFile(join(from, name, entry.name), join(to, placeOf(entry.name)));
        yield;
      }
    } finally {
      folder.closeSync();
    }
  }
}

/** A folder that somebody put in the place of a file gives way, and one that was deleted meanwhile is made again. */
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

/** Makes a folder. A file in its place, or in the place of one above it, gives way. */
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

/** rename(2) puts a folder in the place of a missing or empty one, and of no other. */
function moveWhole(source: string, target: string): boolean {
  try {
    renameSync(source, target);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    if (code !== 'ENOTDIR') throw error;
    // A file in the place of a folder gives way.
    unlinkSync(target);
    renameSync(source, target);
    return true;
  }
}

/**
 * Deletes a folder, as far as it gets in this time. `rmSync` asks what each file is, and reads all names beforehand.
 * @returns whether nothing is left
 */
export function deleteFolder(folder: string, budgetMs = Number.POSITIVE_INFINITY): boolean {
  const until = performance.now() + budgetMs;
  const emptied = (path: string): boolean => {
    const directory = opendirSync(path);
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const child = join(path, entry.name);
        if (!entry.isDirectory()) unlinkSync(child);
        else if (!emptied(child)) return false;
        if (performance.now() > until) return false;
      }
    } finally {
      directory.closeSync();
    }
    rmdirSync(path);
    return true;
  };
  try {
    return emptied(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

/** Deletes a file that may be gone already, and the folders that are empty without it, up to the root. */
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
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    }
  }
}
