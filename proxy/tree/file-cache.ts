import { LRUCache } from 'lru-cache';
import { close } from 'node:fs';

import type { Clock } from '../log.js';
import { withTimeout } from '../timeout.js';
import type { Disk } from './disk.js';
import { SIBLINGS, type Coding, type FileRead } from './files.js';
import { LargeDigests, publishedDigest, type PublishedDigests } from './digests.js';

/** Memory for cached files, including the overhead of entries. 64 MiB. */
const CACHE_MAX_BYTES = 64 * 1024 * 1024;
/** Larger files are read from disk each time, and only their headers are cached. 1 MiB. */
const CACHED_FILE_MAX_BYTES = 1024 * 1024;
/** Overhead of an entry: key, strings, objects, and the allocator's share. */
const ENTRY_COST_BYTES = 1_024;

/**
 * Files change only with the snapshot, so an entry is current for its epoch, and one stat in the
 * next epoch revalidates it. If a tree is copied while it is served, a file may arrive after its
 * snapshot.json, so entries are also revalidated after 30 s.
 */
const REVALIDATE_MS = 30_000;
/**
 * Files of the class `checkpoint` are revalidated each second, since the checkpoint of a log always
 * comes after the snapshot.json that it is of, and clients expect it within 5 s.
 */
export const CHECKPOINT_REVALIDATE_MS = 1_000;
/** A request waits this long for the digest of a large file; the next one finds it. 5 s. */
const DIGEST_BUDGET_MS = 5_000;
/** An entry of this epoch is served if its revalidation fails or takes longer. 250 ms. */
const REVALIDATE_BUDGET_MS = 250;

/** A file in one state: the data for headers, and its bytes unless too many for memory. */
export interface CachedFile {
  /** Relative to the root. */
  readonly path: string;
  /** The compression of the bytes. */
  readonly coding: Coding | undefined;
  /** Strong entity tag, including its quotes. */
  readonly etag: string;
  /** Whole seconds since 1970. */
  readonly modifiedSeconds: number;
  /** Last-Modified, as an HTTP-date (RFC 9110 §5.6.7). */
  readonly lastModified: string;
  readonly size: number;
  /** See {@link FileRead}. */
  readonly identity: string;
  /** Undefined if the file is larger than CACHED_FILE_MAX_BYTES; `open` reads those. */
  readonly bytes: Buffer | undefined;
}

/** The epoch in which a request was accepted, and the tree's root in it. */
export interface Epoch {
  readonly epoch: number;
  readonly root: string;
  readonly digests: PublishedDigests;
}

interface Entry {
  /** Undefined for a compressed form that is not available. */
  readonly file: CachedFile | undefined;
  /** For a compressed form, the ETag of the uncompressed file. */
  readonly of: string | undefined;
  /** The file was in this state at some time in this epoch. */
  readonly epoch: number;
  readonly checkedAtMs: number;
}

/** An LRU cache of the tree's files, bounded in bytes. */
export class FileCache {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;
  /** Reads in progress, shared by concurrent requests. */
  readonly #reads = new Map<string, Promise<CachedFile | undefined>>();
  readonly #large: LargeDigests;

  constructor(disk: Disk, clock: Clock, maxBytes = CACHE_MAX_BYTES) {
    this.#disk = disk;
    this.#large = new LargeDigests(disk);
    this.#clock = clock;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ file }) => ENTRY_COST_BYTES + (file?.bytes?.length ?? 0),
    });
  }

  /** Bytes held, including the overhead of entries. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /**
   * The file if it is cached and current; otherwise undefined, and `read` must be called.
   *
   * @param revalidateMs how long it is current within its epoch
   */
  get(path: string, epoch: Epoch, revalidateMs = REVALIDATE_MS): CachedFile | undefined {
    return this.#current(path, epoch, revalidateMs)?.file;
  }

  /**
   * The file; undefined if it does not exist.
   *
   * @param path relative to the root, from a route, never from a client
   * @throws errors of the file system; TimeoutError if the disk takes too long
   */
  read(path: string, epoch: Epoch): Promise<CachedFile | undefined> {
    return this.#share(path, epoch, undefined, () => this.#load(path, epoch));
  }

  /** Like `get`, for a compressed form. If there is no such form, returns the file itself. */
  getSibling(of: CachedFile, coding: Coding, epoch: Epoch): CachedFile | undefined {
    const entry = this.#current(siblingOf(of, coding), epoch);
    return entry?.of === of.etag ? (entry.file ?? of) : undefined;
  }

  /**
   * A compressed form of a file, or the file itself if no form decompresses to exactly its content.
   * Files are renamed one by one, so a sibling may be of another version, even permanently after a
   * crash. So it is decompressed once and compared; otherwise an ETag could name different content.
   */
  async readSibling(of: CachedFile, coding: Coding, epoch: Epoch): Promise<CachedFile> {
    const path = siblingOf(of, coding);
    try {
      return (
        (await this.#share(path, epoch, of.etag, () => this.#loadSibling(path, of, coding, epoch))) ?? of
      );
    } catch {
      // Not cached: a lack of file descriptors, for example, may be temporary.
      return of;
    }
  }

  /**
   * Opens a file that is too large for memory. Undefined if it was replaced; then `read` finds the
   * new one.
   *
   * @returns the descriptor, which the caller closes
   * @throws as `read`
   */
  async open({ path, identity }: CachedFile, { root }: Epoch): Promise<number | undefined> {
    const opened = await this.#disk.read({ root, path, maxBytes: 0, keepOpen: true });
    if (opened?.identity === identity) return opened.descriptor;
    if (opened?.descriptor !== undefined) close(opened.descriptor);
    this.#entries.delete(path);
    return undefined;
  }

  #current(path: string, { epoch }: Epoch, revalidateMs = REVALIDATE_MS): Entry | undefined {
    const entry = this.#entries.get(path);
    const isCurrent =
      entry !== undefined && entry.epoch >= epoch && this.#clock() - entry.checkedAtMs < revalidateMs;
    return isCurrent ? entry : undefined;
  }

  /**
   * Shares one read among concurrent requests for a file. A read that only revalidates an entry of
   * this epoch is not awaited beyond its budget.
   */
  #share(
    path: string,
    { epoch }: Epoch,
    of: string | undefined,
    load: () => Promise<CachedFile | undefined>,
  ): Promise<CachedFile | undefined> {
    const key = `${epoch} ${path} ${of ?? ''}`;
    const known = this.#entries.get(path);
    let read = this.#reads.get(key);
    if (read === undefined) {
      read = load().finally(() => this.#reads.delete(key));
      this.#reads.set(key, read);
    }
    const file = known?.of === of ? known?.file : undefined;
    if (known === undefined || file === undefined || known.epoch < epoch) return read;
    return withTimeout(REVALIDATE_BUDGET_MS, read).catch(() => file);
  }

  async #load(path: string, epoch: Epoch): Promise<CachedFile | undefined> {
    const known = this.#entries.get(path)?.file;
    const read = await this.#disk.read({
      root: epoch.root,
      path,
      known: known?.identity,
      maxBytes: CACHED_FILE_MAX_BYTES,
    });
    if (read === undefined) {
      this.#update(path, epoch, undefined);
      return undefined;
    }
    const file = read.identity === known?.identity ? known : await this.#describe(path, read, epoch);
    if (file !== undefined) this.#update(path, epoch, { file, of: undefined });
    return file;
  }

  /** Undefined if the file was removed before its digest was computed. */
  async #describe(path: string, read: FileRead, epoch: Epoch): Promise<CachedFile | undefined> {
    const digest = read.digest ?? publishedDigest(path, read, epoch.digests);
    if (digest !== undefined) return cachedFile(path, read, digest);
    const digested = await withTimeout(
      DIGEST_BUDGET_MS,
      this.#large.of({ root: epoch.root, path }, read.identity),
    );
    return digested && cachedFile(path, { ...read, ...digested.state }, digested.digest);
  }

  async #loadSibling(
    path: string,
    of: CachedFile,
    coding: Coding,
    epoch: Epoch,
  ): Promise<CachedFile | undefined> {
    const entry = this.#entries.get(path);
    const known = entry?.of === of.etag ? entry.file : undefined;
    const read = await this.#disk.read({
      root: epoch.root,
      path,
      known: known?.identity,
      // A compressed form is smaller than its file.
      maxBytes: of.size,
      decode: { coding, maxBytes: of.size },
    });
    const isSame = read !== undefined && read.identity === known?.identity;
    const isForm = read?.digest !== undefined && of.etag === `"${read.digest}"`;
    const file = isSame ? known : isForm ? formOf(of, path, coding, read) : undefined;
    this.#update(path, epoch, { file, of: of.etag });
    return file;
  }

  /**
   * Remembers an entry, or forgets a file that is gone. The result of a read from an older epoch must
   * not replace a newer one.
   */
  #update(path: string, { epoch }: Epoch, entry: Pick<Entry, 'file' | 'of'> | undefined): void {
    const present = this.#entries.get(path);
    if (present !== undefined && present.epoch > epoch) return;
    if (entry === undefined) this.#entries.delete(path);
    else this.#entries.set(path, { ...entry, epoch, checkedAtMs: this.#clock() });
  }
}

/** The data for a file's headers. @param digest see {@link FileRead} */
export function cachedFile(path: string, read: FileRead, digest: string): CachedFile {
  const { identity, size, modifiedMs, bytes } = read;
  // Last-Modified must not be later than Date (RFC 9110 §8.8.2.1).
  const modifiedSeconds = Math.floor(Math.min(modifiedMs, Date.now()) / 1000);
  return {
    path,
    coding: undefined,
    etag: `"${digest}"`,
    modifiedSeconds,
    lastModified: new Date(modifiedSeconds * 1000).toUTCString(),
    size,
    identity,
    bytes: bytes && bufferOf(bytes),
  };
}

/** Last-Modified is the file's: a compressed form is the same state of the same resource. */
function formOf(
  of: CachedFile,
  path: string,
  coding: Coding,
  { identity, size, bytes }: FileRead,
): CachedFile {
  const etag = `${of.etag.slice(0, -1)}${SIBLINGS[coding].tag}"`;
  const isSmall = size <= CACHED_FILE_MAX_BYTES;
  return { ...of, path, coding, etag, identity, size, bytes: bytes && isSmall ? bufferOf(bytes) : undefined };
}

function siblingOf({ path }: CachedFile, coding: Coding): string {
  return path + SIBLINGS[coding].suffix;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
