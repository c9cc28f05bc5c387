import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { close, constants, fstat, open, read, realpath, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

import { errorCode } from '../log.js';
import { startTimer, type TimeoutError } from '../timeout.js';

/**
 * Reads published files, by Node's own threads. The generator replaces files by renaming, so an
 * open file can be read to its end, whatever is published meanwhile.
 */

/** The generator's codings; of equal weights, the first is preferred. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** The suffixes of the file's name, and of its entity tag. */
export const SIBLINGS: Readonly<Record<Coding, { readonly suffix: string; readonly tag: string }>> = {
  br: { suffix: '.br', tag: '-br' },
  gzip: { suffix: '.gz', tag: '-gz' },
};

/** A part of a representation, from 0, both ends inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface ReadRequest {
  /** The tree's folder. Links in its path are followed, links inside it are not. */
  readonly root: string;
  /** Relative to the root, from a route, never from a client. */
  readonly path: string;
  /** The identity of a known state: if unchanged, the file is not read. */
  readonly known?: string | undefined;
  /** A larger file is not read into memory. In bytes. */
  readonly maxBytes: number;
  /** The file is not read, but left open for {@link readChunks}. */
  readonly keepOpen?: boolean;
  /** For a compressed form: the digest is of the decompressed content, of at most `maxBytes`. */
  readonly decode?: { readonly coding: Coding; readonly maxBytes: number } | undefined;
  /** How long the read may take, and how long it may wait before. 5 s and 10 s if not given. */
  readonly timeoutMs?: number | undefined;
}

/** A file in one state. */
export interface FileRead {
  /** Changes whenever the file is replaced. */
  readonly identity: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** When it was written, renamed or linked. */
  readonly changedMs: number;
  /** The tree's folder with all links resolved. */
  readonly root: string;
  /** Undefined if the file is larger than requested, or unchanged. */
  readonly bytes: Buffer | undefined;
  /** See {@link digestOf}. Undefined without bytes, and if a form has more than a stream. */
  readonly digest: string | undefined;
  /** The open file, which the caller closes. Undefined without `keepOpen`. */
  readonly descriptor?: number;
}

/** The errors of open and stat for a path without a file. The last is that of names too long to exist. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Non-blocking: a pipe in place of a file would wait for a writer. Undefined (0) on Windows. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Half of SHA-256: 128 bits avoid collisions, and keep ETags short. */
const DIGEST_DIGITS = 32;

/** The part of an ETag that identifies the content. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes).slice(0, DIGEST_DIGITS);
}

/** Shortens a full SHA-256 in hex accordingly. */
export const shortenDigest = (sha256: string): string => sha256.slice(0, DIGEST_DIGITS);

const calls = {
  open: promisify(open),
  fstat: promisify(fstat),
  read: promisify(read),
  close: promisify(close),
  realpath: promisify(realpath.native),
};
const decoders = { br: promisify(brotliDecompress), gzip: promisify(gunzip) };

/** Folders without links in their paths. Each is looked at once a second, and not for each file. */
const realFolders = new LRUCache<string, true>({ max: 1_000, ttl: 1_000, ttlResolution: 50 });

/**
 * Reads a file.
 *
 * @returns undefined if there is no regular file at this path, or it is outside the tree
 * @throws errors of the file system; Error if the file was modified in place
 */
export async function readFile({
  root,
  path,
  known,
  maxBytes,
  keepOpen = false,
  decode,
}: ReadRequest): Promise<FileRead | undefined> {
  let descriptor: number | undefined;
  try {
    const folder = join(root, dirname(path));
    let realRoot = root;
    if (!realFolders.has(folder)) {
      const real = await calls.realpath(folder);
      if (real === folder) realFolders.set(folder, true);
      else realRoot = await calls.realpath(root);
      if (real !== join(realRoot, dirname(path))) return undefined;
    }
    descriptor = await calls.open(join(realRoot, path), OPEN_FLAGS);
    const stats = await calls.fstat(descriptor);
    if (!stats.isFile()) return undefined;
    const unread = { root: realRoot, ...describeState(stats), bytes: undefined, digest: undefined };
    if (keepOpen) {
      const opened = { ...unread, descriptor };
      descriptor = undefined;
      return opened;
    }
    if (unread.identity === known || unread.size > maxBytes) return unread;
    const bytes = await readWhole(descriptor, unread.size);
    const digest = decode === undefined ? digestOf(bytes) : await digestDecoded(bytes, decode);
    return { ...unread, bytes, digest };
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) await calls.close(descriptor);
  }
}

async function readWhole(descriptor: number, size: number): Promise<Buffer> {
  // One byte more than expected, so that growth is noticed. Not from Buffer's pool: a cached slice
  // would keep the whole pool in memory.
  const buffer = Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < Math.max(1, size); length += count) {
    ({ bytesRead: count } = await calls.read(descriptor, buffer, length, buffer.length - length, length));
  }
  if (length !== size) throw new Error(`read ${length} bytes of a file of ${size}`);
  return buffer.subarray(0, size);
}

/** Clients differ on what follows a stream, so there must be nothing. */
async function digestDecoded(
  bytes: Buffer,
  { coding, maxBytes }: { readonly coding: Coding; readonly maxBytes: number },
): Promise<string | undefined> {
  const options = { maxOutputLength: Math.max(1, maxBytes), info: true };
  try {
    const { buffer, consumed } = readResult(await decoders[coding](bytes, options));
    return consumed === bytes.length ? digestOf(buffer) : undefined;
  } catch {
    return undefined;
  }
}

/** The result of a decompression with the option `info`, which the types leave out. */
function readResult(result: object): { readonly buffer: Buffer; readonly consumed: unknown } {
  const buffer: unknown = Reflect.get(result, 'buffer');
  const engine: unknown = Reflect.get(result, 'engine');
  if (!Buffer.isBuffer(buffer) || typeof engine !== 'object' || engine === null)
    throw new TypeError('no info');
  return { buffer, consumed: Reflect.get(engine, 'bytesWritten') };
}

/** A read that takes longer fails, and a request gets a 503. 5 s. */
const READ_TIMEOUT_MS = 5_000;
/**
 * How many reads run at once, with a file descriptor each. A read that waits has not begun, and the
 * time of others is not counted against it, but it fails in the end if those hang: 10 s.
 */
const MAX_READS = 64;
const WAIT_TIMEOUT_MS = 10_000;

/** Reads files. */
export interface Disk {
  /** See {@link readFile}. @throws TimeoutError if it takes too long */
  readonly read: (request: ReadRequest) => Promise<FileRead | undefined>;
}

/** A read that took too long keeps its place until it returns, since it keeps one of Node's threads. */
export function openDisk(read = readFile): Disk {
  const run = limited(MAX_READS);
  const start = (
    request: ReadRequest,
    resolve: (file?: FileRead) => void,
    reject: (why: unknown) => void,
  ): void =>
    void run(async () => {
      let isLate = false;
      const timer = startTimer('the disk', request.timeoutMs ?? READ_TIMEOUT_MS, (error) => {
        isLate = true;
        reject(error);
      });
      try {
        const file = await read(request);
        if (isLate && file?.descriptor !== undefined) close(file.descriptor);
        resolve(file);
      } finally {
        clearTimeout(timer);
      }
    }, request.timeoutMs ?? WAIT_TIMEOUT_MS).catch(reject);
  return {
    // The reads of one turn of the event loop start together at its end, which costs less.
    read: (request) => new Promise((resolve, reject) => setImmediate(start, request, resolve, reject)),
  };
}

/** Runs so many tasks at once, the others in the order in which they came, if they still wait. */
function limited(most: number) {
  const waiting = new Set<() => void>();
  let running = 0;
  const wait = (waitMs?: number): Promise<void> =>
    new Promise((go, reject) => {
      const giveUp = (error: TimeoutError): void => {
        if (waiting.delete(start)) reject(error);
      };
      const timer = waitMs === undefined ? undefined : startTimer('the disk', waitMs, giveUp);
      const start = (): void => {
        clearTimeout(timer);
        go();
      };
      waiting.add(start);
    });
  return async <T>(task: () => Promise<T>, waitMs?: number): Promise<T> => {
    if (running === most) await wait(waitMs);
    else running += 1;
    try {
      return await task();
    } finally {
      const [next] = waiting;
      if (next === undefined) {
        running -= 1;
      } else {
        waiting.delete(next);
        next();
      }
    }
  };
}

/** The memory cost of a client that does not read, once or twice. 64 KiB. */
const CHUNK_BYTES = 64 * 1024;
/** Half of Node's threads, so that on a slow disk downloads leave time for other files. */
const MAX_CHUNK_READS = 2;

const runChunkRead = limited(MAX_CHUNK_READS);

/**
 * An open file, or a range of it, in chunks. Closes the file in the end.
 *
 * @throws Error if the file is shorter than it was
 */
export async function* readChunks(
  descriptor: number,
  { first, last }: ByteRange,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (let position = first; position <= last;) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, last + 1 - position));
      const { bytesRead } = await runChunkRead(() =>
        calls.read(descriptor, buffer, 0, buffer.length, position),
      );
      if (bytesRead === 0) throw new Error(`the file has become ${last + 1 - position} bytes shorter`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await calls.close(descriptor);
  }
}

function describeState({ ino, size, mtimeMs, ctimeMs }: Stats) {
  const identity = `${ino}-${size}-${mtimeMs}-${ctimeMs}`;
  return { identity, size, modifiedMs: mtimeMs, changedMs: ctimeMs };
}
