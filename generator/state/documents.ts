/**
 * The documents of a route in the state, and the chunks of the digest over them (see tree/digest.ts).
 * SQL joins what is read at once: row by row it takes several times as long.
 */
import { prepared, type Database } from '../base/sqlite/sqlite.js';
import type { KeyRange } from '../base/cursor.js';
import { HASH_BYTES, TreeHead, leafHash } from '../base/merkle.js';
import { fillerSql, urlTemplate } from '../routes/route.js';
import { DIGEST_CHUNK, beginsChunkSql } from '../tree/chunks.js';
import type { RouteSummary } from '../tree/digest.js';
import type { HashedContent } from '../tree/measure.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { withState } from './schema.js';

export interface Entry extends HashedContent {
  readonly key: number;
}

export const ALL_KEYS: KeyRange = { low: 0, high: Number.MAX_SAFE_INTEGER };

/** What is compared: the documents of a route, or fingerprints of a source. */
export type EntryTable = 'document' | 'fingerprint';
const LIST = { document: 'route', fingerprint: 'source' } as const;

/** How many entries are read at once, at most. */
export const MOST_AT_ONCE = 4096;

/** Entries in key order. */
export interface Page {
  readonly keys: readonly number[];
  readonly bytes: readonly number[];
  /** One after another. */
  readonly hashes: Buffer;
}

/** Numbers joined by commas, and hashes one after another; null without entries. */
interface Row {
  readonly keys: Buffer | null;
  readonly bytes: Buffer | null;
  readonly hashes: Buffer | null;
}

const COMMA = 44;
const ZERO = 48;

/** The numbers in an ASCII text. Splitting it into strings takes several times as long. */
function numbersIn(text: Buffer | null | undefined): number[] {
  const numbers: number[] = [];
  if (text === null || text === undefined) return numbers;
  let number = 0;
  for (const digit of text) {
    if (digit === COMMA) {
      numbers.push(number);
      number = 0;
    } else number = 10 * number + (digit - ZERO);
  }
  numbers.push(number);
  return numbers;
}

/** Reads entries of a list, up to a number of them, beginning at a key. */
export type ReadPage = (from: number, limit: number) => Page;

const pageOf = (table: EntryTable) =>
  prepared((database) =>
    database.prepare<[number, number, number, number], Row>(
      `SELECT CAST(group_concat(key) AS BLOB) AS keys, CAST(group_concat(bytes) AS BLOB) AS bytes,` +
        ` CAST(group_concat(hash, '') AS BLOB) AS hashes FROM (SELECT key, bytes, hash FROM ${table} WHERE ${LIST[table]} = ? AND key BETWEEN ? AND ? ORDER BY key LIMIT ?)`,
    ),
  );
const PAGE = { document: pageOf('document'), fingerprint: pageOf('fingerprint') };

export const pageReader =
  (database: Database, table: EntryTable, list: number, { high }: KeyRange = ALL_KEYS): ReadPage =>
  (from, limit) => {
    const row = withState(database.name, () => PAGE[table](database).get(list, from, high, limit));
    return {
      keys: numbersIn(row?.keys),
      bytes: numbersIn(row?.bytes),
      hashes: row?.hashes ?? Buffer.alloc(0),
    };
  };

/** All pages of a range. */
function* pagesOf(read: ReadPage, low: number): Generator<Page> {
  for (let from = low; ;) {
    const page = read(from, MOST_AT_ONCE);
    yield page;
    if (page.keys.length < MOST_AT_ONCE) return;
    from = (page.keys.at(-1) ?? 0) + 1;
  }
}

/** The documents of a route, in key order. */
export function* documentsOf(database: Database, route: number): Generator<Entry, void, undefined> {
  for (const { keys, bytes, hashes } of pagesOf(pageReader(database, 'document', route), 0))
    for (const [at, key] of keys.entries())
      yield {
        key,
        bytes: bytes[at] ?? 0,
        hash: hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
      };
}

/** A chunk, under the key of its first document. */
export interface Chunk {
  readonly key: number;
  readonly documents: number;
  readonly bytes: number;
  readonly leaf: Buffer;
}

/** A chunk with the text that its leaf is over. */
export interface TextChunk extends Chunk {
  readonly text: string;
  /** The last key that belongs to it. */
  readonly last: number;
}

const IN_RANGE = 'route = ? AND key BETWEEN ? AND ?';
type InRange = [route: number, low: number, high: number];

const startsIn = prepared((database) =>
  database
    .prepare<InRange, number>(
      `WITH ranged AS (SELECT key FROM document WHERE ${IN_RANGE}) SELECT key FROM ranged` +
        ` WHERE key = (SELECT min(key) FROM ranged) OR ${beginsChunkSql('key', DIGEST_CHUNK)} ORDER BY key`,
    )
    .pluck(),
);
const storedIn = prepared((database) =>
  database.prepare<InRange, Chunk>(
    `SELECT key, documents, bytes, leaf FROM chunk WHERE ${IN_RANGE} ORDER BY key`,
  ),
);
const dropIn = prepared((database) => database.prepare<InRange>(`DELETE FROM chunk WHERE ${IN_RANGE}`));
const putChunk = prepared((database) =>
  database.prepare('INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?)'),
);
const firstOf = prepared((database) =>
  database.prepare<[route: number], number | null>('SELECT min(key) FROM document WHERE route = ?').pluck(),
);

/** The chunks of the documents in a range. */
export function* chunksOver(
  database: Database,
  id: number,
  route: Pick<PublishedRoute, 'path' | 'parameters'>,
  { low, high }: KeyRange = ALL_KEYS,
): Generator<TextChunk> {
  const starts = withState(database.name, () => startsIn(database).all(id, low, high));
  if (starts.length === 0) return;
  const chunk = withState(database.name, () =>
    database.prepare<InRange, Omit<TextChunk, 'key' | 'last' | 'leaf'>>(
      `SELECT count(*) AS documents, sum(bytes) AS bytes, group_concat(lower(hex(hash)) || '  ' || url || char(10), '') AS text` +
        ` FROM (SELECT bytes, hash, ${fillerSql(urlTemplate(route))} AS url FROM document WHERE ${IN_RANGE} ORDER BY key)`,
    ),
  );
  for (const [at, key] of starts.entries()) {
    const last = (starts[at + 1] ?? high + 1) - 1;
    const row = withState(database.name, () => chunk.get(id, key, last));
    if (row !== undefined) yield { key, last, ...row, leaf: leafHash(row.text) };
  }
}

/** What the state has of a route's chunks. */
export const storedChunks = (
  database: Database,
  route: number,
  { low, high }: KeyRange = ALL_KEYS,
): Chunk[] => withState(database.name, () => storedIn(database).all(route, low, high));

/**
 * Whether chunks are those of the documents: SQLite doesn't notice silent damage of the disk.
 * @param take called with each chunk that is
 */
export function areWhole(
  database: Database,
  id: number,
  route: Pick<PublishedRoute, 'path' | 'parameters'>,
  range?: KeyRange,
  take?: (chunk: TextChunk) => void,
): boolean {
  const stored = storedChunks(database, id, range);
  let count = 0;
  for (const found of chunksOver(database, id, route, range)) {
    const { key, documents, bytes, leaf } = found;
    const chunk = stored[count];
    const isSame = chunk?.key === key && chunk.documents === documents && chunk.bytes === bytes;
    if (!isSame || !chunk.leaf.equals(leaf)) return false;
    take?.(found);
    count += 1;
  }
  return count === stored.length;
}

/** Puts chunks, in place of those of the same keys. */
export function putChunks(database: Database, id: number, chunks: Iterable<Chunk>): void {
  withState(database.name, () => {
    const put = putChunk(database);
    for (const { key, documents, bytes, leaf } of chunks) put.run(id, key, documents, bytes, leaf);
  });
}

/** Replaces the chunks of a range by those of the documents. */
export function replaceChunks(
  database: Database,
  id: number,
  route: Pick<PublishedRoute, 'path' | 'parameters'>,
  range: KeyRange = ALL_KEYS,
): void {
  withState(database.name, () => dropIn(database).run(id, range.low, range.high));
  putChunks(database, id, chunksOver(database, id, route, range));
}

/** What the digest says of a route. */
export function summaryOf(database: Database, route: number): RouteSummary {
  const chunks = storedChunks(database, route);
  const head = new TreeHead();
  let [documents, bytes] = [0, 0];
  for (const chunk of chunks) {
    documents += chunk.documents;
    bytes += chunk.bytes;
    head.add(chunk.leaf);
  }
  return {
    documents,
    bytes,
    firstKey: withState(database.name, () => firstOf(database).get(route)) ?? null,
    root: head.head().toString('base64'),
  };
}
