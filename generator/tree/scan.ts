/** Scans the files in a tree and assigns them to routes. */
import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../base/progress.js';
import { aliasPatterns, folderPatterns, locator, namesOfDocuments } from './locate.js';
import type { PublishedRoute } from './published-routes.js';
import { HARMLESS, type Tree } from './tree.js';

/** The ascending keys of each route's files: all that a scan keeps, 8 to 24 bytes per file. */
export interface Scan {
  /** By route name, with a suffix for compressed siblings: `group-history`, `group-history.gz`. */
  readonly keys: ReadonlyMap<string, Float64Array>;
  /** Files that no document explains: siblings of snapshot.json, and files in the place of a folder of documents. */
  readonly extra: readonly string[];
  /** Files that no route leads to. */
  readonly untracked: readonly string[];
}

/** In no list, and of no route here. */
const MANIFEST = 'snapshot.json';

/** Scans the tree, but for aliases, which have no keys. */
export async function scan(tree: Tree, routes: readonly PublishedRoute[], progress: Progress): Promise<Scan> {
  const locate = locator(routes);
  const folders = folderPatterns(routes);
  const isAlias = aliasPatterns(routes);
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
    else if (name !== MANIFEST && !isAlias(name)) {
      const isExtra =
        folders.some((folder) => folder.test(name)) ||
        namesOfDocuments(name).some(([file]) => file === MANIFEST);
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
