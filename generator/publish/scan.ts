/** The files that really lie in a tree, and which route's they are. */
import { hash, createHash } from 'node:crypto';
import { opendirSync, readFileSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ARCHIVE_PATTERN, archiveKey } from '../routes/archive-keys.js';
import type { Progress } from '../progress.js';
import { filler } from '../routes/index.js';
import type { Entry } from '../incremental/hash-file.js';
import { CODINGS, namesOf, siblingsFrom } from './codings.js';
import { chunksOf } from './files.js';
import type { PublishedRoute } from './snapshot-json.js';
import { HARMLESS } from './tree.js';
import type { Tree } from './tree.js';

/** The keys of a route's files, ascending: all that a scan keeps, some 8 to 24 bytes a file. */
export interface Scan {
  /** By route name, for compressed siblings with the suffix behind it: `group-history`, `group-history.gz`. */
  readonly keys: ReadonlyMap<string, Float64Array>;
  /** Files that belong to no route. */
  readonly strange: readonly string[];
}

/** What publishing keeps beside the routes' files: described by snapshot.json and /changes, not by the index. */
const OWN_FILES = /^(snapshot\.json|changes\/(index|\d+)\.json|feeds\/snapshots\.(atom|json))$/;

interface Matcher {
  readonly name: string;
  readonly pattern: RegExp;
  readonly file: (key: number) => string;
}

/** `group/{id}.json` -> a pattern whose group `key` is the key. */
function matcher({ name, file }: PublishedRoute): Matcher {
  const escaped = file.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    parameter === 'month' ? `(?<month>${ARCHIVE_PATTERN})` : String.raw`(?<key>\d+)`,
  );
  return { name, pattern: new RegExp(`^${pattern}$`), file: filler(file) };
}

/** Walks the tree. A file of a route is told by its name, and must be where the route's template puts it. */
export async function scan(tree: Tree, routes: readonly PublishedRoute[], progress: Progress): Promise<Scan> {
  const matchers = routes.map(matcher);
  const keys = new Map<string, number[]>();
  const strange: string[] = [];
  progress.start('looking through the tree', 0, 'files');
  for (const name of filesBelow(tree.out, '')) {
    const known = namesOfDocuments(name).some(([file, suffix]) =>
      matchers.some(({ name: route, pattern, file: placeOf }) => {
        const match = pattern.exec(file);
        if (match === null) return false;
        const month = match.groups?.['month'];
        const key = month === undefined ? Number(match.groups?.['key'] ?? 0) : archiveKey(month);
        if (placeOf(key) !== file) return false;
        const found = keys.get(route + suffix);
        if (found === undefined) keys.set(route + suffix, [key]);
        else found.push(key);
        return true;
      }),
    );
    if (!known && !OWN_FILES.test(name)) strange.push(name);
    const pause = progress.advance(1);
    if (pause !== undefined) await pause;
  }
  progress.finish();
  return {
    keys: new Map([...keys].map(([name, found]) => [name, Float64Array.from(found).toSorted()])),
    strange: strange.toSorted(),
  };
}

/** Which document a file may be: itself, or the one whose compressed sibling it is. */
function namesOfDocuments(name: string): (readonly [file: string, suffix: string])[] {
  const coding = CODINGS.find(({ suffix }) => name.endsWith(suffix));
  if (coding === undefined) return [[name, '']];
  return [
    [name, ''],
    [name.slice(0, -coding.suffix.length), coding.suffix],
  ];
}

function* filesBelow(root: string, folder: string): Generator<string, void, undefined> {
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

/** The files of a route that a scan found, beside its entries in ascending order of the key. */
export class RouteWalk {
  readonly #placeOf: (key: number) => string;
  readonly #from: number;
  readonly #sorts: readonly { readonly suffix: string; readonly keys: Float64Array; at: number }[];
  readonly #onExtra: (file: string, key: number) => void;

  /**
   * @param from the size from which documents have compressed siblings
   * @param onExtra told of files that belong to no entry
   */
  constructor(
    route: PublishedRoute,
    from: number,
    keys: Scan['keys'],
    onExtra: (file: string, key: number) => void,
  ) {
    this.#placeOf = filler(route.file);
    this.#from = siblingsFrom(route, from);
    this.#sorts = ['', ...CODINGS.map(({ suffix }) => suffix)].map((suffix) => ({
      suffix,
      keys: keys.get(route.name + suffix) ?? new Float64Array(),
      at: 0,
    }));
    this.#onExtra = onExtra;
  }

  /** The files an entry must have, and whether each is there. */
  meet({ key, bytes }: Pick<Entry, 'key' | 'bytes'>): { readonly file: string; readonly found: boolean }[] {
    const names = namesOf(this.#placeOf(key), bytes, this.#from);
    return this.#sorts.flatMap((sort, index) => {
      this.#passTo(key, sort);
      const file = names[index];
      const found = sort.keys[sort.at] === key;
      if (file === undefined) {
        // A document that is too small for a sibling.
        this.#passTo(key + 1, sort);
        return [];
      }
      if (found) sort.at += 1;
      return [{ file, found }];
    });
  }

  #passTo(key: number, sort: { readonly suffix: string; readonly keys: Float64Array; at: number }): void {
    for (let extra = sort.keys[sort.at]; extra !== undefined && extra < key; extra = sort.keys[sort.at]) {
      this.#onExtra(this.#placeOf(extra) + sort.suffix, extra);
      sort.at += 1;
    }
  }

  /** No more entries: what is left belongs to none. */
  finish(): void {
    for (const sort of this.#sorts) this.#passTo(Number.POSITIVE_INFINITY, sort);
  }
}

/** Files up to this size are read whole: 1 MiB. */
const WHOLE_BYTES = 1024 * 1024;

export interface Measured {
  readonly bytes: number;
  readonly hash: Buffer;
}

/** Size and SHA-256 of a content. */
export const measured = (content: Buffer): Measured => ({
  bytes: content.length,
  hash: hash('sha256', content, 'buffer'),
});

/** Size and SHA-256 of a file's content. */
export function measure(path: string): Measured {
  const found = lstatSync(path);
  // A link or a pipe in the place of a file: reading it could lead anywhere, or never end.
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
