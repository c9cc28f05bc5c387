/** What is published, as the state has it. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../base/portable.js';
import type { Database, Statement } from '../base/sqlite/sqlite.js';
import { treeDigest, type RouteSummary } from '../tree/digest.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { locatedRoute } from '../tree/snapshot-route.js';
import { areWhole, chunksOver, documentsOf, summaryOf, type Entry } from './documents.js';
import {
  asStateFailure,
  closeState,
  damagedState,
  describedSchema,
  isDamagedState,
  readState,
  withState,
  writeState,
  type Described,
} from './schema.js';

/** Which snapshot of which tree. */
export interface SnapshotId {
  readonly tree: string;
  readonly sequence: number;
  readonly digest: string;
}

/** A commit. */
export interface Committed extends SnapshotId {
  /** Numbers the commits of this state. */
  readonly number: number;
  /** `committing` moves and deletes files; `unchanged` moves those that are no documents. */
  readonly stage: 'committing' | 'unchanged' | 'published';
  readonly isReported: boolean;
  /** A sum over the rows of what it changed; null if there are none, since everything may have changed. */
  readonly changes: string | null;
  readonly described: Described;
}

/** A document that changed: the numbers of its files, with siblings, that are put and that there were before. */
export interface ChangedDocument {
  readonly key: number;
  readonly files: number;
  readonly replaced: number;
}

/** A file that is no document. */
export interface OwnFile {
  readonly name: string;
  readonly isPut: boolean;
  /** Whether a cache may hold another response. */
  readonly isCached: boolean;
}

/** A route whose documents the state has. */
export interface StateRoute {
  readonly id: number;
  readonly route: PublishedRoute;
  /** The paths of pages that are there only along with a document of the route. */
  readonly pages: readonly string[];
  /** Whether only an earlier snapshot has it. */
  readonly isFormer: boolean;
}

const routeSchema = locatedRoute.extend({ pages: z.array(z.string()) });

interface Row extends SnapshotId {
  readonly number: number;
  readonly stage: string;
  readonly reported: string;
  readonly changes: string | null;
  readonly described: string;
  readonly sum: string;
}

export class State implements Disposable {
  readonly database: Database;
  readonly file: string;
  readonly #statements = new Map<string, Statement<unknown[]>>();
  #routes: readonly StateRoute[] | undefined;

  protected constructor(database: Database, file: string) {
    this.database = database;
    this.file = file;
  }

  /** Opens what was committed last to read it; undefined if there is none. */
  static read(file: string): State | undefined {
    const database = readState(file);
    return database && new State(database, file);
  }

  /** Opens the state to change it, by whoever has the lock of the tree. */
  static open(file: string): State {
    return new State(writeState(file), file);
  }

  /** @throws Failure environment, invalid: SQLite can't */
  run<T>(work: () => T): T {
    return withState(this.file, work);
  }

  /** Rows of a statement that is run once. */
  rows<T>(sql: string, ...parameters: readonly unknown[]): T[] {
    return this.run(() => this.database.prepare<unknown[], T>(sql).all(...parameters));
  }

  /** The first column of the first row. */
  value(sql: string, ...parameters: readonly unknown[]): unknown {
    return this.run(() =>
      this.#statement(sql)
        .pluck()
        .get(...parameters),
    );
  }

  change(sql: string, ...parameters: readonly unknown[]): void {
    this.run(() => this.#statement(sql).run(...parameters));
  }

  /** Prepared once: many are the same for every route. */
  #statement(sql: string): Statement<unknown[]> {
    const statement = this.#statements.get(sql) ?? this.database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** The last commit; undefined if there is none, or what the state says of it was damaged. */
  get newest(): Committed | undefined {
    const [row] = this.rows<Row>('SELECT * FROM snapshot ORDER BY number DESC LIMIT 1');
    return row && this.#committed(row);
  }

  #committed(row: Row): Committed | undefined {
    const described = describedSchema.safeParse(parseJson(row.described)).data;
    if (described === undefined || row.sum !== this.#sumOf(row)) return undefined;
    const { number, tree, sequence, digest, changes } = row;
    const stage = row.stage === 'published' || row.stage === 'unchanged' ? row.stage : 'committing';
    const isReported = row.reported === 'yes';
    return { number, tree, sequence, digest, stage, isReported, changes, described };
  }

  /** All commits that are known, newest first. */
  *commits(): Generator<Committed> {
    for (const row of this.rows<Row>('SELECT * FROM snapshot ORDER BY number DESC')) {
      const committed = this.#committed(row);
      if (committed === undefined) return;
      yield committed;
    }
  }

  /** Whether a commit changed what its rows say: those may be as many as documents, so they are looked at where they are used. */
  knowsChangesOf({ number, changes }: Pick<Committed, 'number' | 'changes'>): boolean {
    return changes === null || changes === this.sumOfChanges(number);
  }

  /** @throws Failure invalid: the rows of what a commit changed are damaged */
  requireChangesOf(commit: Committed): void {
    if (!this.knowsChangesOf(commit)) throw damagedState(this.file, `the changes of commit ${commit.number}`);
  }

  /** What notices a flipped bit in a commit: SQLite has no checksums of its own. */
  #sumOf(row: Omit<Row, 'stage' | 'reported' | 'sum'>): string {
    const { number, tree, sequence, digest, changes, described } = row;
    const all = [number, tree, sequence, digest, changes, described, this.ownFiles(number)];
    return hash('sha256', JSON.stringify(all));
  }

  /** The same of the rows of what it changed. */
  protected sumOfChanges(number: number): string {
    const changed = this.rows(
      `SELECT route, count(*), sum(key % ${PRIME}), sum(files), sum(replaced) FROM change WHERE snapshot = ? GROUP BY route`,
      number,
    );
    return hash('sha256', JSON.stringify(changed));
  }

  /**
   * What notices a loss or another number in what is published, and in what it is made from. Other hashes
   * are noticed by the digest, and where they are compared.
   */
  #sumOfTables(): string {
    const tables = [
      'SELECT * FROM route ORDER BY id',
      `SELECT route, count(*), sum(key % ${PRIME}), total(bytes) FROM document GROUP BY route`,
      'SELECT route, total(documents), total(bytes) FROM chunk GROUP BY route',
      `SELECT source, count(*), sum(key % ${PRIME}), total(bytes) FROM fingerprint GROUP BY source`,
    ].map((sql) => this.rows(sql));
    return hash('sha256', JSON.stringify(tables));
  }

  /** Writes the sums of the last commit again, after a change. @param isTouched whether in what is published, too */
  protected seal(number: number, isTouched = true): void {
    const [row] = this.rows<Row>('SELECT * FROM snapshot WHERE number = ?', number);
    if (row === undefined) throw new TypeError(`there is no commit ${number}`);
    const known = describedSchema.parse(parseJson(row.described));
    const tables = isTouched ? this.#sumOfTables() : known.tables;
    const described = JSON.stringify({ ...known, ...(tables !== undefined && { tables }) });
    const sum = this.#sumOf({ ...row, described });
    this.change('UPDATE snapshot SET described = ?, sum = ? WHERE number = ?', described, sum, number);
  }

  /** Notes that the moves of the last commit are done. */
  markPublished(): void {
    this.change(`UPDATE snapshot SET stage = 'published' WHERE stage <> 'published'`);
  }

  /** Notes that operators have the lists of all commits. */
  markReported(): void {
    this.change(`UPDATE snapshot SET reported = 'yes' WHERE reported <> 'yes'`);
  }

  /** Makes the last commit one of no tree, so that the state is rebuilt; what it says of the sources is still believed. */
  distrust(): void {
    const { newest } = this;
    if (newest === undefined) return;
    this.change(`UPDATE snapshot SET digest = '', stage = 'published' WHERE number = ?`, newest.number);
    this.seal(newest.number);
  }

  protected insertOwnFiles(number: number, files: readonly OwnFile[]): void {
    const add = this.database.prepare('INSERT INTO own_file VALUES (?, ?, ?, ?)');
    for (const { name, isPut, isCached } of files) add.run(number, name, Number(isPut), Number(isCached));
  }

  /** How many files the documents of a route have that a commit changed, and how many they had. */
  changed(number: number, route: number): Iterable<ChangedDocument> {
    const sql = 'SELECT key, files, replaced FROM change WHERE snapshot = ? AND route = ? ORDER BY key';
    return this.database.prepare<[number, number], ChangedDocument>(sql).iterate(number, route);
  }

  /** Files that are no documents, which a commit put or deleted. */
  ownFiles(number: number): readonly OwnFile[] {
    return this.rows<{ name: string; is_put: number; is_cached: number }>(
      'SELECT name, is_put, is_cached FROM own_file WHERE snapshot = ? ORDER BY rowid',
      number,
    ).map(({ name, is_put, is_cached }) => ({ name, isPut: is_put !== 0, isCached: is_cached !== 0 }));
  }

  /** The routes of the last snapshot in the order of its table, then those of which a commit that is kept removed the last document. */
  get routes(): readonly StateRoute[] {
    return (this.#routes ??= this.#readRoutes());
  }

  /** @param position in the table of the last snapshot; null if that no longer has it */
  protected putRoute({ id, route, pages }: Omit<StateRoute, 'isFormer'>, position: number | null): void {
    const json = JSON.stringify({ ...route, pages });
    const { name, path, file } = route;
    this.change(
      'INSERT OR REPLACE INTO route VALUES (?, ?, ?, ?, ?, ?)',
      id,
      name,
      path,
      file,
      position,
      json,
    );
    this.#routes = undefined;
  }

  #readRoutes(): readonly StateRoute[] {
    const rows = this.rows<{ id: number; position: number | null; json: string }>(
      'SELECT id, position, json FROM route ORDER BY position IS NULL, position',
    );
    return rows.map(({ id, position, json }) => {
      const { data } = routeSchema.safeParse(parseJson(json));
      if (data === undefined) throw damagedState(this.file, `the route ${id}`);
      const { pages, ...route } = data;
      return { id, route, pages, isFormer: position === null };
    });
  }

  /** A route of the last snapshot. */
  routeNamed(name: string): StateRoute | undefined {
    return this.routes.find(({ route, isFormer }) => !isFormer && route.name === name);
  }

  /** The id of a route of the last snapshot. */
  idOf = (name: string): number => this.routeNamed(name)?.id ?? NO_ROUTE;

  /** Finds documents of a route by their keys. */
  finder(id: number): (key: number) => Entry | undefined {
    const find = this.run(() =>
      this.database.prepare<[number, number], Entry>(
        'SELECT key, bytes, hash FROM document WHERE route = ? AND key = ?',
      ),
    );
    return (key) => this.run(() => find.get(id, key));
  }

  /** The documents of a route, in key order. */
  documents = (id: number): Generator<Entry> => documentsOf(this.database, id);

  /** The chunks of a route's documents. */
  chunks = ({ id, route }: StateRoute) => chunksOver(this.database, id, route);

  /** What the digest says of a route. */
  summary = (id: number): RouteSummary => summaryOf(this.database, id);

  /** The digest over the chunks of all routes. */
  get digest(): string {
    const routes = this.routes.filter(({ isFormer }) => !isFormer);
    return treeDigest(
      routes.map(({ route }) => route),
      ({ name }) => this.summary(this.idOf(name)),
    );
  }

  /** Whether every document is what its chunk says. */
  get isWhole(): boolean {
    return this.#unlessDamaged(() =>
      this.routes.every(({ id, route }) => areWhole(this.database, id, route)),
    );
  }

  /** Whether the state is undamaged, as far as that is seen without reading all documents, and of a digest. */
  isSound(digest?: string): boolean {
    return this.#unlessDamaged(() => {
      if (this.value('PRAGMA quick_check(1)') !== 'ok') return false;
      const { newest } = this;
      if (newest === undefined || (digest !== undefined && newest.digest !== digest)) return false;
      if (newest.described.tables !== this.#sumOfTables()) return false;
      return this.digest === (newest.described.marked ?? newest.digest);
    });
  }

  /** @returns false if SQLite can't read what is asked for, since it is damaged */
  #unlessDamaged(isTrue: () => boolean): boolean {
    try {
      return isTrue();
    } catch (error) {
      if (isDamagedState(asStateFailure(error, this.file))) return false;
      throw error;
    }
  }

  close(): void {
    closeState(this.database);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Another bit in any key is another remainder. */
const PRIME = 1_000_000_007;

/** The id of no route. */
export const NO_ROUTE = -1;
