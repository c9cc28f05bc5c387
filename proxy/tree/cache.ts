import { LRUCache } from 'lru-cache';
import { close } from 'node:fs';

import type { Clock } from '../log.js';
import { publishedDigest, type PublishedDigests } from './digests.js';
import { SIBLINGS, type Coding, type Disk, type FileRead } from './read.js';

/** Memory for cached files, including the overhead of entries. 64 MiB. */
const CACHE_MAX_BYTES = 64 * 1024 * 1024;
/** Larger files are read from disk each time, and only their headers are cached. 1 MiB. */
const CACHED_FILE_MAX_BYTES = 1024 * 1024;
/** Overhead of an entry: key, strings, objects, and the allocator's share. */
const ENTRY_COST_BYTES = 1_024;

/**
 * Files change only with the snapshot, so an entry is of one epoch, and one stat in the next epoch
 * revalidates it. If a tree is copied while it is served, a file may arrive after its snapshot.json,
 * so entries are also revalidated after 30 s.
 */
const REVALIDATE_MS = 30_000;
/** An entry of this epoch is served if its revalidation fails or takes longer, 250 ms, for a second. */
const REVALIDATE_TIMEOUT_MS = 250;
const RETRY_MS = 1_000;

/** A file in one state: the data for headers, and its bytes unless too many for memory. */
export interface CachedFile {
  /** Relative to the root. */
  readonly path: string;
  /** What its entry is called: the path, of a compressed form with the ETag of its file. */
  readonly name: string;
  /** The compression of the bytes. */
  readonly coding: Coding | undefined;
  /** See {@link FileRead}; undefined for a large file whose digest is not published. */
  readonly digest: string | undefined;
  /** Entity tag, including its quotes; weak without a digest. */
  readonly etag: string;
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
  /** Undefined if there is no such file, or no such form of one. */
  readonly file: CachedFile | undefined;
}

/** How an entry is read. */
interface Lookup {
  readonly epoch: Epoch;
  readonly name: string;
  readonly load: (known: CachedFile | undefined, timeoutMs?: number) => Promise<CachedFile | undefined>;
}

/** An LRU cache of the tree's files, bounded in bytes. Concurrent requests for a file share a read. */
export class FileCache {
  readonly #disk: Disk;
  /** By {@link entryKey}. */
  readonly #entries: LRUCache<string, Entry, Lookup>;

  constructor(disk: Disk, clock: Clock, maxBytes = CACHE_MAX_BYTES) {
    this.#disk = disk;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ file }) => ENTRY_COST_BYTES + (file?.bytes?.length ?? 0),
      ttl: REVALIDATE_MS,
      ttlResolution: 0,
      perf: { now: clock },
      noDeleteOnStaleGet: true,
      // A read whose entry is evicted or replaced meanwhile is still the answer.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, stale, { options, context: { epoch, name, load } }) => {
        if (stale !== undefined) {
          try {
            return { file: await load(stale.file, REVALIDATE_TIMEOUT_MS) };
          } catch {
            options.ttl = RETRY_MS;
            return stale;
          }
        }
        // The entry of the last epoch moves to this one, if the file is still in its state.
        const before = entryKey(name, { epoch: epoch.epoch - 1 });
        const file = await load(this.#entries.peek(before, { allowStale: true })?.file);
        this.#entries.delete(before);
        return { file };
      },
    });
  }

  /** Bytes held, including the overhead of entries. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /** The file if it is cached and current; otherwise undefined, and `read` must be called. */
  get(path: string, epoch: Epoch): CachedFile | undefined {
    return this.#entries.get(entryKey(path, epoch))?.file;
  }

  /**
   * The file; undefined if it does not exist, which is not remembered.
   *
   * @param path relative to the root, from a route, never from a client
   * @throws errors of the file system; TimeoutError if the disk takes too long
   */
  async read(path: string, epoch: Epoch): Promise<CachedFile | undefined> {
    const key = entryKey(path, epoch);
    const load: Lookup['load'] = (known, timeoutMs) => this.#load(path, epoch, known, timeoutMs);
    const entry = await this.#entries.fetch(key, { context: { epoch, name: path, load } });
    if (entry?.file === undefined) this.#entries.delete(key);
    return entry?.file;
  }

  /** Like `get`, for a compressed form. If there is no such form, returns the file itself. */
  getForm(file: CachedFile, coding: Coding, epoch: Epoch): CachedFile | undefined {
    const entry = this.#entries.get(entryKey(formName(file, coding), epoch));
    return entry && (entry.file ?? file);
  }

  /**
   * A compressed form of a file, or the file itself if no form decompresses to exactly its content.
   * Files are renamed one by one, so a sibling may be of another version, even permanently after a
   * crash. So it is decompressed once and compared; otherwise an ETag could name different content.
   *
   * HAZARD: a file that is too large for memory is there for as long as this takes, with its form.
   */
  async readForm(file: CachedFile, coding: Coding, epoch: Epoch): Promise<CachedFile> {
    const name = formName(file, coding);
    const load: Lookup['load'] = (known, timeoutMs) => this.#loadForm(file, coding, epoch, known, timeoutMs);
    try {
      const entry = await this.#entries.fetch(entryKey(name, epoch), { context: { epoch, name, load } });
      return entry?.file ?? file;
    } catch {
      // Not cached: a lack of file descriptors, for example, may be temporary.
      return file;
    }
  }

  /**
   * Opens a file that is too large for memory. Undefined if it was replaced; then `read` finds the
   * new one.
   *
   * @returns the descriptor, which the caller closes
   * @throws as `read`
   */
  async open({ path, name, identity }: CachedFile, epoch: Epoch): Promise<number | undefined> {
    const opened = await this.#disk.read({ root: epoch.root, path, maxBytes: 0, keepOpen: true });
    if (opened?.identity === identity) return opened.descriptor;
    if (opened?.descriptor !== undefined) close(opened.descriptor);
    this.#entries.delete(entryKey(name, epoch));
    return undefined;
  }

  async #load(
    path: string,
    { root, digests }: Epoch,
    known?: CachedFile,
    timeoutMs?: number,
  ): Promise<CachedFile | undefined> {
    const request = { root, path, known: known?.identity, maxBytes: CACHED_FILE_MAX_BYTES, timeoutMs };
    const read = await this.#disk.read(request);
    if (read === undefined) return undefined;
    if (read.identity === known?.identity && known.bytes !== undefined) return known;
    return describeFile(path, read, read.digest ?? publishedDigest(path, read, digests));
  }

  async #loadForm(
    file: CachedFile,
    coding: Coding,
    { root }: Epoch,
    known?: CachedFile,
    timeoutMs?: number,
  ): Promise<CachedFile | undefined> {
    // A compressed form is smaller than its file.
    const maxBytes = file.size;
    const path = file.path + SIBLINGS[coding].suffix;
    const decode = { coding, maxBytes };
    const read = await this.#disk.read({ root, path, known: known?.identity, maxBytes, decode, timeoutMs });
    if (read?.identity === known?.identity) return known;
    if (read?.digest === undefined) return undefined;
    const whole =
      file.digest === undefined ? await this.#disk.read({ root, path: file.path, maxBytes }) : file;
    if (whole?.identity !== file.identity || whole.digest !== read.digest) return undefined;
    const { identity, size } = read;
    const bytes = size <= CACHED_FILE_MAX_BYTES ? read.bytes : undefined;
    // Last-Modified is the file's: a compressed form is the same state of the same resource.
    const etag = `"${read.digest}${SIBLINGS[coding].tag}"`;
    return { ...file, path, name: formName(file, coding), coding, etag, identity, size, bytes };
  }
}

/** The data for a file's headers. @param digest see {@link FileRead} */
export function describeFile(path: string, read: FileRead, digest: string | undefined): CachedFile {
  const { identity, size, modifiedMs, bytes } = read;
  // Last-Modified must not be later than Date (RFC 9110 §8.8.2.1).
  const modifiedSeconds = Math.floor(Math.min(modifiedMs, Date.now()) / 1000);
  return {
    path,
    name: path,
    coding: undefined,
    digest,
    etag: digest === undefined ? `W/"${size}-${Math.floor(modifiedMs)}"` : `"${digest}"`,
    lastModified: new Date(modifiedSeconds * 1000).toUTCString(),
    size,
    identity,
    bytes,
  };
}

/** A read that began in an older epoch must not replace the result of a newer one. */
function entryKey(name: string, { epoch }: Pick<Epoch, 'epoch'>): string {
  return `${epoch} ${name}`;
}

/** Of this state of the file alone. */
function formName({ path, etag }: CachedFile, coding: Coding): string {
  return `${path}${SIBLINGS[coding].suffix} ${etag}`;
}
