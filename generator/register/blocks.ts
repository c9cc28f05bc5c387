/**
 * The rows of the register in blocks, each of some neighbouring records with all their history. What a table has in a
 * block is told by one SHA-256, so that a build can see what changed since the last without rendering it. SQLite puts
 * the rows of a block together itself, which is as fast as its own shell writes CSV.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { MAX_INTEGER } from '../resources/field.js';
import type { Column, Resource } from '../resources/field.js';
import { historyTable, recordTable } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import type { Register } from './open.js';
import { literal, name } from './sql.js';

/**
 * Records in a block: with 1 % of them changed at random, 15 % are in a block with one. Smaller blocks cost more to
 * look at, larger ones to render.
 */
const BLOCK_RECORDS = 16;
/** So many records may come to lie in a block that had fewer when it was laid out. */
export const CROWDED_RECORDS = 16 * BLOCK_RECORDS;

/** The tables of a resource whose rows belong to one of its records. */
export const tablesOf = (resource: Resource): readonly Table[] => [
  recordTable(resource),
  ...resource.histories.map((history) => historyTable(resource, history)),
];

/** The column that names the record. */
export function recordKey({ name: table, key: [key] }: Table): string {
  if (key === undefined) throw new TypeError(`"${table}" has no key`);
  return key.name;
}

/** What one table has in a block. */
export interface Block {
  /** The ids of the block's records are these and those between. */
  readonly low: number;
  readonly high: number;
  readonly rows: number;
  /** SHA-256 over the rows; undefined where there are none. */
  readonly hash: Buffer | undefined;
}

/** Whether it is a STRICT table with all its columns, so that a value of another type can't pass for the same. */
export function isTable(register: Register, table: Table): boolean {
  const [strict] = register.rows<[number]>(
    `SELECT strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ${literal(table.name)} COLLATE NOCASE`,
  );
  if (strict?.[0] !== 1) return false;
  const found = new Map(
    register.rows<[string, string]>(
      `SELECT lower(name), upper(type) FROM pragma_table_xinfo(${literal(table.name)})`,
    ),
  );
  return table.columns.every((column) => isTyped(column, found.get(column.name)));
}

/**
 * Whether a table can be told apart by blocks: it is one by which values are told apart; it is ordered by the record's
 * id, or each block would cost a look at all of it; and its ids are some.
 */
export function hasBlocks(register: Register, table: Table): boolean {
  if (!isTable(register, table)) return false;
  const key = name(recordKey(table));
  const [, , , plan] = [
    ...register.rows<[number, number, number, string]>(
      `EXPLAIN QUERY PLAN SELECT 1 FROM ${name(table.name)} WHERE ${key} BETWEEN 1 AND 2`,
    ),
  ][0] ?? [0, 0, 0, ''];
  if (!plan.startsWith('SEARCH')) return false;
  const [strange] = register.rows<[number]>(
    `SELECT 1 FROM ${name(table.name)} WHERE ${key} < 1` +
      ` UNION ALL SELECT 1 FROM ${name(table.name)} WHERE ${key} > ${MAX_INTEGER}` +
      ` UNION ALL SELECT 1 FROM ${name(table.name)} WHERE ${key} IS NULL LIMIT 1`,
  );
  return strange === undefined;
}

const isTyped = ({ type }: Column, declared: string | undefined): boolean =>
  ['id', 'ordinal', 'count', 'boolean'].includes(type)
    ? declared === 'INTEGER' || declared === 'INT'
    : declared === 'TEXT';

/**
 * The lowest id of each block, ascending: of all of them, or of those that follow one, if enough has come behind it.
 * The first block begins at 0.
 */
export function* blockStarts(
  register: Register,
  { plural }: Resource,
  last?: number,
): Generator<number, void, undefined> {
  // SQLite passes over the records between without telling of them, which is ten times as fast as counting them here.
  // Behind the start, since any number of rows may have the same id where no key forbids it.
  const following = register.asked<[start: number], [id: number]>(
    `SELECT id FROM ${name(plural)} WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${BLOCK_RECORDS - 1}`,
  );
  if (last === undefined) yield 0;
  for (let next = following(last ?? 0); next !== undefined; next = following(next[0])) yield next[0];
}

/** Takes what the rows of a record are, as they stand in a block: bytes that are valid until it returns. */
export type Note = (id: number, rows: Uint8Array) => void;

/**
 * What a table has in each block, ascending. The table must be one that `hasBlocks`.
 * @param starts the lowest id of each block
 * @param note takes each record on the way, ascending; the look takes almost twice the time then
 */
export function* blocks(
  register: Register,
  table: Table,
  starts: Iterable<number>,
  note?: Note,
): Generator<Block, void, undefined> {
  const look = lookUp(register, table, note);
  const block = (low: number, high: number): Block => {
    const digest = createHash('sha256');
    const rows = look(low, high, digest);
    return { low, high, rows, hash: rows === 0 ? undefined : digest.digest() };
  };
  let low: number | undefined;
  for (const start of starts) {
    if (low !== undefined) yield block(low, start - 1);
    low = start;
  }
  if (low !== undefined) yield block(low, MAX_INTEGER);
}

/**
 * Rows that SQLite puts together at once. It makes no text of more than a GB, and a block may hold much: records that
 * came between those it was laid out for, and histories of any length.
 */
const ROWS_AT_ONCE = 1024;

/**
 * How to feed the rows of a range of ids to a digest. A range that holds much is looked at in halves, down to single
 * records: one is rendered as a whole anyway.
 * @returns a function that tells how many rows there were
 */
function lookUp(
  register: Register,
  table: Table,
  note?: Note,
): (low: number, high: number, digest: Hash) => number {
  const key = name(recordKey(table));
  const columns = table.columns.map((column) => name(column.name)).join(', ');
  // Whose each row is, and how long it is.
  const places = note && ', group_concat(id), group_concat(octet_length(content))';
  // JSON tells null, numbers and texts apart, and where each ends; as bytes, since a string would hide bad ones.
  const content = (limit: string) =>
    register.asked<[low: number, high: number], Looked>(
      // What is within the limit goes through a copy, so one text, not all columns.
      `SELECT count(*), CAST(group_concat(content) AS BLOB)${places ?? ''}` +
        ` FROM (SELECT json_array(${columns}) AS content${note ? `, ${key} AS id` : ''}` +
        ` FROM ${name(table.name)} WHERE ${key} BETWEEN ? AND ? ${limit})`,
    );
  const some = content(`LIMIT ${ROWS_AT_ONCE + 1}`);
  const all = content('');
  const look = (low: number, high: number, digest: Hash): number => {
    const [rows, bytes, ids, lengths] = (low === high ? all : some)(low, high) ?? [0, null];
    if (rows > ROWS_AT_ONCE && low < high) {
      const middle = low + Math.floor((high - low) / 2);
      return look(low, middle, digest) + look(middle + 1, high, digest);
    }
    if (bytes === null) return rows;
    // Pieces are told apart by their counts.
    digest.update(`${rows} `).update(bytes);
    if (note !== undefined) noteEach(bytes, integersOf(ids), integersOf(lengths), note);
    return rows;
  };
  return look;
}

type Looked = readonly [rows: number, bytes: Buffer | null, ids?: string, lengths?: string];

const integersOf = (list: string | undefined): readonly number[] => list?.split(',').map(Number) ?? [];

/** Rows lie one behind the other, each but the last followed by a comma; those of a record are neighbours. */
function noteEach(bytes: Buffer, ids: readonly number[], lengths: readonly number[], note: Note): void {
  let [start, end] = [0, -1];
  for (const [row, id] of ids.entries()) {
    end += 1 + (lengths[row] ?? 0);
    if (ids[row + 1] === id) continue;
    note(id, bytes.subarray(start, end));
    start = end + 1;
  }
}
