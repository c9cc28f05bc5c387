/**
 * What every published file's content was, kept so that a build can tell what changed without reading the tree.
 * One file a route: a line of JSON that names the route's file template, then entries of 48 bytes in ascending
 * order of the key. Both reading and writing go through a fixed buffer, so ten million files cost no memory.
 */
import { closeSync, mkdirSync, openSync, readSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.js';

/** A published file: key within its route, size in bytes, SHA-256 of the content (32 bytes). */
export interface Entry {
  readonly key: number;
  readonly bytes: number;
  readonly hash: Uint8Array;
}

const ENTRY_BYTES = 48;
const HASH_OFFSET = 16;
const HASH_BYTES = 32;
/** 4,096 entries, 192 KiB. */
const BUFFER_BYTES = 4096 * ENTRY_BYTES;
const HALF = 2 ** 32;
const NEWLINE = 10;

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
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;

  constructor(folder: string, route: string, template: string) {
    mkdirSync(folder, { recursive: true });
    this.#descriptor = openSync(join(folder, route), 'w');
    writeSync(this.#descriptor, `${JSON.stringify({ template })}\n`);
  }

  add({ key, bytes, hash }: Entry): void {
    if (this.#used === BUFFER_BYTES) this.#flush();
    writeInteger(this.#buffer, key, this.#used);
    writeInteger(this.#buffer, bytes, this.#used + 8);
    this.#buffer.set(hash, this.#used + HASH_OFFSET);
    this.#used += ENTRY_BYTES;
  }

  #flush(): void {
    // A write may take less than it was given; a disk that is full then says so at the next.
    for (let at = 0; at < this.#used;) {
      at += writeSync(this.#descriptor, this.#buffer, at, this.#used - at);
    }
    this.#used = 0;
  }

  close(): void {
    try {
      this.#flush();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

/** Reads the ledger of one route, entry by entry. */
export class LedgerReader {
  readonly template: string;
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #position: number;
  #filled = 0;
  #at = 0;

  private constructor(descriptor: number, template: string, position: number) {
    this.#descriptor = descriptor;
    this.template = template;
    this.#position = position;
  }

  /** The ledger of a route, or undefined where there is none. */
  static open(folder: string, route: string): LedgerReader | undefined {
    let descriptor: number;
    try {
      descriptor = openSync(join(folder, route), 'r');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const head = Buffer.alloc(1024);
    const length = readSync(descriptor, head, 0, head.length, 0);
    const end = head.subarray(0, length).indexOf(NEWLINE);
    const header: unknown = JSON.parse(head.toString('utf8', 0, Math.max(end, 0)));
    if (typeof header !== 'object' || header === null || !('template' in header)) {
      throw new TypeError(`the ledger of "${route}" has no header`);
    }
    return new LedgerReader(descriptor, String(header.template), end + 1);
  }

  /** The entry under the cursor, or undefined behind the last. Valid until the cursor moves. */
  peek(): Entry | undefined {
    if (this.#at === this.#filled && !this.#fill()) return undefined;
    const hash = this.#buffer.subarray(this.#at + HASH_OFFSET, this.#at + HASH_OFFSET + HASH_BYTES);
    return { key: readInteger(this.#buffer, this.#at), bytes: readInteger(this.#buffer, this.#at + 8), hash };
  }

  next(): void {
    this.#at += ENTRY_BYTES;
  }

  #fill(): boolean {
    this.#filled = 0;
    this.#at = 0;
    while (this.#filled < BUFFER_BYTES) {
      const read = readSync(
        this.#descriptor,
        this.#buffer,
        this.#filled,
        BUFFER_BYTES - this.#filled,
        this.#position,
      );
      if (read === 0) break;
      this.#position += read;
      this.#filled += read;
    }
    this.#filled -= this.#filled % ENTRY_BYTES;
    return this.#filled > 0;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** The routes that a folder holds ledgers of. */
export function ledgerRoutes(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
