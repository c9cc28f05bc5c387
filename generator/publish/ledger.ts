/**
 * What every published file's content was, kept so that a build can tell what changed without reading the tree.
 * One file a route: a line of JSON that names the route's file template, then entries of 48 bytes in ascending
 * order of the key. Reading and writing go through fixed buffers, so ten million files cost no memory.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, codeOf } from '../errors.js';
import { HASH_BYTES } from './hash.js';

/** A published file: key within its route, size in bytes, SHA-256 of the content (32 bytes). */
export interface Entry {
  readonly key: number;
  readonly bytes: number;
  readonly hash: Buffer;
}

/** What a file holds: its size, and its SHA-256 in hex. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

/** The hash of no file: a build finds an entry with it changed, or removes what is left of it. */
export const NO_HASH = Buffer.alloc(HASH_BYTES);

const ENTRY_BYTES = 48;
const HASH_OFFSET = 16;
/** 4,096 entries, 192 KiB. */
const BUFFER_ENTRIES = 4096;
const HALF = 2 ** 32;
const NEWLINE = 10;
const HEADER_MAX_BYTES = 1024;

/** Integers up to 2^53-1 as two halves of 32 bits. */
function writeInteger(buffer: Buffer, value: number, offset: number): void {
  buffer.writeUInt32BE(Math.floor(value / HALF), offset);
  buffer.writeUInt32BE(value % HALF, offset + 4);
}

const readInteger = (buffer: Buffer, offset: number): number =>
  buffer.readUInt32BE(offset) * HALF + buffer.readUInt32BE(offset + 4);

/** Writes the ledger of one route. */
export class LedgerWriter {
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_ENTRIES * ENTRY_BYTES);
  readonly #sum: Hash = createHash('sha256');
  #used = 0;
  #open = true;

  constructor(folder: string, route: string, template: string) {
    mkdirSync(folder, { recursive: true });
    this.#descriptor = openSync(join(folder, route), 'w');
    this.#write(Buffer.from(`${JSON.stringify({ template })}\n`));
  }

  add({ key, bytes, hash }: Entry): void {
    if (this.#used === this.#buffer.length) this.#flush();
    writeInteger(this.#buffer, key, this.#used);
    writeInteger(this.#buffer, bytes, this.#used + 8);
    this.#buffer.set(hash, this.#used + HASH_OFFSET);
    this.#used += ENTRY_BYTES;
  }

  /** Adds entries as they lie in another ledger: whole ones, one behind the other. */
  addAll(entries: Buffer): void {
    for (let at = 0; at < entries.length;) {
      if (this.#used === this.#buffer.length) this.#flush();
      // Mostly they are few, and a write for each such piece would cost more than copying them all.
      const copied = entries.copy(this.#buffer, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Buffer): void {
    this.#sum.update(bytes);
    // A write may take less than it was given; a disk that is full then says so at the next.
    for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
  }

  /** Ends the ledger and returns its checksum. */
  finish(): string {
    this.#flush();
    this.close();
    return this.#sum.digest('hex');
  }

  close(): void {
    if (this.#open) closeSync(this.#descriptor);
    this.#open = false;
  }
}

/** A run of a ledger's entries: from the first of `start` to before the first of `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Entries that were passed over together. */
export interface Passed {
  readonly entries: number;
  /** Their size in bytes. */
  readonly bytes: number;
  /** The key of the first of them. */
  readonly firstKey: number | undefined;
}

/** Reads the ledger of one route, entry by entry. */
export class LedgerReader {
  readonly template: string;
  /** Entries in the ledger. */
  readonly size: number;
  readonly #descriptor: number;
  readonly #offset: number;
  readonly #buffer: Buffer;
  #open = true;
  #next = 0;
  #end: number;
  #filled = 0;
  #at = 0;

  private constructor(descriptor: number, header: Header, offset: number, bufferEntries: number) {
    this.#descriptor = descriptor;
    this.template = header.template;
    this.#offset = offset;
    this.size = Math.floor((fstatSync(descriptor).size - offset) / ENTRY_BYTES);
    this.#end = this.size;
    this.#buffer = Buffer.allocUnsafe(bufferEntries * ENTRY_BYTES);
  }

  /** The ledger of a route, or undefined where there is none. */
  static open(folder: string, route: string, bufferEntries = BUFFER_ENTRIES): LedgerReader | undefined {
    let descriptor: number;
    try {
      descriptor = openSync(join(folder, route), 'r');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const head = Buffer.alloc(HEADER_MAX_BYTES);
    const length = readSync(descriptor, head, 0, head.length, 0);
    const end = head.subarray(0, length).indexOf(NEWLINE);
    const header = headerOf(head.toString('utf8', 0, Math.max(end, 0)));
    if (header !== undefined) return new LedgerReader(descriptor, header, end + 1, bufferEntries);
    closeSync(descriptor);
    throw Failure.invalid(`the ledger "${join(folder, route)}" is damaged: it has no header`);
  }

  /** Restricts reading to a part of the ledger, and goes to its start. */
  restrict({ start, end }: Range): void {
    this.#next = start;
    this.#end = end;
    this.#filled = 0;
    this.#at = 0;
  }

  /** How many entries have a key below this one: a binary search on the file. */
  countBelow(key: number): number {
    const field = Buffer.alloc(8);
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      readSync(this.#descriptor, field, 0, 8, this.#offset + middle * ENTRY_BYTES);
      if (readInteger(field, 0) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The entry under the cursor, or undefined behind the last. Its hash is valid until the cursor moves. */
  peek(): Entry | undefined {
    if (this.#at === this.#filled && !this.#fill()) return undefined;
    const hash = this.#buffer.subarray(this.#at + HASH_OFFSET, this.#at + HASH_OFFSET + HASH_BYTES);
    return { key: readInteger(this.#buffer, this.#at), bytes: readInteger(this.#buffer, this.#at + 8), hash };
  }

  /** The key of that entry alone; nothing is made for it that would have to be collected. */
  peekKey(): number | undefined {
    return this.#at === this.#filled && !this.#fill() ? undefined : readInteger(this.#buffer, this.#at);
  }

  next(): void {
    this.#at += ENTRY_BYTES;
  }

  /**
   * Passes over all entries with keys below this one, and hands them to the next ledger.
   * @returns what they come to
   */
  passBelow(key: number, next: LedgerWriter | undefined): Passed {
    let [entries, bytes] = [0, 0];
    let firstKey: number | undefined;
    while (this.#at < this.#filled || this.#fill()) {
      const start = this.#at;
      for (; this.#at < this.#filled; this.#at += ENTRY_BYTES) {
        const its = readInteger(this.#buffer, this.#at);
        if (its >= key) break;
        firstKey ??= its;
        entries += 1;
        bytes += readInteger(this.#buffer, this.#at + 8);
      }
      if (this.#at > start) next?.addAll(this.#buffer.subarray(start, this.#at));
      if (this.#at < this.#filled) break;
    }
    return { entries, bytes, firstKey };
  }

  /** All entries from the cursor on; each is valid until the next is asked for. */
  *entries(): Generator<Entry, void, undefined> {
    for (let entry = this.peek(); entry !== undefined; entry = this.peek()) {
      yield entry;
      this.next();
    }
  }

  #fill(): boolean {
    const wanted = Math.min(this.#buffer.length, (this.#end - this.#next) * ENTRY_BYTES);
    this.#filled = 0;
    this.#at = 0;
    while (this.#filled < wanted) {
      const position = this.#offset + this.#next * ENTRY_BYTES + this.#filled;
      const read = readSync(this.#descriptor, this.#buffer, this.#filled, wanted - this.#filled, position);
      if (read === 0) throw new TypeError('the ledger is shorter than it was');
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

interface Header {
  readonly template: string;
}

function headerOf(line: string): Header | undefined {
  try {
    const header: unknown = JSON.parse(line);
    if (typeof header !== 'object' || header === null || !('template' in header)) return undefined;
    return typeof header.template === 'string' ? { template: header.template } : undefined;
  } catch {
    return undefined;
  }
}
