import type { Coding } from './codings.js';
import type { Validators } from './conditions.js';

/**
 * Contents of files in memory, bounded in bytes. What is used stays: to make room the oldest go first, but one
 * that was used since it was last looked at becomes the youngest instead (the second chance of Tanenbaum's
 * textbook). That is nearly the order of last use, and a use costs no more than noting it.
 */

/** One state of a file: what an answer says about it, and its bytes unless they are too many to hold. */
export interface Content extends Validators {
  /** What it is kept under. */
  readonly key: string;
  /** Where the bytes are, relative to the root. */
  readonly file: string;
  /** How they are compressed. */
  readonly coding: Coding | undefined;
  /** Last-Modified, as an HTTP-date (RFC 9110 §5.6.7). */
  readonly lastModified: string;
  readonly size: number;
  readonly identity: string;
  /** Undefined if the file is larger than CACHED_FILE_MAX_BYTES; `open` reads those. */
  readonly bytes: Buffer | undefined;
}

/** A compressed form of a file's content, which lies beside it. */
export interface Variant {
  readonly coding: Coding;
  readonly of: Content;
}

/** What is remembered of a file, or of a compressed form of one. */
export interface Entry {
  /** Undefined for a compressed form that can't be had. */
  readonly content: Content | undefined;
  /** Of a compressed form, the ETag of the content it is a form of. */
  readonly of: string | undefined;
  readonly cost: number;
  /** The file was this one at some moment of this generation. */
  generation: number;
  /** Whether it was asked for since room was last made at its place. */
  isUsed: boolean;
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

export class ContentMemory {
  readonly #maximumBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Bytes held, what entries cost beside their content included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is known, of whatever generation. */
  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** What is known in this generation; it counts as used. */
  use(key: string, generation: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.generation < generation) return undefined;
    entry.isUsed = true;
    return entry;
  }

  keep(
    key: string,
    content: Content | undefined,
    { of, generation }: Pick<Entry, 'of' | 'generation'>,
  ): void {
    const present = this.#entries.get(key);
    // A reading that began in an older generation must not outlast one that began later.
    if (present !== undefined && present.generation > generation) return;
    this.forget(key);
    const cost = ENTRY_COST_BYTES + (content?.bytes?.length ?? 0);
    if (this.#bytes + cost > this.#maximumBytes) this.#makeRoom(cost);
    this.#entries.set(key, { content, of, generation, cost, isUsed: false });
    this.#bytes += cost;
  }

  #makeRoom(cost: number): void {
    const target = this.#maximumBytes - Math.max(cost, Math.floor(this.#maximumBytes / EVICTION_SHARE));
    // Ends: an entry met again, as the youngest, is not used any more.
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= target) return;
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.delete(key);
        this.#entries.set(key, entry);
      } else {
        this.forget(key);
      }
    }
  }

  forget(file: string): void {
    const entry = this.#entries.get(file);
    if (entry === undefined) return;
    this.#entries.delete(file);
    this.#bytes -= entry.cost;
  }
}
