/**
 * Which records of the blocks that changed are other than they were: with 1 % of all records changed at random, 15 %
 * are in a block with one. Of each record, the SHA-256 of its rows is kept, table by table.
 */
import { HASH_BYTES, hashInto } from '../publish/hash.js';
import { LedgerReader, LedgerWriter } from '../publish/ledger.js';
import type { Entry } from '../publish/ledger.js';
import { recordKey } from '../register/blocks.js';
import type { Note } from '../register/blocks.js';
import type { Register } from '../register/open.js';
import { name, rowsIn } from '../register/sql.js';
import type { Kind } from '../resources/field.js';
import type { Table } from '../resources/index.js';

/** Ids from the first to the second, both included. */
export type Ids = readonly [low: number, high: number];

/** What became of the blocks of a table that changed. */
export interface Narrowed {
  /** The ids of records whose rows changed, ascending. */
  readonly changed: readonly Ids[];
  /** The checksum of the file that was written, by file. */
  readonly sums: Readonly<Record<string, string>>;
}

/** The file with the hash of each record's rows. */
const recordsFile = (table: string): string => `records-${table}`;

/** Writes down what each record of a table is. */
export class RecordsWriter {
  readonly #file: string;
  readonly #ledger: LedgerWriter;

  constructor(table: Table, folder: string) {
    this.#file = recordsFile(table.name);
    this.#ledger = new LedgerWriter(folder, this.#file, '');
  }

  /** Ids must ascend. */
  readonly add: Note = (id, rows) => this.#ledger.add(noted(id, rows));

  /** @returns the checksum of the file that was written, by file */
  finish(): Readonly<Record<string, string>> {
    return { [this.#file]: this.#ledger.finish() };
  }

  close(): void {
    this.#ledger.close();
  }
}

const hashed = Buffer.alloc(HASH_BYTES);

/** The entry is valid until the next is asked for. */
function noted(key: number, rows: Uint8Array): Entry {
  hashInto(hashed, 0, rows);
  return { key, bytes: 0, hash: hashed };
}

/**
 * Looks into those blocks of a table that changed.
 * @param folder `old` tells what the records were, `next` is to tell what they are
 * @param blocks the lowest and the highest id of each, ascending
 * @param most with more ids than these in a list of their own, the blocks are taken whole: it is held in memory
 */
export function narrow(
  register: Register,
  kind: Kind,
  table: Table,
  folder: { readonly old: string; readonly next: string },
  blocks: readonly Ids[],
  most: number,
): Narrowed {
  const file = recordsFile(table.name);
  const old = LedgerReader.open(folder.old, file);
  const next = new LedgerWriter(folder.next, file, '');
  try {
    register.scope(
      'changed',
      blocks.map(([low, high]) => ({ kind, low, high })),
    );
    const records = register.rows<Row>(rowsQuery(kind, table));
    let record = records.next();
    const changed: [number, number][] = [];
    const add = (key: number): void => {
      const last = changed.at(-1);
      if (last?.[1] === key - 1) last[1] = key;
      // One more tells that they are too many.
      else if (changed.length <= most) changed.push([key, key]);
    };
    /** Passes over records that were there, and are no more. */
    const addGone = (below: number): void => {
      for (let gone = old?.peek(); gone !== undefined && gone.key < below; gone = old?.peek()) {
        add(gone.key);
        old?.next();
      }
    };
    for (const [low, high] of blocks) {
      old?.passBelow(low, next);
      for (; record.done !== true && record.value[0] <= high; record = records.next()) {
        const [key, rows] = record.value;
        const its = noted(key, rows);
        next.add(its);
        addGone(key);
        const known = old?.peek();
        if (known?.key !== key || !its.hash.equals(known.hash)) add(key);
        if (known?.key === key) old?.next();
      }
      addGone(high + 1);
    }
    old?.passBelow(Number.POSITIVE_INFINITY, next);
    return { changed: changed.length > most ? blocks : changed, sums: { [file]: next.finish() } };
  } finally {
    old?.close();
    next.close();
  }
}

type Row = readonly [id: number, rows: Buffer];

/** All rows of a table that belong to a record, put together as in blocks, for the records that may have changed. */
function rowsQuery(kind: Kind, table: Table): string {
  const key = recordKey(table);
  const row = `json_array(${table.columns.map((column) => name(column.name)).join(', ')})`;
  const isHistory = table.key.length > 1;
  return (
    `SELECT ${name(key)}, CAST(${isHistory ? `group_concat(${row})` : row} AS BLOB)` +
    ` FROM ${rowsIn('changed', kind, table.name, key)}` +
    ` ${isHistory ? 'GROUP' : 'ORDER'} BY _low, ${name(key)}`
  );
}
