/**
 * The state of the next snapshot: the differences that threads have found are applied in one
 * transaction, in which all that follows from them is computed. Until its COMMIT nothing has happened.
 */
import type { KeyRange } from '../base/cursor.js';
import type { Failure } from '../base/errors.js';
import { isSqliteError, openDatabase, prepared, type Database } from '../base/sqlite/sqlite.js';
import {
  DIFFERENCES,
  allowReaders,
  damagedState,
  emptyState,
  readState,
  withState,
  writeState,
  type Described,
} from './schema.js';
import {
  ALL_KEYS,
  areWhole,
  putChunks,
  replaceChunks,
  storedChunks,
  type Chunk,
  type Entry,
  type TextChunk,
} from './documents.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { HASH_BYTES, leafHash } from '../base/merkle.js';
import { filler, urlTemplate } from '../routes/route.js';
import { namesOf } from '../tree/codings.js';
import type { ComparedFiles, Difference } from './compare.js';
import { State, type OwnFile, type SnapshotId, type StateRoute } from './state.js';

/** Numbers of documents. */
export interface Changes {
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
}

export function totalOf(all: Iterable<Readonly<Changes>>): Readonly<Changes> {
  const total = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  for (const changes of all)
    for (const what of ['added', 'changed', 'removed', 'unchanged'] as const) total[what] += changes[what];
  return total;
}

/** A route whose documents are compared with those of the last snapshot. */
export interface ComparedRoute extends StateRoute {
  /** Whether the state has documents of it. */
  readonly isPublished: boolean;
  /** Whether the files of a former route stay: they are of assets that pages in caches still load. */
  readonly stays: boolean;
}

/** What a commit records. */
export interface Commit {
  readonly id: SnapshotId;
  readonly described: Described;
  /** The routes of the next snapshot in the order of its table, then former ones. */
  readonly routes: readonly ComparedRoute[];
  readonly own: readonly OwnFile[];
  /** Whether the stage has something under the name of a file. */
  readonly isStaged: (file: string) => boolean;
}

const NONE = { added: 0, changed: 0, removed: 0 };

/** If more of a route's documents differ, all its chunks are computed, in one pass. */
const FEW = 1 / 8;

/** Creates the database of differences. */
export function createDifferences(file: string): void {
  withState(file, () => {
    const database = openDatabase(file);
    try {
      database.exec(DIFFERENCES);
    } finally {
      database.close();
    }
  });
}

/** A range of whole chunks in which documents differ. */
interface TouchedRange extends KeyRange {
  /** Whether documents are added or removed, so that chunks may begin elsewhere. */
  readonly isCut: boolean;
}

/** A document that has other content. */
interface ChangedDocument {
  readonly key: number;
  readonly hash: Buffer;
  /** By how much it has grown. */
  readonly more: number;
}

/** The documents of a route of the next snapshot, in key order and in any thread, once all are found. */
export function* nextDocuments({ state, differences }: ComparedFiles, id: number): Generator<Entry> {
  const database = (state === undefined ? undefined : readState(state)) ?? emptyState();
  try {
    database.prepare('ATTACH ? AS next').run(differences);
    yield* database
      .prepare<[number, number], Entry>(
        'SELECT key, bytes, hash FROM main.document AS d WHERE route = ? AND NOT EXISTS' +
          ' (SELECT 1 FROM next.document AS n WHERE n.route = d.route AND n.key = d.key)' +
          ' UNION ALL SELECT key, bytes, hash FROM next.document WHERE route = ? AND hash IS NOT NULL ORDER BY key',
      )
      .iterate(id, id);
  } finally {
    database.close();
  }
}

/** Of a state that has the differences as `next`. */
const differencesIn = prepared((database) =>
  database.prepare<[route: number], Omit<Changes, 'unchanged'>>(
    'SELECT count(*) FILTER (WHERE replaced = 0) AS added, count(*) FILTER (WHERE hash IS NULL) AS removed,' +
      ' count(*) FILTER (WHERE hash IS NOT NULL AND replaced > 0) AS changed FROM next.document WHERE route = ?',
  ),
);
const changedIn = prepared((database) =>
  database.prepare<[route: number, low: number, high: number], ChangedDocument>(
    'SELECT key, n.hash, n.bytes - d.bytes AS more FROM next.document AS n JOIN main.document AS d' +
      ' USING (route, key) WHERE route = ? AND key BETWEEN ? AND ?',
  ),
);

export class NextState extends State {
  readonly #changes = new Map<number, Readonly<Changes>>();
  readonly #applied = new Set<number>();
  readonly #sources = new Map<number, string>();

  private constructor(database: Database, file: string, differences: string) {
    super(database, file);
    this.change('ATTACH ? AS next', differences);
    this.run(() =>
      database.exec(
        'PRAGMA next.journal_mode = OFF; PRAGMA next.synchronous = OFF; PRAGMA next.cache_size = -2048',
      ),
    );
  }

  /** For whoever has the lock of the tree. @param differences see `createDifferences` */
  static begin(file: string, differences: string): NextState {
    const database = writeState(file);
    try {
      withState(file, () => allowReaders(database));
      return new NextState(database, file, differences);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Only reads the state: nothing is applied. */
  static dryRun(file: string | undefined, differences: string): NextState {
    const published = file === undefined ? undefined : readState(file);
    return new NextState(published ?? emptyState(), file ?? ':memory:', differences);
  }

  /** What differs of a route's documents, and how many don't. */
  changesOf({ id }: Pick<StateRoute, 'id'>): Readonly<Changes> {
    const known = this.#changes.get(id);
    if (known !== undefined) return known;
    const { added, changed, removed } = this.run(() => differencesIn(this.database).get(id)) ?? NONE;
    const before = Number(this.value('SELECT ifnull(sum(documents), 0) FROM chunk WHERE route = ?', id));
    const changes = { added, changed, removed, unchanged: before - changed - removed };
    this.#changes.set(id, changes);
    return changes;
  }

  /** The differences of a route, in key order: all, or only what is put. */
  differences(id: number, which: 'all' | 'put' = 'all'): IterableIterator<Difference> {
    const what = which === 'put' ? 'AND hash IS NOT NULL' : '';
    return this.database
      .prepare<[number], Difference>(
        `SELECT key, bytes, hash, files, replaced FROM next.document WHERE route = ? ${what} ORDER BY key`,
      )
      .iterate(id);
  }

  /** The keys of removed documents. */
  removedKeys(id: number): readonly number[] {
    return this.database
      .prepare<[number], number>(
        'SELECT key FROM next.document WHERE route = ? AND hash IS NULL ORDER BY key',
      )
      .pluck()
      .all(id);
  }

  /** How many files a commit moves. */
  get placed(): number {
    return Number(this.value('SELECT ifnull(sum(files), 0) FROM next.document'));
  }

  /**
   * Applies the differences of a route, once all are found.
   * @throws Failure invalid: the state is damaged
   */
  apply({ id, route }: StateRoute): void {
    if (this.#applied.has(id)) return;
    const { added, changed, removed, unchanged } = this.changesOf({ id });
    this.#applied.add(id);
    this.#begin();
    if (added + changed + removed === 0) return;
    const before = changed + removed + unchanged;
    const isMuch = added + changed + removed > FEW * before;
    const ranges = isMuch ? [{ ...ALL_KEYS, isCut: true }] : this.#touchedRanges(id);
    const chunks: Chunk[] = [];
    const change = this.#chunkChanger(id, route);
    // Before documents change, their chunks show silent damage of the disk.
    for (const range of ranges) {
      const take = range.isCut ? undefined : (chunk: TextChunk) => void chunks.push(change(chunk));
      if (!areWhole(this.database, id, route, range, take)) throw this.#damaged(route);
    }
    const staged = 'FROM next.document WHERE route = ? AND hash IS';
    this.change(`DELETE FROM document WHERE route = ? AND key IN (SELECT key ${staged} NULL)`, id, id);
    this.change(`INSERT OR REPLACE INTO document SELECT route, key, bytes, hash ${staged} NOT NULL`, id);
    putChunks(this.database, id, chunks);
    for (const range of ranges) if (range.isCut) replaceChunks(this.database, id, route, range);
  }

  /** Puts the hashes of changed documents into the text of a chunk, since joining it takes far longer. */
  #chunkChanger(id: number, route: PublishedRoute): (chunk: TextChunk) => Chunk {
    const urlOf = filler(urlTemplate(route));
    const changed = this.run(() => changedIn(this.database));
    return ({ text: before, ...chunk }) => {
      let [text, bytes] = [before, chunk.bytes];
      for (const { key, hash, more } of this.run(() => changed.all(id, chunk.key, chunk.last))) {
        const at = text.indexOf(`  ${urlOf(key)}\n`);
        if (at < 2 * HASH_BYTES) throw this.#damaged(route);
        text = text.slice(0, at - 2 * HASH_BYTES) + hash.toString('hex') + text.slice(at);
        bytes += more;
      }
      return { ...chunk, bytes, leaf: leafHash(text) };
    };
  }

  #damaged({ name }: PublishedRoute): Failure {
    return damagedState(this.file, `documents of the route ${name}`);
  }

  isApplied({ id }: Pick<StateRoute, 'id'>): boolean {
    return this.#applied.has(id);
  }

  #begin(): void {
    if (!this.database.inTransaction) this.run(() => this.database.exec('BEGIN IMMEDIATE'));
  }

  /**
   * The ranges of chunks that are touched. If the first document of a chunk is removed, the rest belongs to
   * the chunk before.
   */
  #touchedRanges(id: number): readonly TouchedRange[] {
    const starts = storedChunks(this.database, id).map(({ key }) => key);
    const touched = new Map<number, boolean>();
    let at = 0;
    for (const { key, hash, replaced } of this.differences(id)) {
      while ((starts[at + 1] ?? Number.POSITIVE_INFINITY) <= key) at += 1;
      const isCut = hash === null || replaced === 0;
      touched.set(at, isCut || touched.get(at) === true);
      if (hash === null && starts[at] === key && at > 0) touched.set(at - 1, true);
    }
    const ranges: { low: number; high: number; isCut: boolean }[] = [];
    for (const [index, isCut] of [...touched].toSorted(([a], [b]) => a - b)) {
      const low = index === 0 ? 0 : (starts[index] ?? 0);
      const high = (starts[index + 1] ?? ALL_KEYS.high + 1) - 1;
      const last = ranges.at(-1);
      if (last?.high === low - 1 && last.isCut === isCut) last.high = high;
      else ranges.push({ low, high, isCut });
    }
    return ranges;
  }

  /** Applies the differences of fingerprints. @param isContinued whether they were compared with the published ones */
  applySource(id: number, name: string, isContinued: boolean): void {
    this.#begin();
    this.#sources.set(id, name);
    const staged = 'FROM next.fingerprint WHERE source = ? AND hash IS';
    if (isContinued)
      this.change(`DELETE FROM fingerprint WHERE source = ? AND key IN (SELECT key ${staged} NULL)`, id, id);
    else this.change('DELETE FROM fingerprint WHERE source = ?', id);
    this.change(`INSERT OR REPLACE INTO fingerprint SELECT * ${staged} NOT NULL`, id);
  }

  /** Records a commit: until `commit`, it has not happened. */
  record({ id, described, routes, own, isStaged }: Commit): void {
    this.#begin();
    const last = this.newest;
    const number = (last?.number ?? 0) + 1;
    this.run(() => {
      // Of a first snapshot, everything is new.
      if (last !== undefined) for (const route of routes) this.#recordChanges(number, route, isStaged);
      this.change(
        `INSERT INTO snapshot VALUES (?, ?, ?, ?, 'committing', 'no', ?, ?, '')`,
        number,
        id.tree,
        id.sequence,
        id.digest,
        last === undefined ? null : this.sumOfChanges(number),
        JSON.stringify(described),
      );
      this.insertOwnFiles(number, own);
      this.#recordRoutes(routes);
      this.#recordSources();
      this.#drop(number);
      this.seal(number);
    });
  }

  /** Records that a build has changed nothing but snapshot.json, and what that is made from. */
  recordUnchanged(described: Described): void {
    this.#begin();
    const { number = 0, described: { tables } = {} } = this.newest ?? {};
    const isTouched = this.#recordSources() || this.value('SELECT 1 FROM next.fingerprint') !== undefined;
    this.change(
      `UPDATE snapshot SET stage = 'unchanged', described = ? WHERE number = ?`,
      JSON.stringify({ ...described, ...(tables !== undefined && { tables }) }),
      number,
    );
    this.seal(number, isTouched);
  }

  #recordChanges(number: number, compared: ComparedRoute, isStaged: Commit['isStaged']): void {
    const { id, isFormer, stays } = compared;
    if (stays) return;
    this.change(
      'INSERT INTO change SELECT ?, route, key, files, replaced FROM next.document WHERE route = ?',
      number,
      id,
    );
    if (isFormer) this.#recordStaying(number, compared, isStaged);
  }

  /** Of a former route, files stay in whose place a document of another one is put, or a folder of them. */
  #recordStaying(number: number, { id, route }: ComparedRoute, isStaged: Commit['isStaged']): void {
    const fileOf = filler(route.file);
    const staying: (readonly [files: number, key: number])[] = [];
    for (const { key, replaced } of this.differences(id)) {
      const names = namesOf(fileOf(key), 0, 0).slice(0, replaced);
      const gone = names.findIndex((name) => !isStaged(name));
      if (gone !== 0) staying.push([gone < 0 ? replaced : gone, key]);
    }
    const keep = this.database.prepare(
      'UPDATE change SET files = ? WHERE snapshot = ? AND route = ? AND key = ?',
    );
    for (const [files, key] of staying) keep.run(files, number, id, key);
  }

  #recordRoutes(routes: readonly ComparedRoute[]): void {
    this.change('UPDATE route SET position = NULL');
    for (const [position, route] of routes.entries()) this.putRoute(route, route.isFormer ? null : position);
  }

  /** Keeps the fingerprints that were applied, and no others. @returns whether there are others */
  #recordSources(): boolean {
    const others = this.rows<{ id: number }>('SELECT id FROM source').filter(
      ({ id }) => !this.#sources.has(id),
    );
    for (const { id } of others) this.change('DELETE FROM fingerprint WHERE source = ?', id);
    this.change('DELETE FROM source');
    for (const [id, name] of this.#sources) this.change('INSERT INTO source VALUES (?, ?)', id, name);
    return others.length > 0;
  }

  /** Drops what earlier commits changed of which operators have their lists. @param newest stays */
  #drop(newest: number): void {
    const reported = "SELECT number FROM snapshot WHERE number < ? AND reported = 'yes'";
    for (const table of ['change', 'own_file'])
      this.change(`DELETE FROM ${table} WHERE snapshot IN (${reported})`, newest);
    this.change("DELETE FROM snapshot WHERE number < ? AND reported = 'yes'", newest);
    this.change(
      'DELETE FROM route WHERE position IS NULL AND NOT EXISTS (SELECT 1 FROM snapshot JOIN change' +
        ' ON snapshot = number WHERE change.route = route.id)',
    );
  }

  /** The point of no return. */
  commit(): void {
    this.run(() => this.database.exec('COMMIT'));
    try {
      // What is noted later then takes the place of this in the WAL, where there is room on a full disk, too.
      this.database.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    }
  }

  rollBack(): void {
    if (this.database.inTransaction) this.run(() => this.database.exec('ROLLBACK'));
  }

  override close(): void {
    if (!this.database.open) return;
    try {
      this.rollBack();
      this.run(() => this.database.exec('DETACH next'));
    } finally {
      super.close();
    }
  }
}
