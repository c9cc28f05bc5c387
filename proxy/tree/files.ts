import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { errorCode, type Dependencies } from '../log.js';

/**
 * Reads published files, synchronously: all calls for a record together take 9 us, and handing them
 * to Node's threads took 110. A disk that hangs makes the process hang, as it does nginx. The
 * generator replaces files by renaming, so an open file can be read to its end.
 */

/** The generator's codings; of equal weights, the first is preferred. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** The end of a compressed sibling's name, and with a hyphen for the dot, that of its entity tag. */
const SUFFIX: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

/** Larger files are streamed. 1 MiB. */
const READ_MAX_BYTES = 1024 * 1024;
/** Memory for files, including the overhead of entries: key, strings, objects. 64 MiB. */
const KEPT_MAX_BYTES = 64 * 1024 * 1024;
const ENTRY_COST_BYTES = 1_024;
/** A copy of a tree may get a file after its snapshot.json, so what is kept is read again. 30 s. */
const KEPT_MS = 30_000;
/** A file is kept from its second read among so many, so that a client that reads all evicts nothing. */
const REMEMBERED_NAMES = 16_384;
/** So many siblings with another time than their file are no commit under way, but a copy without times. */
const MANY_MISMATCHES = 10;

/** Non-blocking: a pipe in place of a file would wait for a writer. Undefined (0) on Windows. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The errors of open for a path without a file; ENAMETOOLONG is that of names too long to exist. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Half of SHA-256: 128 bits avoid collisions, and keep ETags short. */
const DIGEST_DIGITS = 32;

/** A file in one state. */
export interface PublishedFile {
  /** Relative to the root. */
  readonly path: string;
  readonly coding: Coding | undefined;
  /** Including its quotes; weak if the content is not known. */
  readonly etag: string;
  /** An HTTP-date (RFC 9110 §5.6.7). */
  readonly lastModified: string;
  readonly size: number;
  /** In whole milliseconds: a file and its siblings have the same. */
  readonly modifiedMs: number;
  /** Undefined if the file is to be streamed. */
  readonly bytes: Buffer | undefined;
  /** Changes whenever the file is replaced. */
  readonly identity: string;
}

/** The snapshot that files are read for. */
export interface Tree {
  /** The folder, with all links resolved. */
  readonly root: string;
  /** Differs between roots and snapshots: what was kept under another version is read again. */
  readonly version: string;
  /** The files whose SHA-256 snapshot.json has, by path. */
  readonly hashes: ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }>;
  /** When snapshot.json was renamed. A file that changed later is not the one that it describes. */
  readonly changedMs: number;
}

/** Files by their paths, the most popular ones from memory. */
export class Files {
  /** How often the disk was asked for a file. */
  reads = 0;
  readonly #dependencies: Dependencies;
  readonly #kept: LRUCache<string, { file: PublishedFile; version: string; readAtMs: number }>;
  /** Paths that were read once. */
  readonly #seen = new LRUCache<string, true>({ max: REMEMBERED_NAMES });
  #mismatches = 0;

  constructor(dependencies: Dependencies, maxBytes = KEPT_MAX_BYTES) {
    this.#dependencies = dependencies;
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ file }) => ENTRY_COST_BYTES + (file.bytes?.length ?? 0),
    });
  }

  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /**
   * The file; undefined if there is none.
   *
   * @param path relative to the root, from a route, never from a client
   * @throws errors of the file system; Error if the file is written in place
   */
  get(path: string, tree: Tree): PublishedFile | undefined {
    const kept = this.#kept.get(path);
    const nowMs = this.#dependencies.clock();
    if (kept?.version === tree.version && nowMs - kept.readAtMs < KEPT_MS) return kept.file;
    this.reads += 1;
    const read = readWhole(tree.root, path, READ_MAX_BYTES);
    const file = read && describeFile(path, read, tree);
    // A file that is streamed is opened again for that, and must be described as it is then: a commit
    // replaces downloads before snapshot.json.
    if (file?.bytes === undefined) this.#kept.delete(path);
    else if (kept !== undefined || this.#seen.has(path))
      this.#kept.set(path, { file, version: tree.version, readAtMs: nowMs });
    else this.#seen.set(path, true);
    return file;
  }

  /**
   * A compressed form of a file, or the file itself if it has none with the same time: the files of a
   * commit are renamed one after the other, so a sibling may belong to another version.
   *
   * @throws as `get`
   */
  getSibling(file: PublishedFile, coding: Coding, tree: Tree): PublishedFile {
    const sibling = this.get(file.path + SUFFIX[coding], tree);
    if (sibling === undefined) return file;
    if (sibling.modifiedMs !== file.modifiedMs) {
      this.#mismatches += 1;
      if (this.#mismatches === MANY_MISMATCHES)
        this.#dependencies.log(
          'compressed files are not used: the tree was copied without times, use rsync -a',
        );
      return file;
    }
    this.#mismatches = Number.NEGATIVE_INFINITY;
    // As those of the file, but for the tag: both are the same resource.
    const { etag, lastModified } = file;
    return {
      ...sibling,
      coding,
      etag: etag.replace(/"$/, `${SUFFIX[coding].replace('.', '-')}"`),
      lastModified,
    };
  }
}

/** A file's metadata, and its content unless that is too large. */
interface Read {
  readonly stats: Stats;
  readonly bytes: Buffer | undefined;
}

/**
 * The data for a file's headers. The SHA-256 of a file that was not read is that in snapshot.json, if
 * the file has that size, and is not newer: downloads are renamed before snapshot.json.
 */
export function describeFile(
  path: string,
  { stats, bytes }: Read,
  tree?: Pick<Tree, 'hashes' | 'changedMs'>,
): PublishedFile {
  const { size, ctimeMs } = stats;
  const modifiedMs = Math.trunc(stats.mtimeMs);
  const named = tree !== undefined && ctimeMs <= tree.changedMs ? tree.hashes.get(path) : undefined;
  const sha256 =
    bytes === undefined ? (named?.bytes === size ? named.sha256 : undefined) : hash('sha256', bytes);
  return {
    path,
    coding: undefined,
    etag: sha256 === undefined ? `W/"${size}-${modifiedMs}"` : `"${sha256.slice(0, DIGEST_DIGITS)}"`,
    // Not later than Date (RFC 9110 §8.8.2.1).
    lastModified: new Date(Math.min(modifiedMs, Date.now())).toUTCString(),
    size,
    modifiedMs,
    bytes,
    identity: identityOf(stats),
  };
}

/** Differs between two files that had the same name one after the other. */
export function identityOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino}-${size}-${mtimeMs}-${ctimeMs}`;
}

/**
 * Opens a file for reading. The caller closes it. Undefined if there is no regular file at this path, or
 * a link leads to it. @throws errors of the file system
 */
export function openFile(root: string, path: string): { descriptor: number; stats: Stats } | undefined {
  let descriptor: number | undefined;
  let isOpen = false;
  try {
    if (!isRealFolder(join(root, dirname(path)), root)) return undefined;
    descriptor = openSync(join(root, path), OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    isOpen = stats.isFile();
    return isOpen ? { descriptor, stats } : undefined;
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined && !isOpen) closeSync(descriptor);
  }
}

/** Folders without links in their paths, each of which is checked once a second instead of for each file. */
const realFolders = new LRUCache<string, true>({ max: 1_000, ttl: 1_000, ttlResolution: 50 });

function isRealFolder(folder: string, root: string): boolean {
  if (realFolders.has(folder)) return true;
  const isReal =
    folder === root
      ? realpathSync.native(root) === root
      : isRealFolder(dirname(folder), root) && lstatSync(folder).isDirectory();
  if (isReal) realFolders.set(folder, true);
  return isReal;
}

/**
 * Reads a file, but no bytes of one that has more than `maxBytes`; undefined as `openFile`.
 * @throws errors of the file system; Error if the file is written in place
 */
export function readWhole(root: string, path: string, maxBytes: number): Read | undefined {
  const opened = openFile(root, path);
  if (opened === undefined) return undefined;
  const { descriptor, stats } = opened;
  try {
    if (stats.size > maxBytes) return { stats, bytes: undefined };
    // One byte more, so that growth is noticed. Not from Buffer's pool: a part of it that is kept
    // would keep the whole pool in memory.
    const buffer = Buffer.allocUnsafeSlow(stats.size + 1);
    let length = 0;
    let count: number;
    do {
      count = readSync(descriptor, buffer, length, buffer.length - length, length);
      length += count;
    } while (count > 0 && length < stats.size);
    if (length !== stats.size) throw new Error(`read ${length} bytes of a file of ${stats.size}`);
    return { stats, bytes: buffer.subarray(0, length) };
  } finally {
    closeSync(descriptor);
  }
}
