/**
 * The documents that a run learned of from bundles and `other.ndjson.gz`, in a temporary file. The
 * newest line of a document replaces those before it. Memory has a few numbers for each line.
 */
import { hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf } from '../errors.js';
import { parseJson } from '../portable.js';
import type { Progress } from '../progress.js';
import { MovedOn } from './client.js';
import type { Fetched, Wanted } from './files.js';
import { bundleHeader, bundleLine } from './origin.js';
import type { Address } from './origin.js';

/** The longest line of a bundle: 64 MiB. */
const LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;
/** A tenth of the largest registers' documents thirty times over; they take half a gigabyte. */
const LINES_MOST = 20_000_000;
/** Downloads, pages and an operator's own files: documents without a body. */
const MISSING_MOST = 10_000;

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

/** The lines of a route, as they came: where a body is in the file. */
interface Columns {
  readonly keys: number[];
  readonly starts: number[];
  readonly sizes: number[];
}
/** The size in a line without a body. */
const NONE = -1;

export class DocumentLines {
  readonly #descriptor: number;
  readonly #mostBytes: number;
  readonly #addressOf: (path: string) => Address | undefined;
  readonly #progress: Progress;
  readonly #routes = new Map<string, Columns>();
  readonly #order = new Map<string, Uint32Array>();
  readonly #missing = new Map<string, Missing>();
  #end = 0;
  #count = 0;

  /**
   * @param file has no name from now on, so that nothing is left of it if the run is killed
   * @param mostBytes what the bodies of one bundle may have in all, and its lines without bodies
   */
  constructor(
    file: string,
    mostBytes: number,
    addressOf: (path: string) => Address | undefined,
    progress: Progress,
  ) {
    this.#descriptor = openSync(file, 'w+', 0o600);
    rmSync(file);
    this.#mostBytes = mostBytes;
    this.#addressOf = addressOf;
    this.#progress = progress;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** @throws Damaged: there are too many */
  #add({ route, key }: Address, size: number): void {
    this.#count += 1;
    if (this.#count > LINES_MOST) throw new Damaged(`there are more than ${LINES_MOST} changes`);
    const columns = this.#routes.get(route.name) ?? { keys: [], starts: [], sizes: [] };
    this.#routes.set(route.name, columns);
    columns.keys.push(key);
    columns.starts.push(this.#end);
    columns.sizes.push(size);
    this.#missing.delete(`${route.name} ${key}`);
    this.#end += Math.max(0, size);
  }

  /** Adds a document to fetch. @throws Damaged: there are too many */
  addMissing(missing: Missing): void {
    this.#add(missing, NONE);
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
      if (address !== undefined) this.#add(address, NONE);
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
    writeFileSync(this.#descriptor, body);
    this.#add(address, bytes);
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

  /** Sorts all lines, once they are added; of the most there may be, that takes ten seconds. */
  sortRows(): void {
    for (const [route, { keys }] of this.#routes) {
      const keyAt = (index: number): number => keys[index] ?? Number.NaN;
      const order = Uint32Array.from(keys.keys());
      this.#order.set(
        route,
        order.toSorted((one, other) => keyAt(one) - keyAt(other) || one - other),
      );
    }
  }

  /** The newest row of each document of a route, in ascending order of their keys. Requires `sortRows`. */
  *rows(route: string): Generator<DocumentRow, void, undefined> {
    const { keys, starts, sizes } = this.#routes.get(route) ?? { keys: [], starts: [], sizes: [] };
    const keyAt = (index: number | undefined): number => keys[index ?? keys.length] ?? Number.NaN;
    const order = this.#order.get(route) ?? new Uint32Array();
    for (const [at, index] of order.entries()) {
      const key = keyAt(index);
      if (keyAt(order[at + 1]) === key) continue;
      const size = sizes[index] ?? NONE;
      yield size === NONE
        ? { key, missing: this.#missing.get(`${route} ${key}`) }
        : { key, body: this.#read(starts[index] ?? 0, size) };
    }
  }

  #read(start: number, size: number): Buffer {
    const body = Buffer.alloc(size);
    readSync(this.#descriptor, body, 0, size, start);
    return body;
  }

  /** The documents to fetch. */
  get missing(): readonly Missing[] {
    return [...this.#missing.values()];
  }
}

/**
 * The lines of a gzip file of the origin. Memory is bounded by the longest line.
 * @throws Damaged: it is no gzip file, or a line has more than `LINE_BYTES`, about
 */
export async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  const unzipped = createGunzip();
  // The callback keeps an error from being thrown twice; iterating throws it.
  pipeline(createReadStream(file), unzipped, () => {});
  let parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of unzipped) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('expected bytes');
      let start = 0;
      // Not readline, which also splits at U+2028.
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        parts.push(chunk.subarray(start, end));
        yield Buffer.concat(parts).toString();
        [parts, bytes] = [[], 0];
        start = end + 1;
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
      bytes += chunk.length - start;
      if (bytes > LINE_BYTES) throw new Damaged(`a line of "${file}" has more than ${LINE_BYTES} bytes`);
    }
  } catch (error) {
    throw codeOf(error)?.startsWith('Z_') === true ? new Damaged(`"${file}": ${messageOf(error)}`) : error;
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString();
}
