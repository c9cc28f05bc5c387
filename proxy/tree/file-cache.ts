import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { join } from 'node:path';

import { SIBLINGS, type Coding } from '../http/negotiation.js';
import type { Validators } from '../http/preconditions.js';
import type { Clock } from '../log.js';
import { withTimeout } from '../timeout.js';
import type { Disk } from './disk.js';
import { openFile, readChunks, shorten, type FileRead, type OpenFile } from './files.js';

/** File contents kept in memory, what an entry costs besides its bytes included. 64 MiB. */
const CACHE_MAX_BYTES = 64 * 1024 * 1024;
/** A larger file is read from disk each time; only what headers say of it is kept. 1 MiB. */
const CACHED_FILE_MAX_BYTES = 1024 * 1024;
/** What an entry takes besides its bytes: key, strings, objects, and the allocator's share. */
const ENTRY_COST_BYTES = 1_024;

/**
 * A file changes only together with the snapshot, so an entry is current for its epoch, and one stat in the next
 * epoch says whether it still is. Where a tree is copied while it is served, a file can arrive after its
 * snapshot.json: so an entry of this epoch is looked at again after 30 s.
 */
const REVALIDATE_MS = 30_000;
/** A disk that takes longer to confirm an entry of this epoch, or fails to, does not keep it from being served. 250 ms. */
const REVALIDATE_BUDGET_MS = 250;

/** One state of a file: what a response says about it, and its bytes unless they are too many to hold. */
export interface CachedFile extends Validators {
  /** Relative to the root. */
  readonly path: string;
  /** How the bytes are compressed. */
  readonly coding: Coding | undefined;
  /** Last-Modified, as an HTTP-date (RFC 9110 §5.6.7). */
  readonly lastModified: string;
  readonly size: number;
  /** See {@link FileRead}. */
  readonly identity: string;
  /** Undefined if the file is larger than CACHED_FILE_MAX_BYTES; `open` reads those. */
  readonly bytes: Buffer | undefined;
}

/** The epoch that a request was taken under, and the root of the tree in it. */
export interface Epoch {
  readonly epoch: number;
  readonly root: string;
}

interface Entry {
  /** Undefined for a compressed form that can't be had. */
  readonly file: CachedFile | undefined;
  /** Of a compressed form, the ETag of the file that it is a form of. */
  readonly of: string | undefined;
  /** The file was in this state at some moment of this epoch. */
  readonly epoch: number;
  readonly checkedAtMs: number;
}

/** The files of the tree as they were read lately: the least recently used go first, bounded in bytes. */
export class FileCache {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;
  /** Reads under way, which requests that come meanwhile share. */
  readonly #reads = new Map<string, Promise<CachedFile | undefined>>();

  constructor(disk: Disk, clock: Clock, maxBytes = CACHE_MAX_BYTES) {
    this.#disk = disk;
    this.#clock = clock;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ file }) => ENTRY_COST_BYTES + (file?.bytes?.length ?? 0),
    });
  }

  /** Bytes held, what entries cost besides their bytes included. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /** The file, if memory has it and it is known to be current; undefined means that `read` has to look. */
  get(path: string, epoch: Epoch): CachedFile | undefined {
    return this.#current(path, epoch)?.file;
  }

  /**
   * The file; undefined if there is none.
   *
   * @param path relative to the root, from a route, never from a client
   * @throws what the file system says of a file that can't be read
   */
  read(path: string, epoch: Epoch): Promise<CachedFile | undefined> {
    return this.#share(path, epoch, undefined, () => this.#load(path, epoch));
  }

  /** The same as `get` for a compressed form of a file. What can't be had compressed is the file itself. */
  getSibling(of: CachedFile, coding: Coding, epoch: Epoch): CachedFile | undefined {
    const entry = this.#current(siblingOf(of, coding), epoch);
    return entry?.of === of.etag ? (entry.file ?? of) : undefined;
  }

  /**
   * A compressed form of a file, or the file itself where there is none that decompresses to exactly its content.
   * Files are renamed into place one by one, so a sibling may be of another version, and after a crash may stay so:
   * it is decompressed once and compared, or an ETag could name what is not in the body.
   */
  async readSibling(of: CachedFile, coding: Coding, epoch: Epoch): Promise<CachedFile> {
    const path = siblingOf(of, coding);
    try {
      return (
        (await this.#share(path, epoch, of.etag, () => this.#loadSibling(path, of, coding, epoch))) ?? of
      );
    } catch {
      // Out of file descriptors now may be fine with the next request, so nothing is remembered.
      return of;
    }
  }

  /**
   * Opens a file that is too large to hold. Undefined if it has been replaced since; then it is forgotten, and `read`
   * finds the new one. The caller closes the handle.
   */
  async open(file: CachedFile, { root }: Epoch): Promise<OpenFile | undefined> {
    const opened = await openFile(join(root, file.path));
    if (opened?.identity === file.identity) return opened;
    await opened?.handle.close();
    this.#entries.delete(file.path);
    return undefined;
  }

  #current(path: string, { epoch }: Epoch): Entry | undefined {
    const entry = this.#entries.get(path);
    const isCurrent =
      entry !== undefined && entry.epoch >= epoch && this.#clock() - entry.checkedAtMs < REVALIDATE_MS;
    return isCurrent ? entry : undefined;
  }

  /**
   * Has requests for the same file share one read. One that only confirms what is known in this epoch is not waited
   * for beyond its budget.
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
      this.#forget(path, epoch);
      return undefined;
    }
    const file = read.identity === known?.identity ? known : await this.#describe(path, read, epoch);
    if (file !== undefined) this.#remember(path, file, undefined, epoch);
    return file;
  }

  /** Undefined if the file was replaced while its digest was computed. */
  async #describe(path: string, read: FileRead, { root }: Epoch): Promise<CachedFile | undefined> {
    if (read.digest !== undefined) return cachedFile(path, read, read.digest);
    const opened = await openFile(join(root, path));
    if (opened === undefined) return undefined;
    try {
      const digest = createHash('sha256');
      for await (const chunk of readChunks(opened)) digest.update(chunk);
      return cachedFile(path, { ...read, ...opened }, shorten(digest.digest('hex')));
    } finally {
      await opened.handle.close();
    }
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
      // A form is smaller than its file.
      maxBytes: of.size,
      decode: { coding, maxBytes: of.size },
    });
    const isSame = read !== undefined && read.identity === known?.identity;
    const isForm = read?.digest !== undefined && of.etag === `"${read.digest}"`;
    const file = isSame ? known : isForm ? formOf(of, path, coding, read) : undefined;
    this.#remember(path, file, of.etag, epoch);
    return file;
  }

  #remember(path: string, file: CachedFile | undefined, of: string | undefined, { epoch }: Epoch): void {
    if (this.#isOutdated(path, epoch)) return;
    this.#entries.set(path, { file, of, epoch, checkedAtMs: this.#clock() });
  }

  #forget(path: string, { epoch }: Epoch): void {
    if (!this.#isOutdated(path, epoch)) this.#entries.delete(path);
  }

  /** What a read that began in an older epoch found must not replace what one that began later did. */
  #isOutdated(path: string, epoch: number): boolean {
    const present = this.#entries.get(path);
    return present !== undefined && present.epoch > epoch;
  }
}

/** What a response says of a file. @param digest see {@link FileRead} */
export function cachedFile(path: string, read: FileRead, digest: string): CachedFile {
  const { identity, size, modifiedMs, bytes } = read;
  // A Last-Modified later than Date may not be sent (RFC 9110 §8.8.2.1).
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

/** Last-Modified is that of the file: a form is the same state of the same resource. */
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
