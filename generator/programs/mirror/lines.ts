/**
 * The documents that a run learned of from bundles and `other.ndjson.gz`, in a temporary database.
 * The newest line of a document replaces those before it.
 */
import { hash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf } from '../../base/errors.js';
import { parseJson } from '../../base/portable.js';
import type { Progress } from '../../base/progress.js';
import { openDatabase, type Database, type Statement } from '../../base/sqlite/sqlite.js';
import { MovedOn, type Wanted } from './client.js';
import type { Fetched } from './files.js';
import { bundleHeader, bundleLine, type Address } from './origin.js';

/** The longest line of a bundle or download: 64 MiB. A line holds one document. */
const LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;
/** Downloads, pages and an operator's own files: documents without a body. */
const MISSING_MOST = 10_000;
/** Nothing of it is needed after the run. */
const SCHEMA = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  CREATE TABLE line (route TEXT, key INTEGER, body BLOB);
  BEGIN`;
/** Once all lines are there. Of each key, the body is that of the last line. */
const INDEX = 'CREATE INDEX IF NOT EXISTS place ON line (route, key)';
const ROWS = 'SELECT key, body, max(rowid) FROM line WHERE route = ? GROUP BY key ORDER BY key';

/** The lines of a file are not what they should be. */
export class Damaged extends MovedOn {
  constructor(what: string) {
    super(`the origin's downloads are damaged: ${what}`);
  }
}

/** A document to fetch from its path. */
export interface Missing extends Wanted, Address {
  fetched?: Fetched;
}

/** A document's body, or what to fetch; neither if the document is deleted. */
export interface DocumentRow {
  readonly key: number;
  readonly body?: Buffer | undefined;
  readonly missing?: Missing | undefined;
}

export class DocumentLines {
  readonly #database: Database;
  readonly #put: Statement<[route: string, key: number, body: Buffer | null]>;
  readonly #missing = new Map<string, Missing>();
  readonly #mostBytes: number;
  readonly #addressOf: (path: string) => Address | undefined;
  readonly #progress: Progress;

  /**
   * @param file of the database
   * @param mostBytes what the bodies of one bundle may have in all, and its lines without bodies
   */
  constructor(
    file: string,
    mostBytes: number,
    addressOf: (path: string) => Address | undefined,
    progress: Progress,
  ) {
    rmSync(file, { force: true });
    this.#database = openDatabase(file).exec(SCHEMA);
    this.#put = this.#database.prepare('INSERT INTO line VALUES (?, ?, ?)');
    this.#mostBytes = mostBytes;
    this.#addressOf = addressOf;
    this.#progress = progress;
  }

  close(): void {
    this.#database.close();
  }

  #add({ route, key }: Address, body: Buffer | null): void {
    this.#put.run(route.name, key, body);
    this.#missing.delete(`${route.name} ${key}`);
  }

  /** Adds a document to fetch. @throws Damaged: there are too many */
  addMissing(missing: Missing): void {
    this.#add(missing, null);
    this.#missing.set(`${missing.route.name} ${missing.key}`, missing);
    if (this.#missing.size > MISSING_MOST)
      throw new Damaged(`more than ${MISSING_MOST} documents have no body`);
  }

  /** @returns what it counts in bytes. @throws Damaged: no route has the path, or the body is another */
  #addLine(line: string): number {
    const { data } = bundleLine.safeParse(parseJson(line));
    if (data === undefined) throw new Damaged('a line has another form');
    const address = this.#addressOf(data.path);
    if ('deleted' in data) {
      // With a route that the snapshot lacks, all its documents go.
      if (address !== undefined) this.#add(address, null);
      return line.length;
    }
    const { path, bytes, sha256 } = data;
    if (address === undefined) throw new Damaged(`no route has the path "${path}"`);
    if (data.body === undefined) {
      this.addMissing({ ...address, path, bucket: address.route.bucket, bytes, sha256 });
      return line.length;
    }
    const body = Buffer.from(data.body);
    if (body.length !== bytes || hash('sha256', body) !== sha256)
      throw new Damaged(`the body of "${path}" is not what its line says`);
    this.#add(address, body);
    return bytes;
  }

  /**
   * Adds all lines of a file.
   * @param step the snapshots between which a bundle leads; undefined for documents of one snapshot
   * @throws Damaged
   */
  async addFile(file: string, step?: { tree: string; from: number; to: number }): Promise<void> {
    let isFirst = step !== undefined;
    let content = 0;
    for await (const line of linesOf(file)) {
      await this.#progress.advance(0);
      if (isFirst) {
        const { data } = bundleHeader.safeParse(parseJson(line));
        if (data?.tree !== step?.tree || data?.from !== step?.from || data?.to !== step?.to)
          throw new Damaged(`"${file}" is of another step`);
        isFirst = false;
        continue;
      }
      content += this.#addLine(line);
      if (content > this.#mostBytes)
        throw new Damaged(`"${file}" has more than ${this.#mostBytes} bytes of documents`);
    }
  }

  /** The documents of a route in ascending order of their keys, once all lines are added. */
  *rows(route: string): Generator<DocumentRow, void, undefined> {
    this.#database.exec(INDEX);
    for (const { key, body } of this.#database.prepare<[string], Row>(ROWS).iterate(route))
      yield { key, body: body ?? undefined, missing: this.#missing.get(`${route} ${key}`) };
  }

  /** The documents to fetch. */
  get missing(): readonly Missing[] {
    return [...this.#missing.values()];
  }
}

interface Row {
  readonly key: number;
  readonly body: Buffer | null;
}

/**
 * The lines of a gzip file of the origin. Memory is bounded by the longest line.
 * @throws Damaged: it is no gzip file, or a line has more than `LINE_BYTES`
 */
export async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > LINE_BYTES) throw new Damaged(`a line of "${file}" has more than ${LINE_BYTES} bytes`);
    parts.push(part);
  };
  for await (const chunk of unpacked(file)) {
    let start = 0;
    // Not readline, which also splits at U+2028.
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString();
      [parts, bytes] = [[], 0];
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString();
}

/**
 * What a gzip file of the origin contains.
 * @throws Damaged: it is no gzip file, or contains more than `most` bytes
 */
export async function* unpacked(
  file: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  const unzipped = createGunzip();
  // The callback keeps an error from being thrown twice; iterating throws it.
  pipeline(createReadStream(file), unzipped, () => {});
  let bytes = 0;
  try {
    for await (const chunk of unzipped) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('expected bytes');
      bytes += chunk.length;
      if (bytes > most) throw new Damaged(`"${file}" contains more than ${most} bytes`);
      yield chunk;
    }
  } catch (error) {
    throw codeOf(error)?.startsWith('Z_') === true ? new Damaged(`"${file}": ${messageOf(error)}`) : error;
  }
}
