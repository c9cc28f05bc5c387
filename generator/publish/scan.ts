/** Scans the files in a tree and assigns them to routes. */
import { hash, createHash } from 'node:crypto';
import { opendirSync, readFileSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.js';
import type { Progress } from '../progress.js';
import { filler } from '../routes/index.js';
import { keyForm } from '../routes/keys.js';
import type { Entry } from '../incremental/hash-file.js';
import { CODINGS, namesOf, siblingsFrom } from './codings.js';
import type { Coding } from './codings.js';
import { chunksOf } from './files.js';
import { isLog } from './snapshot-json.js';
import type { PublishedRoute } from './snapshot-json.js';
import { HARMLESS } from './tree.js';
import type { Tree } from './tree.js';

/** The ascending keys of each route's files: all that a scan keeps, 8 to 24 bytes per file. */
export interface Scan {
  /** By route name, with a suffix for compressed siblings: `group-history`, `group-history.gz`. */
  readonly keys: ReadonlyMap<string, Float64Array>;
  /**
   * Files that no document explains: siblings of the publisher's own files, and files in the place
   * of a folder of documents.
   */
  readonly extra: readonly string[];
  /** Files that no route leads to. */
  readonly untracked: readonly string[];
}

/** The publisher's own files, described by snapshot.json, /changes and the log instead of the index. */
const OWN_FILES =
  /^(snapshot\.json|log\/.+|changes\/(index\.json|\d+\.(json|ndjson\.gz))|feeds\/snapshots\.(atom|json))$/;

interface Matcher {
  readonly route: PublishedRoute;
  readonly pattern: RegExp;
  readonly keyOf: (text: string) => number;
  readonly fileOf: (key: number) => string;
}

/** `group/{id}.json` -> a pattern whose group `key` is the text of the key. */
function patternOf(file: string): RegExp {
  const escaped = file.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(
    /\{(\w+)\}/g,
    (_, parameter: string) => `(?<key>${keyForm(parameter).pattern})`,
  );
  return new RegExp(`^${pattern}$`);
}

/** The function from the text of a key in a file's name to the key. */
const keyReader = (file: string): ((text: string) => number) =>
  keyForm(/\{(\w+)\}/.exec(file)?.[1] ?? '').keyOf;

/** `group/{id}/history.json` -> patterns of `group` and of `group/{id}`. */
function folderPatterns(routes: readonly PublishedRoute[]): readonly RegExp[] {
  const folders = routes.flatMap(({ file }) => {
    const parts = file.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(folders)].map(patternOf);
}

/** Where a file belongs: a route, a key of it, and the suffix of a compressed sibling. */
export interface Place {
  readonly route: PublishedRoute;
  readonly suffix: string;
  readonly key: number;
}

/** A file belongs to a route if the route's template, or a sibling's, yields exactly its path. */
export function locator(routes: readonly PublishedRoute[]): (file: string) => Place | undefined {
  const literals = new Map(routes.map((route) => [route.file, route]));
  const matchers = routes
    .filter((route) => route.file.includes('{') && !isLog(route))
    .map((route): Matcher => {
      const { file } = route;
      return { route, pattern: patternOf(file), keyOf: keyReader(file), fileOf: filler(file) };
    });
  return (name) => {
    for (const [file, suffix] of namesOfDocuments(name)) {
      const literal = literals.get(file);
      if (literal !== undefined) return { route: literal, suffix, key: 0 };
      for (const { route, pattern, keyOf, fileOf } of matchers) {
        const text = pattern.exec(file)?.groups?.['key'];
        if (text === undefined) continue;
        const key = keyOf(text);
        if (Number.isSafeInteger(key) && fileOf(key) === file) return { route, suffix, key };
      }
    }
    return undefined;
  };
}

/** Scans the tree. */
export async function scan(tree: Tree, routes: readonly PublishedRoute[], progress: Progress): Promise<Scan> {
  const locate = locator(routes);
  const folders = folderPatterns(routes);
  const keys = new Map<string, number[]>();
  const [extra, untracked]: [string[], string[]] = [[], []];
  const add = (name: string, key: number): void => {
    const found = keys.get(name);
    if (found === undefined) keys.set(name, [key]);
    else found.push(key);
  };
  progress.start('looking through the tree', 0, 'files');
  for (const name of filesBelow(tree.out, '')) {
    const place = locate(name);
    if (place !== undefined) add(place.route.name + place.suffix, place.key);
    else if (!OWN_FILES.test(name)) {
      const isInTheWay = folders.some((folder) => folder.test(name));
      const isExtra = isInTheWay || namesOfDocuments(name).some(([file]) => OWN_FILES.test(file));
      (isExtra ? extra : untracked).push(name);
    }
    const pause = progress.advance(1);
    if (pause !== undefined) await pause;
  }
  progress.finish();
  return {
    keys: new Map([...keys].map(([name, found]) => [name, Float64Array.from(found).toSorted()])),
    extra: extra.toSorted(),
    untracked: untracked.toSorted(),
  };
}

/** The documents a file may belong to: itself, or the one whose compressed sibling it is. */
function namesOfDocuments(name: string): (readonly [file: string, suffix: string])[] {
  const coding = CODINGS.find(({ suffix }) => name.endsWith(suffix));
  if (coding === undefined) return [[name, '']];
  return [
    [name, ''],
    [name.slice(0, -coding.suffix.length), coding.suffix],
  ];
}

/** The files below a folder of a tree, by their names below the tree. */
export function* filesBelow(root: string, folder: string): Generator<string, void, undefined> {
  const directory = opendirSync(join(root, folder));
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (folder === '' && HARMLESS.has(entry.name)) continue;
      if (entry.isDirectory()) yield* filesBelow(root, path);
      else yield path;
    }
  } finally {
    directory.closeSync();
  }
}

/** Merges a route's scanned files with its index entries, both in ascending key order. */
export class RouteWalk {
  readonly #placeOf: (key: number) => string;
  readonly #from: number;
  readonly #sorts: readonly { readonly suffix: string; readonly keys: Float64Array; at: number }[];
  readonly #onExtra: (file: string) => void;

  /**
   * @param from the size from which documents have compressed siblings
   * @param onExtra called with each file that has no entry
   */
  constructor(route: PublishedRoute, from: number, keys: Scan['keys'], onExtra: (file: string) => void) {
    this.#placeOf = filler(route.file);
    this.#from = siblingsFrom(route, from);
    this.#sorts = ['', ...CODINGS.map(({ suffix }) => suffix)].map((suffix) => ({
      suffix,
      keys: keys.get(route.name + suffix) ?? new Float64Array(),
      at: 0,
    }));
    this.#onExtra = onExtra;
  }

  /** The files that an entry must have, and whether each was found. */
  meet({ key, bytes }: Pick<Entry, 'key' | 'bytes'>): { readonly file: string; readonly found: boolean }[] {
    const names = namesOf(this.#placeOf(key), bytes, this.#from);
    return this.#sorts.flatMap((sort, index) => {
      this.#passTo(key, sort);
      const file = names[index];
      const found = sort.keys[sort.at] === key;
      if (file === undefined) {
        // The document is too small for this sibling.
        this.#passTo(key + 1, sort);
        return [];
      }
      if (found) sort.at += 1;
      return [{ file, found }];
    });
  }

  #passTo(key: number, sort: { readonly suffix: string; readonly keys: Float64Array; at: number }): void {
    for (let extra = sort.keys[sort.at]; extra !== undefined && extra < key; extra = sort.keys[sort.at]) {
      this.#onExtra(this.#placeOf(extra) + sort.suffix);
      sort.at += 1;
    }
  }

  /** No more entries: the remaining files are extra. */
  finish(): void {
    for (const sort of this.#sorts) this.#passTo(Number.POSITIVE_INFINITY, sort);
  }
}

/** Files up to this size (1 MiB) are read whole. */
const WHOLE_BYTES = 1024 * 1024;

export interface Measured {
  readonly bytes: number;
  readonly hash: Buffer;
}

export const measured = (content: Buffer): Measured => ({
  bytes: content.length,
  hash: hash('sha256', content, 'buffer'),
});

/** Size and SHA-256 of a file's content. */
export function measure(path: string): Measured {
  const found = lstatSync(path);
  // A symbolic link could lead anywhere, and reading a pipe might never end.
  if (!found.isFile()) return { bytes: 0, hash: Buffer.alloc(0) };
  const { size } = found;
  if (size <= WHOLE_BYTES) {
    return measured(readFileSync(path));
  }
  const digest = createHash('sha256');
  let bytes = 0;
  for (const chunk of chunksOf(path)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash: digest.digest() };
}

/** @param coding the file's compression, if any; the index then describes the decoded content */
export function isAsIndexed(
  path: string,
  { bytes, hash }: Pick<Entry, 'bytes' | 'hash'>,
  coding?: Coding,
): boolean {
  try {
    const found = coding === undefined ? measure(path) : measured(coding.decode(readFileSync(path), bytes));
    return found.bytes === bytes && Buffer.compare(found.hash, hash) === 0;
  } catch (error) {
    // An unreadable or undecodable file counts as altered: this is how a failing disk shows.
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}
