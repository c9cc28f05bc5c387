/**
 * Hash files: sorted key -> hash of a content, on disk. Each entry has 48 bytes: key and size in
 * bytes as big-endian 64-bit integers, then the SHA-256 of the content. Entries ascend by key.
 * Buffers are fixed, so ten million entries take no more memory than one.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { KeyRange } from '../cursor.js';
import { ifExists } from '../files.js';
import { HASH_BYTES } from './merkle.js';
import { Sink } from './sink.js';

/** Size in bytes (0 where it is not used), and SHA-256 of the content (32 bytes). */
export interface HashedContent {
  readonly bytes: number;
  readonly hash: Buffer;
}

export interface Entry extends HashedContent {
  readonly key: number;
}

/** No content: in a patch, the entry is removed; in an index, the file is known to be damaged. */
export const NO_HASH = Buffer.alloc(HASH_BYTES);

const ENTRY_BYTES = 48;
const HASH_OFFSET = 16;
/** 4,096 entries, 192 KiB. */
const BUFFER_ENTRIES = 4096;
const HALF = 2 ** 32;

/** Integers up to 2^53-1 as two 32-bit halves. */
function writeInteger(buffer: Buffer, value: number, offset: number): void {
  buffer.writeUInt32BE(Math.floor(value / HALF), offset);
  buffer.writeUInt32BE(value % HALF, offset + 4);
}

const readInteger = (buffer: Buffer, offset: number): number =>
  buffer.readUInt32BE(offset) * HALF + buffer.readUInt32BE(offset + 4);

export class HashFileWriter {
  readonly #sink: Sink;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_ENTRIES * ENTRY_BYTES);
  #used = 0;

  constructor(path: string) {
    this.#sink = new Sink(path);
  }

  add({ key, bytes, hash }: Entry): void {
    if (this.#used === this.#buffer.length) this.#flush();
    writeInteger(this.#buffer, key, this.#used);
    writeInteger(this.#buffer, bytes, this.#used + 8);
    this.#buffer.set(hash, this.#used + HASH_OFFSET);
    this.#used += ENTRY_BYTES;
  }

  /** Adds encoded entries from another file. */
  addAll(entries: Buffer): void {
    for (let at = 0; at < entries.length;) {
      if (this.#used === this.#buffer.length) this.#flush();
      // Pieces are mostly small: copying all is cheaper than a write for each.
      const copied = entries.copy(this.#buffer, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #flush(): void {
    this.#sink.write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  /** @returns the SHA-256 of the file, in hex */
  finish(): string {
    this.#flush();
    return this.#sink.finish().sha256;
  }

  close(): void {
    this.#sink.close();
  }
}

/** Reads entries in key order. */
export class HashFileReader {
  /** Number of entries in the file. */
  readonly size: number;
  readonly #descriptor: number;
  readonly #buffer: Buffer;
  readonly #field = Buffer.alloc(8);
  #open = true;
  #next = 0;
  #end: number;
  #filled = 0;
  #at = 0;

  private constructor(descriptor: number, bufferEntries: number) {
    this.#descriptor = descriptor;
    this.size = Math.floor(fstatSync(descriptor).size / ENTRY_BYTES);
    this.#end = this.size;
    this.#buffer = Buffer.allocUnsafe(Math.min(bufferEntries, this.size) * ENTRY_BYTES);
  }

  /** @returns undefined if there is no such file */
  static open(path: string | undefined, bufferEntries = BUFFER_ENTRIES): HashFileReader | undefined {
    const descriptor = path === undefined ? undefined : ifExists(() => openSync(path, 'r'));
    return descriptor === undefined ? undefined : new HashFileReader(descriptor, bufferEntries);
  }

  /** Restricts reading to the keys from `low` to `high`, inclusive, and moves to the first. */
  restrict({ low, high }: KeyRange): void {
    this.#next = this.#countBelow(low);
    this.#end = this.#countBelow(high + 1);
    this.#filled = 0;
    this.#at = 0;
  }

  /** The entry of a key, wherever the cursor is: 21 short reads in a million entries. */
  find(key: number): Entry | undefined {
    const at = this.#countBelow(key);
    if (at === this.size || this.#keyAt(at) !== key) return undefined;
    const entry = Buffer.alloc(ENTRY_BYTES);
    readSync(this.#descriptor, entry, 0, ENTRY_BYTES, at * ENTRY_BYTES);
    return { key, bytes: readInteger(entry, 8), hash: entry.subarray(HASH_OFFSET) };
  }

  /** The number of entries with a lower key, by binary search in the file. */
  #countBelow(key: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#keyAt(middle) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #keyAt(index: number): number {
    readSync(this.#descriptor, this.#field, 0, 8, index * ENTRY_BYTES);
    return readInteger(this.#field, 0);
  }

  /** The entry at the cursor, or undefined at the end. Its hash is valid until the cursor moves. */
  peek(): Entry | undefined {
    if (this.#at === this.#filled && !this.#fill()) return undefined;
    const hash = this.#buffer.subarray(this.#at + HASH_OFFSET, this.#at + ENTRY_BYTES);
    return { key: readInteger(this.#buffer, this.#at), bytes: readInteger(this.#buffer, this.#at + 8), hash };
  }

  /** The key of that entry, without allocating an object. */
  peekKey(): number | undefined {
    return this.#at === this.#filled && !this.#fill() ? undefined : readInteger(this.#buffer, this.#at);
  }

  next(): void {
    this.#at += ENTRY_BYTES;
  }

  /** Skips all entries with lower keys. @param take called with them in pieces */
  passBelow(key: number, take?: (entries: Buffer) => void): void {
    while (this.#at < this.#filled || this.#fill()) {
      const start = this.#at;
      while (this.#at < this.#filled && readInteger(this.#buffer, this.#at) < key) this.#at += ENTRY_BYTES;
      if (this.#at > start) take?.(this.#buffer.subarray(start, this.#at));
      if (this.#at < this.#filled) break;
    }
  }

  #fill(): boolean {
    const wanted = Math.min(this.#buffer.length, (this.#end - this.#next) * ENTRY_BYTES);
    this.#filled = 0;
    this.#at = 0;
    while (this.#filled < wanted) {
      const position = this.#next * ENTRY_BYTES + this.#filled;
      const read = readSync(this.#descriptor, this.#buffer, this.#filled, wanted - this.#filled, position);
      if (read === 0) throw new TypeError('the hash file is shorter than it was');
      this.#filled += read;
    }
    this.#next += this.#filled / ENTRY_BYTES;
    return this.#filled > 0;
  }

  close(): void {
    if (this.#open) closeSync(this.#descriptor);
    this.#open = false;
  }
}

/** The entries of a file, or none if there is no such file; each is valid until the next is read. */
export function* entriesIn(path: string | undefined, range?: KeyRange): Generator<Entry, void, undefined> {
  const reader = HashFileReader.open(path);
  try {
    if (range !== undefined) reader?.restrict(range);
    for (let entry = reader?.peek(); entry !== undefined; entry = reader?.peek()) {
      yield entry;
      reader?.next();
    }
  } finally {
    reader?.close();
  }
}
