/**
 * Stages documents, in any thread. Each is compared with the state of the previous snapshot. Only new
 * and changed ones are written to the stage.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFailure } from '../base/errors.js';
import { Comparer, type Comparison } from '../state/compare.js';
import { ALL_KEYS, type Entry } from '../state/documents.js';
import type { ComparedRoute } from '../state/next.js';
import { NO_ROUTE } from '../state/state.js';
import { NO_HASH } from '../tree/measure.js';
import type { Content } from '../tree/sink.js';
import type { KeyRange } from '../base/cursor.js';
import type { Database } from '../base/sqlite/sqlite.js';
import { filler, urlsOf } from '../routes/route.js';
import { CODINGS, namesOf, siblingsFrom } from '../tree/codings.js';
import { FileWriter, LineWriter } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { flattened, hasRoom, replacingFile, routePart, type StageSpec } from './stage.js';

/** Where a document of the next snapshot may be: the first file that exists has its content. */
export function documentFiles(
  { out, paths }: StageSpec,
  route: PublishedRoute,
): (key: number) => Iterable<string> {
  const [fileOf, own] = [filler(route.file), new OwnFolder(out)];
  return function* (key) {
    const file = fileOf(key);
    yield join(paths.tree, file);
    yield replacingFile(paths, route.name, file);
    yield own.readable(file);
  };
}

/**
 * The text of a document of the next snapshot, staged or kept; undefined if there is no file. What
 * was removed is still there until the commit, so ask for what is known to be published.
 */
export function readDocument(spec: StageSpec, name: string, key: number): string | undefined {
  const route = spec.routes.get(name)?.route;
  for (const file of route === undefined ? [] : documentFiles(spec, route)(key))
    if (existsSync(file)) return readFileSync(file, 'utf8');
  return undefined;
}

export class StageWriter implements Disposable {
  readonly #spec: StageSpec;
  readonly #part: string;
  readonly #table: readonly PublishedRoute[];
  readonly #comparer: Comparer;
  readonly #routes = new Map<string, RouteWriter>();
  /** Routes that are complete, or left to other writers. */
  readonly #left = new Set<string>();

  /**
   * @param part names this writer's part of a bundle; a route's parts follow each other in order of name
   * @param table routes that are asked for; by default those that are compared
   * @param own see `Comparer`
   */
  constructor(spec: StageSpec, part: string, table?: readonly PublishedRoute[], own?: Database) {
    this.#spec = spec;
    this.#part = part;
    this.#table = table ?? [...spec.routes.values()].map(({ route }) => route);
    this.#comparer = new Comparer(spec.compared, own);
  }

  /** The writer of a route. @param range the keys that this writer covers */
  route(name: string, range: KeyRange = ALL_KEYS): RouteWriter {
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    if (this.#left.has(name)) throw new TypeError(`"${name}" is complete, or left to others`);
    const route = this.#table.find((candidate) => candidate.name === name);
    if (route === undefined) throw new TypeError(`no route is named "${name}"`);
    // Of what is not measured, nothing is put.
    const compared = this.#spec.routes.get(name) ?? { id: NO_ROUTE, isPublished: false };
    const made = new RouteWriter(this.#spec, { ...compared, route }, this.#part, range, this.#comparer);
    this.#routes.set(name, made);
    return made;
  }

  /** Leaves routes to other writers. */
  leave(names: readonly string[]): void {
    for (const name of names) this.#left.add(name);
  }

  /** Ends routes that were not left, by default all: no more of their documents are put. */
  complete(names: readonly string[] = [...this.#spec.routes.keys()]): void {
    for (const name of names) if (!this.#left.has(name)) this.route(name).finish();
    for (const name of names) this.#routes.delete(name);
    this.leave(names);
    this.#comparer.finish();
  }

  /** Ends all ranges: documents of the previous snapshot neither put nor kept are removed. */
  finish(): void {
    for (const route of this.#routes.values()) route.finish();
    this.#comparer.finish();
  }

  /** Closes the files, complete or not. */
  close(): void {
    for (const route of this.#routes.values()) route.close();
    this.#comparer.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Reads the content of a document, from a file if that is where it is. */
type ReadContent = (source?: string) => Uint8Array;

/** What is done with those documents of a route that differ. */
interface Differing {
  /**
   * @param files its own and those of its siblings
   * @param replaced those of the document that it replaces, if any
   * @param sourceOf a file that has the content
   */
  put(
    entry: Entry,
    files: readonly [string, ...string[]],
    replaced: readonly string[],
    read: ReadContent,
    sourceOf?: () => string,
  ): void;
  finish(): void;
  close(): void;
}

/** Stages them, and the lines of the bundle while their bytes are in hand. */
class StagedDocuments implements Differing {
  readonly #spec: StageSpec;
  readonly #route: PublishedRoute;
  readonly #part: string;
  readonly #urlsOf: ReturnType<typeof urlsOf>;
  readonly #own: OwnFolder;
  readonly #added: FileWriter;
  readonly #replacing: FileWriter;
  /** Created with the first line. */
  #bundle: LineWriter | undefined;

  constructor(spec: StageSpec, route: PublishedRoute, part: string, own: OwnFolder) {
    this.#spec = spec;
    this.#route = route;
    this.#part = part;
    this.#urlsOf = urlsOf(route);
    this.#own = own;
    this.#added = new FileWriter(spec.paths.tree);
    this.#replacing = new FileWriter(join(spec.paths.replacing, route.name));
  }

  put(...[entry, files, replaced, read, sourceOf]: Parameters<Differing['put']>): void {
    const source = sourceOf?.();
    this.#bundleLine(entry, () => read(source));
    // Where their folder is missing, one is staged with them: a commit must not need room.
    const hasFolder = this.#own.hasFolderOf(files[0]);
    for (const [index, file] of files.entries()) {
      const coding = CODINGS[index - 1];
      const isReplacing = hasFolder && replaced.includes(file);
      const [writer, path] = isReplacing ? [this.#replacing, flattened(file)] : [this.#added, file];
      if (index === 0 && source !== undefined) writer.link(path, source);
      else writer.write(path, coding === undefined ? read(source) : coding.encode(read(source)));
    }
  }

  #bundleLine({ key, bytes, hash: sum }: Entry, read: () => Uint8Array): void {
    const { bundle, paths } = this.#spec;
    if (bundle === undefined || !hasRoom(bundle)) return;
    const [path] = this.#urlsOf(key);
    const put = { path, sha256: sum.toString('hex'), bytes };
    const body = this.#route.class === 'download' ? undefined : Buffer.from(read());
    // Clients fetch what is not text from its path.
    const line = JSON.stringify(body && isUtf8(body) ? { ...put, body: body.toString() } : put);
    Atomics.add(bundle.staged, 0, BigInt(line.length));
    this.#bundle ??= new LineWriter(join(paths.bundle, routePart(this.#route.name, this.#part)));
    this.#bundle.write(line);
  }

  finish(): void {
    this.#bundle?.finish();
  }

  close(): void {
    this.#bundle?.close();
  }
}

/** Stages only the first few that replace others, for a dry run to show. */
class Examples implements Differing {
  readonly #replacing: FileWriter;
  #left: number;

  constructor({ paths }: StageSpec, route: PublishedRoute, most: number) {
    this.#replacing = new FileWriter(join(paths.replacing, route.name));
    this.#left = most;
  }

  put(...[, [file], replaced, read]: Parameters<Differing['put']>): void {
    if (replaced.length === 0 || this.#left === 0) return;
    this.#left -= 1;
    this.#replacing.write(flattened(file), Buffer.from(read()));
  }

  readonly finish = (): void => undefined;
  readonly close = (): void => undefined;
}

/** Compares the documents of one route with those that are published. Keys must ascend. */
export class RouteWriter {
  readonly #name: string;
  readonly #fileOf: (key: number) => string;
  readonly #own: OwnFolder;
  readonly #comparison: Comparison;
  readonly #differing: Differing;
  readonly #from: number;
  readonly #oldFrom: number;

  constructor(
    spec: StageSpec,
    { id, route, isPublished }: Pick<ComparedRoute, 'id' | 'route' | 'isPublished'>,
    part: string,
    range: KeyRange,
    comparer: Comparer,
  ) {
    this.#name = route.name;
    this.#fileOf = filler(route.file);
    this.#own = new OwnFolder(spec.out);
    this.#from = siblingsFrom(route);
    this.#oldFrom = siblingsFrom(route, spec.compressedFrom);
    this.#differing =
      spec.examples === undefined
        ? new StagedDocuments(spec, route, part, this.#own)
        : new Examples(spec, route, spec.examples);
    this.#comparison = comparer.compare('document', id, {
      isPublished,
      range,
      filesOf: (bytes) => namesOf('', bytes, this.#from).length,
      filesBefore: (bytes) => namesOf('', bytes, this.#oldFrom).length,
      // The commit would stop at a link.
      onGone: ({ key }) => void this.#guarded(key, () => this.#own.pathOf(this.#fileOf(key))),
    });
  }

  /** Stages a document if it is new or changed. @returns whether it is */
  put(key: number, body: string | Buffer): boolean {
    const content = typeof body === 'string' ? Buffer.from(body) : body;
    const entry = { key, bytes: content.length, hash: hash('sha256', content, 'buffer') };
    return this.#put(entry, () => content);
  }

  /** Stages a file by a hard link. @param sourceOf called only if the document is staged */
  putFile(entry: Entry, sourceOf: () => string): boolean {
    return this.#put(entry, (source) => readFileSync(source ?? ''), sourceOf);
  }

  /** The published content under a key above those put, unless it is known to be damaged. */
  published(key: number): Content | undefined {
    const old = this.#comparison.old(key);
    if (old === undefined || old.hash.equals(NO_HASH)) return undefined;
    return { bytes: old.bytes, sha256: old.hash.toString('hex') };
  }

  /** Keeps a document from the previous snapshot. */
  keep(key: number): void {
    if (this.published(key) === undefined || !this.#comparison.keep(key))
      throw new TypeError(`"${this.#name}" ${key} is not published, so it can't be kept`);
  }

  /** Keeps all documents below a key that were not put. */
  keepBelow(key: number): void {
    this.#comparison.keepBelow(key);
  }

  /** Removes a document, if it exists. */
  remove(key: number): void {
    this.#comparison.remove(key);
  }

  finish(): void {
    this.#comparison.removeBelow();
    this.#differing.finish();
  }

  close(): void {
    this.#differing.close();
  }

  #put(entry: Entry, read: ReadContent, sourceOf?: () => string): boolean {
    return this.#guarded(entry.key, () => {
      const old = this.#comparison.old(entry.key);
      if (this.#comparison.put(entry) === 'unchanged') return false;
      const file = this.#fileOf(entry.key);
      const replaced = old === undefined ? [] : namesOf(file, old.bytes, this.#oldFrom);
      const files = namesOf(file, entry.bytes, this.#from);
      // All files of a key are in one folder, where the commit would stop at a link.
      this.#own.pathOf(files[0]);
      this.#differing.put(entry, files, replaced, read, sourceOf);
      return true;
    });
  }

  #guarded<T>(key: number, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw asFailure(error, `"${this.#fileOf(key)}"`);
    }
  }
}
