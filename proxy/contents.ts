import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';

import type { Validators } from './conditions.js';
import { CACHE_MAX_BYTES, CACHED_FILE_MAX_BYTES } from './config.js';
import { lookAt, openFile, readAll, readChunks, type OpenFile } from './files.js';
import type { Clock } from './limiter/memory-store.js';

/** One state of a file: what an answer says about it, and its bytes unless they are too many to hold. */
export interface Content extends Validators {
  /** Last-Modified, as an HTTP-date (RFC 9110 §5.6.7). */
  readonly lastModified: string;
  readonly size: number;
  readonly identity: string;
  /** Undefined if the file is larger than CACHED_FILE_MAX_BYTES; `open` reads those. */
  readonly bytes: Buffer | undefined;
}

interface Entry {
  readonly content: Content;
  readonly cost: number;
  /** The file was this one at some moment of this generation. */
  generation: number;
}

/**
 * What an entry takes beside its bytes: key, strings and objects (measured: 670 B of heap), and the
 * allocator's share.
 */
const ENTRY_COST_BYTES = 1_024;

/**
 * Room is made for a sixteenth at a time, since finding the oldest key of a Map anew costs as much as
 * removing hundreds.
 */
const EVICTION_SHARE = 16;

/**
 * The files of the tree as read lately, least recently used first to go, bounded in bytes.
 *
 * A file may change only together with the snapshot, so an entry serves its generation without asking the
 * file system. In the next generation one stat says whether it still is the file on disk. The generation is
 * that of the request, taken before the file was opened: a file replaced while it was read is looked at again
 * once its snapshot is noticed.
 */
export class Contents {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #maximumBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #reading = new Map<string, { generation: number; content: Promise<Content | undefined> }>();
  #bytes = 0;

  /**
   * @param root the tree's folder
   * @param clock milliseconds since 1970; Last-Modified is never later
   */
  constructor(root: string, clock: Clock, maximumBytes = CACHE_MAX_BYTES) {
    this.#root = root;
    this.#clock = clock;
    this.#maximumBytes = maximumBytes;
  }

  /** Bytes held, what entries cost beside their content included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is known to be current in this generation; undefined means `read` has to ask the file system. */
  fresh(file: string, generation: number): Content | undefined {
    const entry = this.#entries.get(file);
    if (entry === undefined || entry.generation < generation) return undefined;
    this.#entries.delete(file);
    this.#entries.set(file, entry);
    return entry.content;
  }

  /**
   * The file's content, undefined if there is no such file. Requests that come while it is being read share
   * the reading.
   *
   * @param file relative to the root, from a route, never from a client
   * @throws what the file system says of a file that can't be read
   */
  read(file: string, generation: number): Promise<Content | undefined> {
    const reading = this.#reading.get(file);
    if (reading !== undefined && reading.generation >= generation) return reading.content;
    const content = this.#load(file, generation).finally(() => {
      if (this.#reading.get(file)?.content === content) this.#reading.delete(file);
    });
    this.#reading.set(file, { generation, content });
    return content;
  }

  /**
   * Opens the file whose content this is, for one too large to hold. Undefined if it has been replaced since;
   * then it is forgotten, and `read` finds the new one. The caller closes the handle.
   */
  async open(file: string, content: Content): Promise<OpenFile | undefined> {
    const opened = await openFile(join(this.#root, file));
    if (opened?.state.identity === content.identity) return opened;
    await opened?.handle.close();
    this.#forget(file);
    return undefined;
  }

  async #load(file: string, generation: number): Promise<Content | undefined> {
    const path = join(this.#root, file);
    const known = this.#entries.get(file);
    if (known !== undefined) {
      const state = await lookAt(path);
      if (state?.identity === known.content.identity) {
        known.generation = Math.max(known.generation, generation);
        return known.content;
      }
    }
    const opened = await openFile(path);
    if (opened === undefined) {
      this.#forget(file);
      return undefined;
    }
    try {
      const content = await this.#digest(opened);
      this.#keep(file, { content, generation, cost: ENTRY_COST_BYTES + (content.bytes?.length ?? 0) });
      return content;
    } finally {
      await opened.handle.close();
    }
  }

  async #digest(opened: OpenFile): Promise<Content> {
    const { identity, size, modifiedMs } = opened.state;
    const bytes = size <= CACHED_FILE_MAX_BYTES ? await readAll(opened) : undefined;
    const digest = bytes === undefined ? await hashChunks(opened) : hash('sha256', bytes);
    // A Last-Modified later than Date may not be sent (RFC 9110 §8.8.2.1).
    const modifiedSeconds = Math.floor(Math.min(modifiedMs, this.#clock()) / 1000);
    return {
      etag: `"${digest.slice(0, ETAG_DIGITS)}"`,
      modifiedSeconds,
      lastModified: new Date(modifiedSeconds * 1000).toUTCString(),
      size,
      identity,
      bytes,
    };
  }

  #keep(file: string, entry: Entry): void {
    const present = this.#entries.get(file);
    // A reading that began in an older generation must not outlast one that began later.
    if (present !== undefined && present.generation > entry.generation) return;
    this.#forget(file);
    if (this.#bytes + entry.cost > this.#maximumBytes) this.#makeRoom(entry.cost);
    this.#entries.set(file, entry);
    this.#bytes += entry.cost;
  }

  #makeRoom(cost: number): void {
    const target = this.#maximumBytes - Math.max(cost, Math.floor(this.#maximumBytes / EVICTION_SHARE));
    for (const file of this.#entries.keys()) {
      if (this.#bytes <= target) return;
      this.#forget(file);
    }
  }

  #forget(file: string): void {
    const entry = this.#entries.get(file);
    if (entry === undefined) return;
    this.#entries.delete(file);
    this.#bytes -= entry.cost;
  }
}

/** Half of SHA-256: 128 bits tell any number of files apart, and the header stays short. */
const ETAG_DIGITS = 32;

async function hashChunks(opened: OpenFile): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of readChunks(opened)) digest.update(chunk);
  return digest.digest('hex');
}
