import { join } from 'node:path';

import { SIBLINGS } from './codings.js';
import { ContentMemory, type Content, type Entry, type Variant } from './content-memory.js';
import { CACHE_MAX_BYTES, CACHED_FILE_MAX_BYTES, READ_NOW_MAX_BYTES } from './config.js';
import { digestOf, digestOfBytes, digestOfDecompressed } from './digests.js';
import { lookAtNow, readFileNow } from './files-now.js';
import { isSystemError, lookAt, openFile, readAll, type FileState, type OpenFile } from './files.js';
import type { Clock } from './limiter/memory-store.js';
import { Pace } from './pace.js';

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
  readonly #kept: ContentMemory;
  readonly #pace: Pace;
  readonly #reading = new Map<string, { generation: number; content: Promise<Content | undefined> }>();
  readonly #readingVariants = new Map<string, { generation: number; content: Promise<Content> }>();

  /**
   * @param root the tree's folder
   * @param clock milliseconds since 1970; Last-Modified is never later
   */
  constructor(root: string, clock: Clock, maximumBytes = CACHE_MAX_BYTES) {
    this.#root = root;
    this.#clock = clock;
    this.#pace = new Pace(clock);
    this.#kept = new ContentMemory(maximumBytes);
  }

  /** Bytes held, what entries cost beside their content included. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /** What is known to be current in this generation; undefined means `read` has to ask the file system. */
  fresh(file: string, generation: number): Content | undefined {
    return this.#kept.use(file, generation)?.content;
  }

  /** The same of a compressed form. What can't be had compressed is the content itself. */
  freshVariant(variant: Variant, generation: number): Content | undefined {
    const entry = this.#kept.use(keyOf(variant), generation);
    return entry?.of === variant.of.etag ? (entry.content ?? variant.of) : undefined;
  }

  /**
   * What a small file holds, at once; undefined means `read` has to find out. In between nothing else happens, so
   * it is the file of this generation or a younger one.
   */
  readNow(file: string, generation: number): Content | undefined {
    return this.#pace.attempt(() => this.#loadNow(file, generation));
  }

  /**
   * The file's content, undefined if there is no such file. Requests that come while it is being read share
   * the reading.
   *
   * @param file relative to the root, from a route, never from a client
   * @throws what the file system says of a file that can't be read
   */
  read(file: string, generation: number): Promise<Content | undefined> {
    return share(this.#reading, file, generation, () => this.#load(file, generation));
  }

  /**
   * The compressed form of a content, or that content itself where there is none that decompresses to exactly
   * that. Files are renamed into place one by one, so one beside a file may be of another version than it,
   * and after a crash stay so: the form is decompressed once and compared, or an ETag could name what is not
   * in the body.
   */
  readVariant(variant: Variant, generation: number): Promise<Content> {
    const key = `${keyOf(variant)} ${variant.of.etag}`;
    return share(this.#readingVariants, key, generation, () => this.#loadVariant(variant, generation));
  }

  /**
   * Opens the file whose content this is, for one too large to hold. Undefined if it has been replaced since;
   * then it is forgotten, and `read` finds the new one. The caller closes the handle.
   */
  async open(content: Content): Promise<OpenFile | undefined> {
    const opened = await openFile(join(this.#root, content.file));
    if (opened?.state.identity === content.identity) return opened;
    await opened?.handle.close();
    this.#kept.forget(content.key);
    return undefined;
  }

  #loadNow(file: string, generation: number): Content | undefined {
    const path = join(this.#root, file);
    const known = this.#kept.get(file);
    if (known?.content !== undefined && lookAtNow(path)?.identity === known.content.identity) {
      return renewed(known, generation);
    }
    const read = readFileNow(path, READ_NOW_MAX_BYTES);
    if (read === undefined) return undefined;
    const { state, bytes } = read;
    const content = this.#describe(file, state, bytes, digestOfBytes(bytes));
    this.#kept.keep(file, content, { of: undefined, generation });
    return content;
  }

  async #load(file: string, generation: number): Promise<Content | undefined> {
    const path = join(this.#root, file);
    const known = await this.#unchanged(file, path, generation);
    if (known !== undefined) return known;
    const opened = await openFile(path);
    if (opened === undefined) {
      this.#kept.forget(file);
      return undefined;
    }
    try {
      const content = await this.#digest(file, opened);
      this.#kept.keep(file, content, { of: undefined, generation });
      return content;
    } finally {
      await opened.handle.close();
    }
  }

  async #loadVariant(variant: Variant, generation: number): Promise<Content> {
    const { of } = variant;
    const key = keyOf(variant);
    const file = `${of.file}${SIBLINGS[variant.coding].suffix}`;
    const path = join(this.#root, file);
    try {
      const isOfThis = this.#kept.get(key)?.of === of.etag;
      const known = isOfThis ? await this.#unchanged(key, path, generation) : undefined;
      if (known !== undefined) return known;
      const opened = await openFile(path);
      const content = opened && (await this.#check(file, variant, opened));
      this.#kept.keep(key, content, { of: of.etag, generation });
      return content ?? of;
    } catch (error) {
      // Out of file descriptors now may be fine with the next request, so nothing is remembered.
      if (isSystemError(error)) return of;
      throw error;
    }
  }

  /** What is known already, if it still is the file on disk. */
  async #unchanged(key: string, path: string, generation: number): Promise<Content | undefined> {
    const known = this.#kept.get(key);
    if (known?.content === undefined) return undefined;
    const state = await lookAt(path);
    return state?.identity === known.content.identity ? renewed(known, generation) : undefined;
  }

  async #digest(file: string, opened: OpenFile): Promise<Content> {
    const { state } = opened;
    const bytes = state.size <= CACHED_FILE_MAX_BYTES ? await readAll(opened) : undefined;
    return this.#describe(file, state, bytes, await digestOf(opened, bytes));
  }

  #describe(file: string, state: FileState, bytes: Buffer | undefined, digest: string): Content {
    const { identity, size, modifiedMs } = state;
    // A Last-Modified later than Date may not be sent (RFC 9110 §8.8.2.1).
    const modifiedSeconds = Math.floor(Math.min(modifiedMs, this.#clock()) / 1000);
    return {
      key: file,
      file,
      coding: undefined,
      etag: `"${digest}"`,
      modifiedSeconds,
      lastModified: new Date(modifiedSeconds * 1000).toUTCString(),
      size,
      identity,
      bytes,
    };
  }

  /** The compressed form in this file, undefined if it is no form of that content. Closes the file. */
  async #check(file: string, { coding, of }: Variant, opened: OpenFile): Promise<Content | undefined> {
    try {
      const { identity, size } = opened.state;
      const bytes = size <= CACHED_FILE_MAX_BYTES ? await readAll(opened) : undefined;
      const digest = await digestOfDecompressed(opened, bytes, coding, of.size);
      if (of.etag !== `"${digest}"`) return undefined;
      const key = keyOf({ coding, of });
      // Last-Modified is that of the content: it is the same state of the same resource.
      return { ...of, key, file, coding, etag: `"${digest}${SIBLINGS[coding].tag}"`, size, identity, bytes };
    } catch (error) {
      if (isSystemError(error)) throw error;
      return undefined;
    } finally {
      await opened.handle.close();
    }
  }
}

/** It still is the file on disk. */
function renewed(entry: Entry, generation: number): Content | undefined {
  entry.generation = Math.max(entry.generation, generation);
  return entry.content;
}

/** A name no file has: there are no spaces in those. */
function keyOf({ coding, of }: Variant): string {
  return `${of.file} ${coding}`;
}

/** Whoever comes while it is being read for the same generation or a later one waits for that. */
function share<T>(
  readings: Map<string, { generation: number; content: Promise<T> }>,
  key: string,
  generation: number,
  load: () => Promise<T>,
): Promise<T> {
  const reading = readings.get(key);
  if (reading !== undefined && reading.generation >= generation) return reading.content;
  const content = load().finally(() => {
    if (readings.get(key)?.content === content) readings.delete(key);
  });
  readings.set(key, { generation, content });
  return content;
}
