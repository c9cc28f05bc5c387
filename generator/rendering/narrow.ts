/** Which records of the blocks that changed are other than they were: of each, the SHA-256 of its rows is kept, table by table. */
import { HASH_BYTES, hashInto } from '../publish/hash.js';
import type { Folders } from '../publish/inputs.js';
import { LedgerReader, LedgerWriter } from '../publish/ledger.js';
import type { Entry } from '../publish/ledger.js';
import type { Block } from '../register/blocks.js';
import type { Table } from '../resources/index.js';

/** Ids from the first to the second, both included. */
export type Ids = readonly [low: number, high: number];

/** The file with the hash of each record's rows. */
const recordsFile = (table: string): string => `records-${table}`;

/** Holds the records of a table against those of the last snapshot, and writes them down for the next. */
export class RecordsComparison {
  readonly #file: string;
  readonly #old: LedgerReader | undefined;
  readonly #next: LedgerWriter;
  readonly #most: number;
  readonly #changed: [low: number, high: number][] = [];
  #count = 0;

  /** @param most with more runs of ids than these, those that changed are not told: their list is held in memory */
  constructor(table: Table, { old, next }: Folders, most: number) {
    this.#file = recordsFile(table.name);
    this.#old = old === undefined ? undefined : LedgerReader.open(old, this.#file);
    this.#next = new LedgerWriter(next, this.#file, '');
    this.#most = most;
  }

  /** Looks into a block that changed: blocks must ascend, and what lies between them stays as it was. */
  look({ low, high, tell }: Block): void {
    this.#passBelow(low);
    tell((id, rows) => {
      const its = noted(id, rows);
      this.#count += 1;
      this.#next.add(its);
      this.#passGone(id);
      const known = this.#old?.peek();
      if (known?.key !== id || !its.hash.equals(known.hash)) this.#add(id);
      if (known?.key === id) this.#old?.next();
    });
    this.#passGone(high + 1);
  }

  /** Passes over records that stay. */
  #passBelow(id: number): void {
    this.#count += this.#old?.passBelow(id, this.#next).entries ?? 0;
  }

  /** Passes over records that were there, and are no more. */
  #passGone(below: number): void {
    for (let gone = this.#old?.peek(); gone !== undefined && gone.key < below; gone = this.#old?.peek()) {
      this.#add(gone.key);
      this.#old?.next();
    }
  }

  #add(id: number): void {
    // Where nothing is known of what was, all would be listed.
    if (this.#old === undefined) return;
    const last = this.#changed.at(-1);
    if (last?.[1] === id - 1) last[1] = id;
    // One more tells that they are too many.
    else if (this.#changed.length <= this.#most) this.#changed.push([id, id]);
  }

  /** The ids of records that changed, ascending; undefined where they are too many, or nothing is known of what was. */
  get changed(): readonly Ids[] | undefined {
    return this.#old === undefined || this.#changed.length > this.#most ? undefined : this.#changed;
  }

  /**
   * No more blocks.
   * @returns how many records have rows in the table, and the checksum of the file that was written, by file
   */
  finish(): { readonly records: number; readonly sums: Readonly<Record<string, string>> } {
    this.#passBelow(Number.POSITIVE_INFINITY);
    return { records: this.#count, sums: { [this.#file]: this.#next.finish() } };
  }

  close(): void {
    this.#old?.close();
    this.#next.close();
  }
}

const hashed = Buffer.alloc(HASH_BYTES);

/** The entry is valid until the next is asked for. */
function noted(key: number, rows: Uint8Array): Entry {
  hashInto(hashed, 0, rows);
  return { key, bytes: 0, hash: hashed };
}
