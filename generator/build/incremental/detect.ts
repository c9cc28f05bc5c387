/**
 * Change detection: which records and tables differ from the previous snapshot. Each chunk of
 * records has a fingerprint per table; where one differs, the fingerprints of its records are
 * compared.
 */
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCES, resourceOf, tablesOf } from '../../schema/index.js';
import type { Kind, Resource } from '../../schema/field.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';
import { beginsChunkSql } from '../../tree/chunks.js';
import { RowReader, isReadByRange } from './fingerprints.js';
import { NO_HASH } from '../../tree/hash-file.js';
import type { Entry } from '../../tree/hash-file.js';
import { ALL_KEYS, PatchWriter, keysIn } from '../../tree/patch.js';
import type { KeyRange } from '../../cursor.js';

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

/** The hash files: of each table's chunks, keyed by their lowest id, and of each kind's records. */
const chunksFile = (table: string): string => `chunks-${table}`;
export const recordsFile = (kind: Kind): string => `records-${kind}`;

const fingerprintFiles = (resource: Resource): readonly string[] => [
  recordsFile(resource.kind),
  ...tablesOf(resource).map((table) => chunksFile(table.name)),
];

export const FINGERPRINT_FILES: readonly string[] = RESOURCES.flatMap(fingerprintFiles);

/** The tables of a kind that can't be read by ranges of ids. */
export const unrangedTables = (register: Register, resource: Resource): readonly string[] =>
  tablesOf(resource).flatMap((table) => (isReadByRange(register, table) ? [] : [table.name]));

/** SQL condition that a chunk begins at a record. */
const beginsHere = (kind: Kind): string => `${beginsChunkSql('id', CHUNK_RECORDS)} AND ${isPublished(kind)}`;

const partOf = (kind: Kind, number: number): string => `${kind}-${String(number).padStart(8, '0')}`;

/** The shards of a kind, which cover all ids and begin where chunks do. */
export function shardsOf(register: Register, { kind, plural }: Resource): readonly Shard[] {
  const following = register.asked<[start: number], [id: number]>(
    `SELECT id FROM ${name(plural)} WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${SHARD_RECORDS - 1}`,
  );
  const begins = register.asked<[from: number], [id: number]>(
    `SELECT id FROM ${name(plural)} WHERE id >= ? AND ${beginsHere(kind)} ORDER BY id LIMIT 1`,
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

export interface Detection {
  /** The folder of the fingerprints to compare with, if any. */
  readonly old: string | undefined;
  /** The folder of patches, with a folder per hash file and in it a patch per shard. */
  readonly patches: string;
}

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
  /** Added, changed and removed records, ascending: the keys in the patch of the kind's records. */
  readonly changed: readonly number[];
}

/** Compares a shard's fingerprints with the previous snapshot's, and writes the patches. */
export function detectChanges(register: Register, shard: Shard, { old, patches }: Detection): Detected {
  const resource = resourceOf(shard.kind);
  const compared = (file: string, onGone?: (old: Entry) => void): PatchWriter =>
    new PatchWriter({
      old: old === undefined ? undefined : join(old, file),
      patch: join(patches, file, shard.part),
      range: shard,
      ...(onGone && { onGone }),
    });
  const tables = tablesOf(resource).map(
    (table) =>
      new TableDetector(
        table.name,
        new RowReader(register, shard.kind, table),
        compared(chunksFile(table.name)),
      ),
  );
  const changed: number[] = [];
  const records = compared(recordsFile(shard.kind), ({ key }) => void changed.push(key));
  try {
    const begins = beginsOf(register, resource, shard);
    const before = old === undefined ? [] : keysIn(join(old, chunksFile(resource.plural)), shard);
    const ends = new Map(begins.map((low, index) => [low, (begins[index + 1] ?? shard.high + 1) - 1]));
    const all = [...new Set([...begins, ...before])].toSorted((a, b) => a - b);
    for (const [index, low] of all.entries()) {
      const high = (all[index + 1] ?? shard.high + 1) - 1;
      const end = ends.get(low);
      const chunk = end === undefined ? undefined : { low, high: end };
      // Not `some`: each call also records the table's fingerprint.
      const differing = tables.filter((table) => table.compare(low, chunk));
      if (differing.length === 0) continue;
      records.keepBelow(low);
      for (const entry of fingerprintsOf(tables, { low, high }))
        if (records.put(entry) !== 'unchanged') changed.push(entry.key);
      records.removeBelow(high + 1);
    }
    records.keepBelow(Number.POSITIVE_INFINITY);
    for (const writer of [...tables, records]) writer.finish();
    return { tables: tables.map(({ found }) => found), changed };
  } finally {
    for (const writer of [...tables, records]) writer.close();
  }
}

/** The lowest id of each chunk of a shard. */
function beginsOf(register: Register, { kind, plural }: Resource, { low, high }: Shard): readonly number[] {
  const sql = `SELECT id FROM ${name(plural)} WHERE id > ${low} AND id <= ${high} AND ${beginsHere(kind)} ORDER BY id`;
  return [low, ...[...register.rows<[number]>(sql)].flat()];
}

/** Deletes what `detectChanges` wrote. */
export function forgetChanges({ kind, part }: Shard, { patches }: Detection): void {
  for (const file of fingerprintFiles(resourceOf(kind))) rmSync(join(patches, file, part), { force: true });
}

/** One fingerprint per record, over its rows in all tables. */
function fingerprintsOf(tables: readonly TableDetector[], range: KeyRange): readonly Entry[] {
  const found = new Map<number, Buffer[]>();
  for (const [index, { reader }] of tables.entries()) {
    reader.forEachRecord(range, (id, rows) => {
      const hashes = found.get(id) ?? tables.map(() => NO_HASH);
      hashes[index] = hash('sha256', rows, 'buffer');
      found.set(id, hashes);
    });
  }
  return [...found]
    .map(([key, hashes]) => ({ key, bytes: 0, hash: hash('sha256', Buffer.concat(hashes), 'buffer') }))
    .toSorted((a, b) => a.key - b.key);
}

/** Compares the chunks of one table. */
class TableDetector {
  readonly reader: RowReader;
  readonly #table: string;
  readonly #chunks: PatchWriter;
  #rows = 0;
  #records = 0;
  #isChanged = false;

  constructor(table: string, reader: RowReader, chunks: PatchWriter) {
    this.#table = table;
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
    // `bytes` holds the number of records, which is counted only if the chunk changed.
    const bytes = old?.hash.equals(found.hash) === true ? old.bytes : this.#count(chunk);
    this.#rows += found.rows;
    this.#records += bytes;
    return this.#chunks.put({ key: low, bytes, hash: found.hash }) !== 'unchanged';
  }

  #count(chunk: KeyRange): number {
    let count = 0;
    this.reader.forEachRecord(chunk, () => (count += 1));
    return count;
  }

  get found(): TableChanges {
    return { table: this.#table, rows: this.#rows, records: this.#records, isChanged: this.#isChanged };
  }

  finish(): void {
    this.#chunks.finish();
  }

  close(): void {
    this.#chunks.close();
  }
}
