/**
 * Stages documents, in any thread. Each is compared with the previous snapshot's index. Only new
 * and changed ones are written to the stage, and what they replace is kept there for a rollback.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asFailure, codeOf } from '../errors.js';
import { NO_HASH } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import type { Content } from '../tree/sink.js';
import { ALL_KEYS, PatchWriter } from '../tree/patch.js';
import type { KeyRange } from '../cursor.js';
import { filler } from '../routes/index.js';
import { CODINGS, namesOf, siblingsFrom } from '../tree/codings.js';
import { FileWriter } from '../files.js';
import { OwnFolder } from '../links.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import type { ComparedRoute } from './compared-routes.js';
import { RouteLists } from './route-lists.js';
import type { BundleRoom } from './route-lists.js';
import { flattened, keptIn, replacingFile } from './stage.js';
import type { StagePaths } from './stage.js';

export interface StageSpec {
  /** The published folder. */
  readonly out: string;
  readonly paths: StagePaths;
  /** By name. */
  readonly routes: ReadonlyMap<string, ComparedRoute>;
  /** The size from which the previous snapshot's documents have compressed siblings. */
  readonly compressedFrom: number;
  /** The files of former assets. */
  readonly staying: ReadonlySet<string>;
  /** Whether changes are listed: neither for a first snapshot nor for a copy. */
  readonly hasChanges: boolean;
  readonly bundle: BundleRoom | undefined;
  /** Set in a dry run, which stages only so many changed documents of each route and part. */
  readonly examples?: number;
}

/** The spec of a stage for routes, without a list of changes. */
export const stageSpec = (
  { out }: Pick<Tree, 'out'>,
  paths: StagePaths,
  routes: readonly ComparedRoute[],
  compressedFrom = Number.POSITIVE_INFINITY,
): StageSpec => ({
  out,
  paths,
  routes: new Map(routes.map((each) => [each.route.name, each])),
  compressedFrom,
  staying: new Set(),
  hasChanges: false,
  bundle: undefined,
});

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

export class StageWriter {
  readonly #spec: StageSpec;
  readonly #part: string;
  readonly #table: readonly PublishedRoute[];
  readonly #routes = new Map<string, RouteWriter>();
  /** Routes that are complete, or left to other writers. */
  readonly #left = new Set<string>();

  /**
   * @param part names this writer's patches; a route's patches are applied in order of name
   * @param table routes that are asked for; by default those that are compared
   */
  constructor(spec: StageSpec, part: string, table?: readonly PublishedRoute[]) {
    this.#spec = spec;
    this.#part = part;
    this.#table = table ?? [...spec.routes.values()].map(({ route }) => route);
  }

  /** The writer of a route. @param range the keys that this writer covers */
  route(name: string, range: KeyRange = ALL_KEYS): RouteWriter {
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    if (this.#left.has(name)) throw new TypeError(`"${name}" is complete, or left to others`);
    const route = this.#table.find((candidate) => candidate.name === name);
    if (route === undefined) throw new TypeError(`no route is named "${name}"`);
    const made = new RouteWriter(this.#spec, route, this.#part, range);
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
  }

  /** Ends all ranges: documents of the previous snapshot neither put nor kept are removed. */
  finish(): void {
    for (const route of this.#routes.values()) route.finish();
  }

  /** Closes the files, complete or not. */
  close(): void {
    for (const route of this.#routes.values()) route.close();
  }
}

/** Stages the documents of one route. Keys must ascend. */
export class RouteWriter {
  readonly #name: string;
  readonly #fileOf: (key: number) => string;
  readonly #own: OwnFolder;
  readonly #patch: PatchWriter;
  readonly #lists: RouteLists;
  readonly #from: number;
  readonly #oldFrom: number;
  readonly #added: FileWriter;
  readonly #replacing: FileWriter;
  readonly #kept: FileWriter;
  /** How many more documents are staged; undefined if all are. */
  #examples: number | undefined;

  constructor(spec: StageSpec, route: PublishedRoute, part: string, range: KeyRange) {
    const { paths } = spec;
    this.#name = route.name;
    this.#fileOf = filler(route.file);
    this.#own = new OwnFolder(spec.out);
    this.#examples = spec.examples;
    this.#from = siblingsFrom(route);
    this.#oldFrom = siblingsFrom(route, spec.compressedFrom);
    this.#added = new FileWriter(paths.tree);
    this.#replacing = new FileWriter(join(paths.replacing, route.name));
    const old = spec.routes.get(route.name)?.index;
    // A rollback looks under the name the route had in the previous snapshot.
    this.#kept = new FileWriter(join(keptIn(paths.previous), basename(old ?? route.name)));
    this.#lists = new RouteLists(spec, route, part);
    this.#patch = new PatchWriter({
      old,
      patch: join(paths.patches, route.name, part),
      range,
      onGone: (old) => {
        if (spec.examples !== undefined) return;
        this.#guarded(old.key, () => {
          const files = this.#oldFiles(old);
          this.#lists.remove(old.key, files);
          for (const file of files) this.#keep(file);
        });
      },
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
    const old = this.#patch.old(key);
    if (old === undefined || old.hash.equals(NO_HASH)) return undefined;
    return { bytes: old.bytes, sha256: old.hash.toString('hex') };
  }

  /** Keeps a document from the previous snapshot. */
  keep(key: number): void {
    if (this.published(key) === undefined || !this.#patch.keep(key))
      throw new TypeError(`"${this.#name}" ${key} is not published, so it can't be kept`);
  }

  /** Keeps all documents below a key that were not put. */
  keepBelow(key: number): void {
    this.#patch.keepBelow(key);
  }

  /** Removes a document, if it exists. */
  remove(key: number): void {
    this.#patch.remove(key);
  }

  finish(): void {
    this.#patch.finish();
    this.#lists.finish();
  }

  close(): void {
    this.#patch.close();
    this.#lists.close();
  }

  #put(entry: Entry, read: (source?: string) => Uint8Array, sourceOf?: () => string): boolean {
    return this.#guarded(entry.key, () => {
      const old = this.#patch.old(entry.key);
      const replaced = old === undefined ? [] : this.#oldFiles(old);
      const files = namesOf(this.#fileOf(entry.key), entry.bytes, this.#from);
      const isRecoded = old !== undefined && replaced.length !== files.length;
      const verdict = this.#patch.put(entry, isRecoded);
      if (verdict === 'unchanged') return false;
      // All files of a key are in one folder, where the commit would stop at a link.
      this.#own.pathOf(files[0]);
      if (this.#examples !== undefined) {
        if (verdict === 'added' || this.#examples === 0) return true;
        this.#examples -= 1;
        this.#replacing.write(flattened(files[0]), Buffer.from(read()));
        return true;
      }
      const source = sourceOf?.();
      this.#lists.put(entry, files, replaced, () => read(source));
      for (const [index, file] of files.entries()) {
        const coding = CODINGS[index - 1];
        const isReplacing = replaced.includes(file) && this.#keep(file);
        const [writer, path] = isReplacing ? [this.#replacing, flattened(file)] : [this.#added, file];
        if (index === 0 && source !== undefined) writer.link(path, source);
        else writer.write(path, coding === undefined ? read(source) : coding.encode(read(source)));
      }
      for (const file of replaced) if (!files.includes(file)) this.#keep(file);
      return true;
    });
  }

  #oldFiles({ key, bytes }: Entry): readonly string[] {
    return namesOf(this.#fileOf(key), bytes, this.#oldFrom);
  }

  /**
   * Keeps a published file for a rollback, which refuses one that is a symbolic link.
   * @returns whether the file exists; a missing file or a folder can be neither kept nor replaced
   * @throws Failure environment: a folder in its path is a symbolic link
   */
  #keep(file: string): boolean {
    const path = this.#own.pathOf(file);
    try {
      this.#kept.link(flattened(file), path);
      return true;
    } catch (error) {
      if (['ENOENT', 'EISDIR', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return false;
      throw error;
    }
  }

  #guarded<T>(key: number, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw asFailure(error, `"${this.#fileOf(key)}"`);
    }
  }
}
