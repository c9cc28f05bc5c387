/**
 * Change detection: which records and tables differ from the previous snapshot. Each chunk of
 * records has a fingerprint per table; where one differs, the fingerprints of its records are
 * compared.
 */
import { hash } from 'node:crypto';
import { resourceOf, tablesOf } from '../../schema/schema.js';
import type { Kind, Resource } from '../../schema/field.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import { beginsChunkSql } from '../../tree/chunks.js';
import { RowReader, isReadByRange } from './fingerprints.js';
import type { Comparer, Comparison } from '../../state/compare.js';
import { ALL_KEYS, type Entry } from '../../state/documents.js';
import { chunksOf, recordsOf, sourceId } from './sources.js';
import type { KeyRange } from '../../base/cursor.js';

/**
 * Average records per chunk: with 1 % of the records changed at random, 28 % are in a changed
 * chunk. Smaller chunks cost more to compare; larger ones hold more records to compare one by one.
 */
const CHUNK_RECORDS = 32;

/** Approximate number of records that a thread processes at once. */
const SHARD_RECORDS = 16_384;

/** A range of neighbouring records of one kind. */
export interface Shard extends KeyRange {
  readonly kind: Kind;
  /** Sorts the shards of a kind. */
  readonly part: string;
}

/** The tables of a kind that can't be read by ranges of ids. */
export const unrangedTables = (register: Register, resource: Resource): readonly string[] =>
  tablesOf(resource).flatMap((table) => (isReadByRange(register, table) ? [] : [table.name]));

/** SQL condition that a chunk begins at a record, if that is published. */
const BEGINS_HERE = beginsChunkSql('id', CHUNK_RECORDS);

const partOf = (kind: Kind, number: number): string => `${kind}-${String(number).padStart(8, '0')}`;

/**
 * The shards of a kind, which cover all ids and begin where chunks do. They follow from its ids alone,
 * withheld ones included, since downloads are cut where shards begin.
 */
export function shardsOf(register: Register, { kind, plural }: Resource): readonly Shard[] {
  const following = register.asked<[start: number], [id: number]>(
    `SELECT id FROM ${name(plural)} WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${SHARD_RECORDS - 1}`,
  );
  const begins = register.asked<[from: number], [id: number]>(
    `SELECT id FROM ${name(plural)} WHERE id >= ? AND ${BEGINS_HERE} ORDER BY id LIMIT 1`,
  );
  const starts: number[] = [ALL_KEYS.low];
  for (let last = 0; ;) {
    const [from] = following(last) ?? [];
    const [start] = from === undefined ? [] : (begins(from) ?? []);
    if (start === undefined) break;
    starts.push(start);
    last = start;
  }
  return starts.map((low, index) => ({
    kind,
    part: partOf(kind, index),
    low,
    high: (starts[index + 1] ?? ALL_KEYS.high + 1) - 1,
  }));
}

/** A kind as one shard. */
export const wholeShard = ({ kind }: Resource): Shard => ({ kind, part: partOf(kind, 0), ...ALL_KEYS });

/** A table's rows in a shard. */
export interface TableChanges {
  readonly table: string;
  /** Published rows, and the number of records they belong to. */
  readonly rows: number;
  readonly records: number;
  readonly isChanged: boolean;
}

export interface Detected {
  readonly tables: readonly TableChanges[];
  /** Added, changed and removed records, ascending. */
  readonly changed: readonly number[];
}

/**
 * Compares a shard's fingerprints with the previous snapshot's.
 * @param isComparable whether there are any that may be compared
 */
export function detectChanges(
  register: Register,
  shard: Shard,
  comparer: Comparer,
  isComparable: boolean,
): Detected {
  const resource = resourceOf(shard.kind);
  const compared = (source: string, onGone?: (old: Entry) => void): Comparison =>
    comparer.compare('fingerprint', sourceId(source), {
      isPublished: isComparable,
      range: shard,
      ...(onGone && { onGone }),
    });
  const tables = tablesOf(resource).map(
    (table) =>
      new TableDetector(
        table.name,
        new RowReader(register, shard.kind, table),
        compared(chunksOf(table.name)),
      ),
  );
  const changed: number[] = [];
  const records = compared(recordsOf(shard.kind), ({ key }) => void changed.push(key));
  const begins = beginsOf(register, resource, shard);
  const chunks = tables.find(({ table }) => table === resource.plural);
  // From where a chunk begins, today or in the last snapshot, to where the next one does.
  for (let low = shard.low, at = 0; low <= shard.high;) {
    const isBegin = begins[at] === low;
    if (isBegin) at += 1;
    const begin = begins[at] ?? shard.high + 1;
    const chunk = isBegin ? { low, high: begin - 1 } : undefined;
    // Not `some`: each call also records the table's fingerprint.
    const differing = tables.filter((table) => table.compare(low, chunk));
    const next = Math.min(begin, chunks?.nextBefore ?? begin);
    if (differing.length > 0) {
      records.keepBelow(low);
      for (const entry of fingerprintsOf(tables, { low, high: next - 1 }))
        if (records.put(entry) !== 'unchanged') changed.push(entry.key);
      records.removeBelow(next);
    }
    low = next;
  }
  for (const table of tables) table.finish();
  return { tables: tables.map(({ found }) => found), changed };
}

/** The lowest id of each chunk of a shard. */
function beginsOf(register: Register, { kind, plural }: Resource, { low, high }: Shard): readonly number[] {
  const sql = `SELECT id FROM ${name(plural)} WHERE id > ${low} AND id <= ${high} AND ${BEGINS_HERE} AND ${isPublished(kind)} ORDER BY id`;
  return [low, ...[...register.rows<[number]>(sql)].flat()];
}

/** Ends the rows of a table, in which it is not. */
const END_OF_TABLE = Buffer.of(0);
const NO_ROWS = Buffer.of();

/** One fingerprint per record, over its rows in all tables. */
function fingerprintsOf(tables: readonly TableDetector[], range: KeyRange): readonly Entry[] {
  const found = new Map<number, Buffer[]>();
  for (const [index, { reader }] of tables.entries()) {
    reader.forEachRecord(range, (id, rows) => {
      let parts = found.get(id);
      if (parts === undefined) found.set(id, (parts = tables.flatMap(() => [NO_ROWS, END_OF_TABLE])));
      parts[2 * index] = rows;
    });
  }
  return [...found]
    .map(([key, parts]) => ({ key, bytes: 0, hash: hash('sha256', Buffer.concat(parts), 'buffer') }))
    .toSorted((a, b) => a.key - b.key);
}

const withCount = (rows: Buffer, records: number): Buffer =>
  hash('sha256', Buffer.concat([rows, Buffer.from(String(records))]), 'buffer');

/** Compares the chunks of one table. */
class TableDetector {
  readonly reader: RowReader;
  readonly table: string;
  readonly #chunks: Comparison;
  #rows = 0;
  #records = 0;
  #isChanged = false;

  constructor(table: string, reader: RowReader, chunks: Comparison) {
    this.table = table;
    this.reader = reader;
    this.#chunks = chunks;
  }

  /**
   * Compares a chunk.
   * @param low its lowest id
   * @param chunk undefined if the chunk no longer exists
   * @returns whether it changed
   */
  compare(low: number, chunk: KeyRange | undefined): boolean {
    const isChanged = this.#compare(low, chunk);
    this.#isChanged ||= isChanged;
    return isChanged;
  }

  #compare(low: number, chunk: KeyRange | undefined): boolean {
    const found = chunk && this.reader.fingerprint(chunk);
    if (chunk === undefined || found === undefined) return this.#chunks.remove(low);
    const old = this.#chunks.old(low);
    // `bytes` holds the number of records, which is counted only if the chunk changed; the hash is over it,
    // too, so that another number is a change.
    const isSame = old?.hash.equals(withCount(found.hash, old.bytes)) === true;
    const bytes = isSame ? old.bytes : this.#count(chunk);
    this.#rows += found.rows;
    this.#records += bytes;
    return this.#chunks.put({ key: low, bytes, hash: withCount(found.hash, bytes) }) !== 'unchanged';
  }

  #count(chunk: KeyRange): number {
    let count = 0;
    this.reader.forEachRecord(chunk, () => (count += 1));
    return count;
  }

  /** Where the next chunk of the last snapshot begins. */
  get nextBefore(): number | undefined {
    return this.#chunks.nextOld;
  }

  get found(): TableChanges {
    return { table: this.table, rows: this.#rows, records: this.#records, isChanged: this.#isChanged };
  }

  /** Removes the chunks that are left. */
  finish(): void {
    this.#chunks.removeBelow();
  }
}
