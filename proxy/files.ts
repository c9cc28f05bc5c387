import { constants, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';

import type { ByteRange } from './ranges.js';

/**
 * Reading published files. The generator replaces a file by renaming another one into its place, so whoever
 * has opened one reads that one to its end, whatever is published meanwhile.
 */

/** A file as the file system sees it. */
export interface FileState {
  /** Changes whenever the file is another one. */
  readonly identity: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** An open file; whoever gets it closes it. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly state: FileState;
}

/**
 * A link in place of a file could lead out of the tree, so it is not followed; a pipe would wait for a
 * writer, so nothing is waited for. (Both are undefined on Windows and count as 0 there.)
 */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What open and stat say of a path that names no file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** What a reader that takes nothing costs in memory, once or twice. 64 KiB. */
const CHUNK_BYTES = 64 * 1024;

/** The code of a failed system call or of one of Node's own errors ("ENOENT"), undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a system call failed, as opposed to a library or to us. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Opens a file; undefined if there is no regular file at this path. Other failures (EMFILE, EACCES, EIO …)
 * throw.
 */
export async function openFile(path: string): Promise<OpenFile | undefined> {
  const handle = await unlessAbsent(open(path, OPEN_FLAGS));
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, state: stateOf(stats) };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** The state of the file at this path without opening it; undefined if there is none. */
export async function lookAt(path: string): Promise<FileState | undefined> {
  const stats = await unlessAbsent(stat(path));
  return stats && stateOf(stats);
}

/**
 * All bytes of an open file. Throws if there are not as many as its size said: it was written to in place.
 */
export async function readAll({ handle, state: { size } }: OpenFile): Promise<Buffer> {
  // One byte more than there should be, so that a single read also finds the end. Not from Buffer's pool: a
  // cached slice would keep all of it.
  const buffer = Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length >= size) break;
  }
  if (length !== size) throw new Error(`read ${length} bytes of a file of ${size}`);
  return buffer.subarray(0, size);
}

/** The same piece by piece, for files too large to hold, or a part of it. The handle stays open. */
export async function* readChunks(
  { handle, state: { size } }: OpenFile,
  { first, last }: ByteRange = { first: 0, last: size - 1 },
): AsyncGenerator<Buffer> {
  for (let position = first; position <= last;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last + 1 - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error(`read ${position} bytes of a file of ${size}`);
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export function stateOf({ ino, size, mtimeMs, ctimeMs }: Stats): FileState {
  return { identity: `${ino}-${size}-${mtimeMs}-${ctimeMs}`, size, modifiedMs: mtimeMs };
}

async function unlessAbsent<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
