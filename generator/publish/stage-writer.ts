/**
 * Documents on their way to being published, in any thread. Each is compared with the last snapshot's index; only what
 * is new or changed is written, to the stage, and what it replaces is kept there for a rollback.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asFailure, codeOf } from '../errors.js';
import { NO_HASH } from '../incremental/hash-file.js';
import type { Content, Entry } from '../incremental/hash-file.js';
import { ALL_KEYS, PatchWriter } from '../incremental/patch.js';
import type { KeyRange } from '../incremental/patch.js';
import { filler } from '../routes/index.js';
import { codingOf, namesOf, siblingsFrom } from './codings.js';
import { FileWriter } from './files.js';
import type { PublishedRoute } from './snapshot-json.js';
import type { StagePaths } from './stage.js';

/** What a writer has to know. */
export interface StageSpec {
  /** The published folder. */
  readonly out: string;
  readonly paths: StagePaths;
  /** The last snapshot's index of each route that there is something to compare with. */
  readonly indexes: Readonly<Record<string, string>>;
  /** The size from which the last snapshot's documents have compressed siblings. */
  readonly compressedFrom: number;
}

/**
 * A file's name where the tree's folders are not made again: records mostly have one each, and to make, to read and to
 * delete that took as long as all else that is done about the file.
 */
const flat = (file: string): string => encodeURIComponent(file);

/** The name in the tree of a file with such a name. */
export const unflattened = (name: string): string => decodeURIComponent(name);

/** The folder of the files that a commit replaced, in the folder of all that it replaced. */
export const keptIn = (previous: string): string => join(previous, 'files');

/** Where a file is kept that a commit replaced. */
export const keptFile = (previous: string, route: string, file: string): string =>
  join(keptIn(previous), route, flat(file));

export class StageWriter {
  readonly #spec: StageSpec;
  readonly #table: readonly PublishedRoute[];
  readonly #part: string;
  readonly #routes = new Map<string, RouteWriter>();

  /**
   * @param table the routes of the next snapshot
   * @param part names the patches of this writer; those of a route are sorted by their names
   */
  constructor(spec: StageSpec, table: readonly PublishedRoute[], part: string) {
    this.#spec = spec;
    this.#table = table;
    this.#part = part;
  }

  /** The writer of a route. @param range the keys that it is about */
  route(name: string, range: KeyRange = ALL_KEYS): RouteWriter {
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    const route = this.#table.find((candidate) => candidate.name === name);
    if (route === undefined) throw new TypeError(`no route is named "${name}"`);
    const made = new RouteWriter(this.#spec, route, this.#part, range);
    this.#routes.set(name, made);
    return made;
  }

  /** No more documents: what the last snapshot has in these ranges, and was neither put nor kept, is gone. */
  finish(): void {
    for (const route of this.#routes.values()) route.finish();
  }

  /** Lets go of the files, complete or not. */
  close(): void {
    for (const route of this.#routes.values()) route.close();
  }
}

/** Stages the documents of one route. Keys must ascend. */
export class RouteWriter {
  readonly #name: string;
  readonly #fileOf: (key: number) => string;
  readonly #out: string;
  readonly #patch: PatchWriter;
  readonly #from: number;
  readonly #oldFrom: number;
  readonly #added: FileWriter;
  readonly #replacing: FileWriter;
  readonly #kept: FileWriter;

  constructor(spec: StageSpec, route: PublishedRoute, part: string, range: KeyRange) {
    const { paths } = spec;
    this.#name = route.name;
    this.#fileOf = filler(route.file);
    this.#out = spec.out;
    this.#from = siblingsFrom(route);
    this.#oldFrom = siblingsFrom(route, spec.compressedFrom);
    this.#added = new FileWriter(paths.tree);
    this.#replacing = new FileWriter(join(paths.replacing, route.name));
    const old = spec.indexes[route.name];
    // Under the name that the last snapshot has for it, where a rollback looks.
    this.#kept = new FileWriter(join(keptIn(paths.previous), basename(old ?? route.name)));
    this.#patch = new PatchWriter({
      old,
      patch: join(paths.patches, route.name, part),
      range,
      onGone: (old) =>
        this.#guarded(old.key, () => {
          for (const file of this.#oldFiles(old)) this.#keep(file);
        }),
    });
  }

  /** Stages a document, if it is new or changed. @returns whether it is */
  put(key: number, body: string): boolean {
    const content = Buffer.from(body);
    const entry = { key, bytes: content.length, hash: hash('sha256', content, 'buffer') };
    return this.#put(entry, () => content);
  }

  /** The same, of a file on the same file system, which gets a second name. @param sourceOf is called where it is staged */
  putFile(entry: Entry, sourceOf: () => string): boolean {
    return this.#put(entry, (source) => readFileSync(source ?? ''), sourceOf);
  }

  /** What the last snapshot has under a key, unless that is known to be damaged. The key must follow those that were put. */
  published(key: number): Content | undefined {
    const old = this.#patch.old(key);
    if (old === undefined || old.hash.equals(NO_HASH)) return undefined;
    return { bytes: old.bytes, sha256: old.hash.toString('hex') };
  }

  /** Takes a document over from the last snapshot as it is. */
  keep(key: number): void {
    if (this.published(key) === undefined || !this.#patch.keep(key))
      throw new TypeError(`"${this.#name}" ${key} is not published, so it can't be kept`);
  }

  /** Takes all documents over whose keys are below this one, as far as none of them was put. */
  keepBelow(key: number): void {
    this.#patch.keepBelow(key);
  }

  /** A document is gone, if it was there. */
  remove(key: number): void {
    this.#patch.remove(key);
  }

  finish(): void {
    this.#patch.finish();
  }

  close(): void {
    this.#patch.close();
  }

  #put(entry: Entry, read: (source?: string) => Uint8Array, sourceOf?: () => string): boolean {
    return this.#guarded(entry.key, () => {
      const old = this.#patch.old(entry.key);
      const replaced = old === undefined ? [] : this.#oldFiles(old);
      const files = namesOf(this.#fileOf(entry.key), entry.bytes, this.#from);
      const isRecoded = old !== undefined && replaced.length !== files.length;
      if (this.#patch.put(entry, isRecoded) === 'unchanged') return false;
      const source = sourceOf?.();
      for (const [index, file] of files.entries()) {
        const coding = codingOf(file, files[0]);
        const isReplacing = replaced.includes(file) && this.#keep(file);
        const [writer, path] = isReplacing ? [this.#replacing, flat(file)] : [this.#added, file];
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
   * Keeps what is published under a name, for a rollback.
   * @returns whether a file is there: what is gone, or a folder, can't be kept, nor replaced
   */
  #keep(file: string): boolean {
    try {
      this.#kept.link(flat(file), join(this.#out, file));
      return true;
    } catch (error) {
      if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '')) return false;
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
