/** File system primitives: read, write, replace, link, and read in chunks. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Failure, codeOf } from './errors.js';
import { parseJson } from './portable.js';

/** What an action on a path returns; undefined if nothing is there. */
export function ifExists<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The text of a file; undefined if it does not exist. */
export const readText = (file: string): string | undefined => ifExists(() => readFileSync(file, 'utf8'));

/** The value in a JSON file; undefined if the file does not exist, or is not JSON. */
export const readJson = (file: string): unknown => parseJson(readText(file) ?? '');

/** The errors of systems that can't flush a folder, or a file that is open only for reading. */
const CANT_FLUSH = new Set(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'EPERM']);

/**
 * Waits until a file or folder is on the disk. Where a system can't flush folders (Windows, some network
 * file systems), that is left to the system.
 */
export function flushOne(path: string): void {
  try {
    flushOpened(path, 'r');
  } catch (error) {
    if (!CANT_FLUSH.has(codeOf(error) ?? '')) throw error;
    if (!statSync(path).isDirectory()) flushOpened(path, 'r+');
  }
}

function flushOpened(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Replaces a file atomically: whoever opens it reads all of the old content or all of the new. After a
 * power failure, it may be either, unless `replaceFileDurably` has returned.
 * @param content or a function that writes it to a file
 * @param partial where the content is written first, on the same file system
 */
export function replaceFile(
  file: string,
  content: string | Uint8Array | ((partial: string) => void),
  partial = `${file}.partial`,
): void {
  // Something left at that path may be a link to another file, or a pipe that nobody reads.
  if (lstatSync(partial, { throwIfNoEntry: false }) !== undefined) unlinkSync(partial);
  closeSync(openSync(partial, 'wx'));
  if (typeof content === 'function') {
    content(partial);
    flushOne(partial);
  } else writeFileSync(partial, content, { flush: true });
  renameSync(partial, file);
}

/** Replaces a file like `replaceFile`, and durably: afterwards, no power failure brings old content back. */
export function replaceFileDurably(file: string, write: (partial: string) => void): void {
  replaceFile(file, write);
  // The file's name is in its folder, and that of the folder, which may be new, in the one above.
  flushOne(dirname(file));
  flushOne(dirname(dirname(file)));
}

/**
 * Renames a folder, unless its file system can't: an overlay, which is what containers run on, renames
 * the files but no folder that a lower layer has, in whole or in part
 * (https://docs.kernel.org/filesystems/overlayfs.html#renaming-directories).
 * @returns whether it is renamed
 */
export function renameFolder(path: string, to: string): boolean {
  try {
    renameSync(path, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EXDEV') return false;
    throw error;
  }
}

/**
 * Creates a folder and its parents, each of which another thread or process may create at the same
 * moment. Node 20's recursive mkdir never returns below /proc.
 */
export function makeFolder(path: string): void {
  try {
    makeLast(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const parent = dirname(path);
    // If the parent is there by now, it was created since.
    if (parent !== path && !existsSync(parent)) makeFolder(parent);
    makeLast(path);
  }
}

function makeLast(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Whether an absolute path is a folder or lies inside it. */
export function liesIn(path: string, folder: string): boolean {
  const route = relative(folder, path);
  return route !== '..' && !route.startsWith(`..${sep}`);
}

/** The absolute path without symbolic links; its last parts need not exist. */
export function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    // What else is wrong with the path is reported when it is opened.
    const parent = dirname(full);
    return parent === full ? full : join(realPath(parent), basename(full));
  }
}

/** @throws Failure environment: there is a symbolic link at a path in a tree or its state */
export function requireNoLink(path: string): void {
  if (ifExists(() => lstatSync(path))?.isSymbolicLink() !== true) return;
  throw Failure.environment(
    `"${path}" is a symbolic link, and nothing in a tree or its state is read or written through one: ` +
      'put what it leads to in its place, or remove it and run "verify --repair"',
  );
}

/** The names in a folder, in order; none if it does not exist. */
export const namesIn = (path: string): readonly string[] =>
  (ifExists(() => readdirSync(path)) ?? []).toSorted();

/** Writes lines to a file in batches. The file is created with the first line. */
export class LineWriter {
  readonly #file: string;
  #descriptor: number | undefined;
  #lines: string[] = [];
  #length = 0;

  constructor(file: string) {
    this.#file = file;
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#lines.length >= LINES_AT_ONCE || this.#length >= CHARACTERS_AT_ONCE) this.#flush();
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('\n');
    const isFirst = this.#descriptor === undefined;
    this.#descriptor ??= openSync(this.#file, 'w');
    writeFileSync(this.#descriptor, isFirst ? text : `\n${text}`);
    this.#lines = [];
    this.#length = 0;
  }

  /** Ends the last line, if there is one. */
  endLines(): void {
    if (this.#descriptor !== undefined || this.#lines.length > 0) this.end();
  }

  /** Ends the last line; without lines, the file is empty. */
  end(): void {
    this.write('');
    this.#flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
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
    yield* chunksIn(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The same of an open file, from where it was last read. */
export function* chunksIn(descriptor: number): Generator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer))
    yield buffer.subarray(0, read);
}

/** Whether a file has this SHA-256, in hex. One that can't be read has not: this is how a failing disk shows. */
export function hasSum(file: string, sum: string): boolean {
  const digest = createHash('sha256');
  try {
    for (const chunk of chunksOf(file)) digest.update(chunk);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
  return digest.digest('hex') === sum;
}

/** The lines of a text file. A line of any length takes time and memory in proportion. */
export function* linesOf(file: string): Generator<string, void, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for (const chunk of chunksOf(file)) {
    const [end = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    // Nothing is copied: V8 joins the parts of a string when it is first read.
    rest += end;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  if (rest !== '') yield rest;
}
