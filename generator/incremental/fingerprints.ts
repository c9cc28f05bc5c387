/**
 * Fingerprints of the register: SHA-256 over rows as they may be published, so that what is withheld, or no longer, is
 * a change like any other. SQLite puts the rows of a chunk of records together itself, which is as fast as its own
 * shell writes CSV.
 */
import { hash } from 'node:crypto';
import { MAX_INTEGER } from '../schema/field.js';
import type { Kind, Resource } from '../schema/field.js';
import { historyTable, recordTable } from '../schema/index.js';
import type { Table } from '../schema/index.js';
import type { Register } from '../register/database.js';
import { isPublished, literal, name, publishedValue } from '../register/sql.js';
import type { KeyRange } from './patch.js';

/** The tables of a resource whose rows belong to one of its records, that of the records first. */
export const tablesOf = (resource: Resource): readonly Table[] => [
  recordTable(resource),
  ...resource.histories.map((history) => historyTable(resource, history)),
];

/** The column that names the record. */
function recordKey({ name: table, key: [key] }: Table): string {
  if (key === undefined) throw new TypeError(`"${table}" has no key`);
  return key.name;
}

/**
 * Whether rows of a table or view can be read by ranges of the record's id, without reading all of it each time, and
 * its ids are some.
 */
export function isReadByRange(register: Register, table: Table): boolean {
  const key = name(recordKey(table));
  const from = name(table.name);
  const plan = register.rows<[number, number, number, string]>(
    `EXPLAIN QUERY PLAN SELECT ${table.columns.map((column) => name(column.name)).join(', ')}` +
      ` FROM ${from} WHERE ${key} BETWEEN 1 AND 2`,
  );
  if (!searches([...plan].map(([, , , step]) => step))) return false;
  const strange = isStrict(register, table)
    ? ['IS NULL', '< 1', `> ${MAX_INTEGER}`].map((what) => `${key} ${what}`)
    : [`typeof(${key}) <> 'integer' OR ${key} NOT BETWEEN 1 AND ${MAX_INTEGER}`];
  const [found] = register.rows<[number]>(
    strange.map((what) => `SELECT 1 FROM (SELECT 1 FROM ${from} WHERE ${what} LIMIT 1)`).join(' UNION ALL '),
  );
  return found === undefined;
}

/**
 * Whether a plan (sqlite.org/eqp.html) searches every table that it reads, and scans only what such searches gave. Its
 * words are for people, and may change: what is not recognised counts as a scan of a table.
 */
function searches(steps: readonly string[]): boolean {
  const found = new Set(steps.flatMap((step) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(step)?.[1] ?? []));
  const scanned = steps.flatMap((step) => /^SCAN (\(\S+\)|\S+)/.exec(step)?.[1] ?? []);
  return steps.some((step) => step.startsWith('SEARCH')) && scanned.every((each) => found.has(each));
}

/** Whether it is a STRICT table: its ids are integers, and those that are not ids are found by the key. */
function isStrict(register: Register, table: Table): boolean {
  const [strict] = register.rows<[number]>(
    `SELECT strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'` +
      ` AND name = ${literal(table.name)} COLLATE NOCASE`,
  );
  return strict?.[0] === 1;
}

/**
 * Rows that SQLite puts together at once. It makes no text of more than a GB, and a chunk may hold much: some are many
 * times as long as on average, and histories are of any length.
 */
const ROWS_AT_ONCE = 8192;

/** What stands between rows, in ASCII: JSON that SQLite makes has no line breaks. */
const NEWLINE = 10;

/** The rows of a chunk. */
export interface Rows {
  readonly rows: number;
  /** Their SHA-256. */
  readonly hash: Buffer;
}

/** Reads the published rows of a table by ranges of the record's id. */
export class RowReader {
  readonly #some: Query;
  readonly #all: Query;
  /** What was read last, where it is all of a range: mostly it is asked for again. */
  #last: { readonly range: KeyRange; readonly piece: Buffer } | undefined;

  constructor(register: Register, kind: Kind, table: Table) {
    const key = recordKey(table);
    // It comes first, where `idOf` finds it.
    const rest = table.columns.filter((column) => column.name !== key).map(publishedValue);
    const order = table.key.map((column) => name(column.name)).join(', ');
    // JSON tells null, numbers and texts apart, and where each ends; as bytes, since a string would hide bad ones.
    const query = (limit: string): Query =>
      register.asked(
        // What is within the limit goes through a copy, so one text, not all columns.
        `SELECT count(*), CAST(group_concat(content, ${literal(String.fromCharCode(NEWLINE))}) AS BLOB)` +
          ` FROM (SELECT json_array(${[name(key), ...rest].join(', ')}) AS content` +
          ` FROM ${name(table.name)} WHERE ${name(key)} BETWEEN ? AND ?` +
          ` AND ${isPublished(kind, key)} ORDER BY ${order} ${limit})`,
      );
    this.#some = query(`LIMIT ${ROWS_AT_ONCE + 1}`);
    this.#all = query('');
  }

  /** The fingerprint of a range; undefined where it has no rows. */
  fingerprint(range: KeyRange): Rows | undefined {
    const hashes: Buffer[] = [];
    this.#last = undefined;
    const rows = this.#read(range, (piece) => {
      this.#last = hashes.length === 0 ? { range, piece } : undefined;
      hashes.push(hash('sha256', piece, 'buffer'));
    });
    const [first, ...more] = hashes;
    if (first === undefined) return undefined;
    return { rows, hash: more.length === 0 ? first : hash('sha256', Buffer.concat(hashes), 'buffer') };
  }

  /** Calls with the rows of each record in a range, in order of the id; they are valid until it returns. */
  forEachRecord(range: KeyRange, take: (id: number, rows: Buffer) => void): void {
    if (this.#last?.range.low === range.low && this.#last.range.high === range.high)
      eachRecord(this.#last.piece, take);
    else this.#read(range, (piece) => eachRecord(piece, take));
  }

  /**
   * A range that holds much is read in halves, down to single records: one is rendered as a whole anyway.
   * @param take is given the rows in pieces, those of a record never in two
   */
  #read({ low, high }: KeyRange, take: (piece: Buffer) => void): number {
    const [rows, piece] = (low === high ? this.#all : this.#some)(low, high) ?? [0, null];
    if (rows > ROWS_AT_ONCE && low < high) {
      const middle = low + Math.floor((high - low) / 2);
      return this.#read({ low, high: middle }, take) + this.#read({ low: middle + 1, high }, take);
    }
    if (piece !== null) take(piece);
    return rows;
  }
}

type Query = (low: number, high: number) => readonly [rows: number, piece: Buffer | null] | undefined;

/** The rows of a record are neighbours. */
function eachRecord(piece: Buffer, take: (id: number, rows: Buffer) => void): void {
  let start = 0;
  let id = idOf(piece, start);
  for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, end + 1)) {
    const next = idOf(piece, end + 1);
    if (next === id) continue;
    take(id, piece.subarray(start, end));
    [start, id] = [end + 1, next];
  }
  take(id, piece.subarray(start));
}

const ZERO = 48;
const NINE = 57;

/** The number that a row begins with, after its bracket. */
function idOf(piece: Buffer, start: number): number {
  let id = 0;
  for (let at = start + 1; ; at += 1) {
    const digit = piece[at] ?? 0;
    if (digit < ZERO || digit > NINE) return id;
    // In this order: up to 2^53 - 1, all of it is exact.
    id = id * 10 + (digit - ZERO);
  }
}
