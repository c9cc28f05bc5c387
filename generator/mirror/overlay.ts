/**
 * The documents that a run learned of, in a temporary database, so that memory stays flat: those of
 * `other.ndjson.gz`, of bundles and of lists. What is added later replaces what was there.
 */
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { codeOf, messageOf } from '../errors.js';
import { gunzippedLines } from '../tree/gunzipped-lines.js';
import { openDatabase } from '../sqlite/index.js';
import type { Database, Statement } from '../sqlite/index.js';
import { parseJson } from '../portable.js';
import { bundleHeader, bundleLine } from './origin.js';
import type { Address, BundleLine } from './origin.js';

/** The longest line of a bundle: 64 MiB. */
const LINE_BYTES = 64 * 1024 * 1024;

/** The bodies of a line, or of a file's lines, are not what they should be. */
export class Damaged extends Error {}

export interface Row {
  readonly key: number;
  /** Null if the document is deleted. */
  readonly bytes: number | null;
  /** In hex; null if nothing says it, and `bytes` is the most that it can be. */
  readonly sha256: string | null;
  /** Null if it is to be fetched from its path. */
  readonly body: Buffer | null;
}

export class Overlay {
  readonly #file: string;
  readonly #database: Database;
  readonly #put: Statement<[string, number, number | null, string | null, Buffer | null]>;
  readonly #mostBytes: number;
  readonly #addressOf: (path: string) => Address | undefined;
  readonly #pause: () => Promise<void>;

  /**
   * @param mostBytes what the bodies of one file may have in all, and its lines without bodies
   * @param pause called now and then, so that signals are handled
   */
  constructor(
    file: string,
    mostBytes: number,
    addressOf: (path: string) => Address | undefined,
    pause: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#pause = pause;
    this.#file = file;
    this.#mostBytes = mostBytes;
    this.#addressOf = addressOf;
    deleteDatabase(file);
    this.#database = openDatabase(file);
    // The journal is a file: in memory, it would grow with what a bundle replaces.
    this.#database.exec(`PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;
      CREATE TABLE document (route TEXT, key INTEGER, bytes INTEGER, sha256 TEXT, body BLOB,
        PRIMARY KEY (route, key)) STRICT;
      CREATE INDEX missing ON document (route, key, bytes, sha256) WHERE body IS NULL AND bytes IS NOT NULL`);
    this.#put = this.#database.prepare('INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?)');
  }

  close(): void {
    this.#database.close();
    deleteDatabase(this.#file);
  }

  /** Adds a document by its route and key. */
  add({ route, key }: Address, row: Omit<Row, 'key'>): void {
    this.#put.run(route.name, key, row.bytes, row.sha256, row.body);
  }

  /** @throws Damaged: no route has the path, or the body is another */
  addLine(line: BundleLine): void {
    const address = this.#addressOf(line.path);
    // With a route that the snapshot lacks, all its documents go.
    if (address === undefined && 'deleted' in line) return;
    if (address === undefined) throw new Damaged(`no route has the path "${line.path}"`);
    if ('deleted' in line) return this.add(address, { bytes: null, sha256: null, body: null });
    const { path, bytes, sha256 } = line;
    const body = line.body === undefined ? null : Buffer.from(line.body);
    if (body !== null && (body.length !== bytes || hash('sha256', body) !== sha256)) {
      throw new Damaged(`the body of "${path}" is not what its line says`);
    }
    this.add(address, { bytes, sha256, body });
  }

  /** Adds all that some work adds, or nothing if it fails. */
  async addWhole(work: () => Promise<void>): Promise<void> {
    this.#database.exec('BEGIN');
    try {
      await work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Adds all lines of a file, or none.
   * @param step the snapshots between which a bundle leads; undefined for documents of one snapshot
   * @throws Damaged
   */
  addFile(file: string, step?: { tree: string; from: number; to: number }): Promise<void> {
    return this.addWhole(async () => {
      let isFirst = step !== undefined;
      let content = 0;
      for await (const line of linesOf(file)) {
        await this.#pause();
        if (isFirst) {
          const header = bundleHeader.safeParse(parseJson(line)).data;
          const isOfStep =
            header?.tree === step?.tree && header?.from === step?.from && header?.to === step?.to;
          if (!isOfStep) throw new Damaged(`"${file}" is of another step`);
          isFirst = false;
          continue;
        }
        const { data } = bundleLine.safeParse(parseJson(line));
        if (data === undefined) throw new Damaged(`"${file}" has a line of another form`);
        content += 'body' in data ? data.bytes : line.length;
        if (content > this.#mostBytes) {
          throw new Damaged(`"${file}" has more than ${this.#mostBytes} bytes of documents`);
        }
        this.addLine(data);
      }
    });
  }

  /** The rows of a route, in ascending order of their keys. */
  rows(route: string): IterableIterator<Row> {
    const select = 'SELECT key, bytes, sha256, body FROM document WHERE route = ? ORDER BY key';
    return this.#database.prepare<[string], Row>(select).iterate(route);
  }

  /** Documents to fetch, of a route, in pages: the database can be written meanwhile. */
  missing(route: string, after: number): readonly Row[] {
    const select = `SELECT key, bytes, sha256, body FROM document
      WHERE route = ? AND key > ? AND body IS NULL AND bytes IS NOT NULL ORDER BY key LIMIT 1000`;
    return this.#database.prepare<[string, number], Row>(select).all(route, after);
  }

  /** How many documents of each route are to be fetched, and their size as far as it is known. */
  get rest(): readonly { readonly route: string; readonly documents: number; readonly bytes: number }[] {
    const select = `SELECT route, count(*) AS documents, sum(iif(sha256 IS NULL, 0, bytes)) AS bytes
      FROM document WHERE body IS NULL AND bytes IS NOT NULL GROUP BY route`;
    return this.#database.prepare<[], { route: string; documents: number; bytes: number }>(select).all();
  }

  /** Whether anything is known of a document. */
  has({ route, key }: Address): boolean {
    const select = 'SELECT 1 FROM document WHERE route = ? AND key = ?';
    return this.#database.prepare<[string, number]>(select).get(route.name, key) !== undefined;
  }
}

/** Deletes the database of a run that ended or was killed, along with its journal. */
export function deleteDatabase(file: string): void {
  for (const name of [file, `${file}-journal`]) rmSync(name, { force: true });
}

/** The lines of a gzip file of the origin. @throws Damaged */
export async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  try {
    yield* gunzippedLines(file, LINE_BYTES);
  } catch (error) {
    const isDamaged = error instanceof RangeError || codeOf(error)?.startsWith('Z_') === true;
    throw isDamaged ? new Damaged(`"${file}": ${messageOf(error)}`) : error;
  }
}
