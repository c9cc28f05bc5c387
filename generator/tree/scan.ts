/** Scans the files in a tree and assigns them to routes. */
import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../base/progress.js';
import { folderPatterns, locator, namesOfDocuments } from './locate.js';
import type { PublishedRoute } from './published-routes.js';
import { HARMLESS, type Tree } from './tree.js';

/** The ascending keys of each route's files: all that a scan keeps, 8 to 24 bytes per file. */
export interface Scan {
  /** By route name, with a suffix for compressed siblings: `group-history`, `group-history.gz`. */
  readonly keys: ReadonlyMap<string, Float64Array>;
  /** The publisher's own files, which no state counts among its documents. */
  readonly own: readonly string[];
  /**
   * Files that no document explains: siblings of the publisher's own files, and files in the place
   * of a folder of documents.
   */
  readonly extra: readonly string[];
  /** Files that no route leads to. */
  readonly untracked: readonly string[];
}

/** Described by snapshot.json and /changes. */
const OWN_FILES =
  /^(snapshot\.json|changes\/(index\.json|\d+\.(json|ndjson\.gz))|feeds\/snapshots\.(atom|json))$/;

/** Scans the tree. @param onPublished called with each file that is a document, a sibling of one, or our own */
export async function scan(
  tree: Tree,
  routes: readonly PublishedRoute[],
  progress: Progress,
  onPublished: (file: string) => void = () => undefined,
): Promise<Scan> {
  const locate = locator(routes);
  const folders = folderPatterns(routes);
  const keys = new Map<string, number[]>();
  const [own, extra, untracked]: [string[], string[], string[]] = [[], [], []];
  const add = (name: string, key: number): void => {
    const found = keys.get(name);
    if (found === undefined) keys.set(name, [key]);
    else found.push(key);
  };
  progress.start('looking through the tree', 0, 'files');
  for (const name of filesBelow(tree.out, '')) {
    const place = locate(name);
    const isOwn = place === undefined && OWN_FILES.test(name);
    if (place !== undefined || isOwn) onPublished(name);
    if (place !== undefined) add(place.route.name + place.suffix, place.key);
    else if (isOwn) own.push(name);
    else {
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
    own: own.toSorted(),
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
