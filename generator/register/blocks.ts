/**
 * The rows of the register in blocks, each of some neighbouring records with all their history. What a table has in a
 * block is told by one SHA-256, so that a build can see what changed since the last without rendering it. SQLite puts
 * the rows of a block together itself, which is as fast as its own shell writes CSV.
 */
import { hash } from 'node:crypto';
import { MAX_INTEGER } from '../resources/field.js';
import type { Column, Resource } from '../resources/field.js';
import { historyTable, recordTable } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import type { Register } from './open.js';
import { literal, name } from './sql.js';

/**
 * Records in a block: with 1 % of them changed at random, 28 % are in a block with one. Smaller blocks cost more to
 * look at, larger ones have more records to be told apart.
 */
const BLOCK_RECORDS = 32;
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
  /** A SHA-256 that tells the rows; undefined where there are none. */
  readonly hash: Buffer | undefined;
  /** Tells what the rows of each record are, ascending. */
  readonly tell: (note: Note) => void;
}

/** Takes what the rows of a record are, as they stand in a block: bytes that are valid until it returns. */
export type Note = (id: number, rows: Uint8Array) => void;

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

/**
 * What a table has in each block, ascending. The table must be one that `hasBlocks`.
 * @param starts the lowest id of each block
 */
export function* blocks(
  register: Register,
  table: Table,
  starts: Iterable<number>,
): Generator<Block, void, undefined> {
  const look = lookUp(register, table);
  let low: number | undefined;
  for (const start of starts) {
    if (low !== undefined) yield block(look, low, start - 1);
    low = start;
  }
  if (low !== undefined) yield block(look, low, MAX_INTEGER);
}

function block(look: Look, low: number, high: number): Block {
  const hashes: Buffer[] = [];
  let only: Buffer | undefined;
  const rows = look(low, high, (piece) => {
    only = hashes.length === 0 ? piece : undefined;
    hashes.push(hash('sha256', piece, 'buffer'));
  });
  return {
    low,
    high,
    rows,
    hash: hashes.length > 1 ? hash('sha256', Buffer.concat(hashes), 'buffer') : hashes[0],
    tell: (note) => {
      if (only !== undefined) noteEach(only, note);
      // Many pieces are looked at again, so that they are never all in memory.
      else if (rows > 0) look(low, high, (piece) => noteEach(piece, note));
    },
  };
}

/** Takes rows that lie one behind the other, those of a record never in two pieces. */
type Take = (piece: Buffer) => void;

/** Takes the rows of a range of ids. @returns how many there were */
type Look = (low: number, high: number, take: Take) => number;

/**
 * Rows that SQLite puts together at once: 256 for each record. It makes no text of more than a GB, and a block may hold
 * much: records that came between those it was laid out for, and histories of any length.
 */
const ROWS_AT_ONCE = 256 * BLOCK_RECORDS;

/** What stands between rows, in ASCII: JSON that SQLite makes has no line breaks. */
const NEWLINE = 10;

/**
 * How to look at the rows of a table. A range that holds much is looked at in halves, down to single records: one is
 * rendered as a whole anyway.
 */
function lookUp(register: Register, table: Table): Look {
  const key = recordKey(table);
  // It comes first, where `idOf` finds it.
  const columns = [key, ...table.columns.map((column) => column.name).filter((column) => column !== key)];
  // JSON tells null, numbers and texts apart, and where each ends; as bytes, since a string would hide bad ones.
  const content = (limit: string) =>
    register.asked<[low: number, high: number], [rows: number, piece: Buffer | null]>(
      // What is within the limit goes through a copy, so one text, not all columns.
      `SELECT count(*), CAST(group_concat(content, ${literal(String.fromCharCode(NEWLINE))}) AS BLOB)` +
        ` FROM (SELECT json_array(${columns.map(name).join(', ')}) AS content` +
        ` FROM ${name(table.name)} WHERE ${name(key)} BETWEEN ? AND ? ORDER BY ${name(key)} ${limit})`,
    );
  const some = content(`LIMIT ${ROWS_AT_ONCE + 1}`);
  const all = content('');
  const look: Look = (low, high, take) => {
    const [rows, piece] = (low === high ? all : some)(low, high) ?? [0, null];
    if (rows > ROWS_AT_ONCE && low < high) {
      const middle = low + Math.floor((high - low) / 2);
      return look(low, middle, take) + look(middle + 1, high, take);
    }
    if (piece !== null) take(piece);
    return rows;
  };
  return look;
}

/** Notes the rows of each record: they are neighbours. */
function noteEach(piece: Buffer, note: Note): void {
  let start = 0;
  let id = idOf(piece, start);
  for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, end + 1)) {
    const next = idOf(piece, end + 1);
    if (next === id) continue;
    note(id, piece.subarray(start, end));
    [start, id] = [end + 1, next];
  }
  note(id, piece.subarray(start));
}

const ZERO = 48;
const NINE = 57;

/** The number that a row begins with, behind its bracket. */
function idOf(piece: Buffer, start: number): number {
  let id = 0;
  for (let at = start + 1; ; at += 1) {
    const digit = piece[at] ?? 0;
    if (digit < ZERO || digit > NINE) return id;
    // In this order: up to 2^53 - 1, all of it is exact.
    id = id * 10 + (digit - ZERO);
  }
}
