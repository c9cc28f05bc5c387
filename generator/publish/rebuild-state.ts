/** Rebuilds the state from the tree, if it is missing, damaged, or of another snapshot. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unlessFailure } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { filler } from '../routes/route.js';
import type { Entry } from '../state/documents.js';
import { RebuiltState } from '../state/rebuilt.js';
import { withPublished } from '../state/published.js';
import { CODINGS, COMPRESSED_FROM_BYTES, namesOf, siblingsFrom } from '../tree/codings.js';
import { NO_HASH, isAsIndexed, measure } from '../tree/measure.js';
import { isRendered, type PublishedRoute } from '../tree/published-routes.js';
import { scan, type Scan } from '../tree/scan.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { ALWAYS_FILES } from './changed-files.js';
import { pagesOf } from './compared-routes.js';

/**
 * Where a stage is left, a commit may have been interrupted: then compressed siblings may be of another
 * version than their documents, or left of one that is gone. Such documents count as damaged, so that the
 * next build replaces or deletes all of their files.
 * @param manifest the snapshot that the routes are of. Without one, nothing is known about the files
 * found at their paths, compressed siblings without a document among them: all count as damaged
 * @returns the digest of the tree, which equals the snapshot's unless files were altered
 */
export async function rebuildState(
  tree: Tree,
  published: readonly PublishedRoute[],
  progress: Progress,
  manifest?: Manifest,
): Promise<string> {
  const routes = published.filter(isRendered);
  const { keys, own } = await scan(tree, routes, progress);
  const total = [...keys.values()].reduce((sum, { length }) => sum + length, 0);
  progress.start('rebuilding the state from the published files', total, 'files');
  // What was withheld is nowhere else.
  const { withheld } = unlessFailure(() => withPublished(tree, ({ newest }) => newest?.described)) ?? {};
  const mayBeTorn = existsSync(tree.stage);
  const partial = `${tree.database}.partial`;
  removeDatabase(partial);
  const state = RebuiltState.open(partial);
  try {
    for (const [index, route] of routes.entries()) {
      const fileOf = filler(route.file);
      const isAnyForm = manifest === undefined || mayBeTorn;
      const found = isAnyForm ? keysOfAnyForm(keys, route.name) : (keys.get(route.name) ?? []);
      const from = siblingsFrom(route, manifest?.compressed_from);
      const add = state.addRoute(index + 1, route, pagesOf(route, published));
      for (const key of found) {
        const path = join(tree.out, fileOf(key));
        const isUnknown = manifest === undefined || (mayBeTorn && !isUntorn(path, from));
        add(isUnknown ? UNKNOWN(key) : entryOf(key, path));
        const pause = progress.advance(1);
        if (pause !== undefined) await pause;
      }
    }
    const ownFiles = own
      .filter((name) => !ALWAYS_FILES.includes(name))
      .map((name) => ({ name, isPut: true, isCached: true }));
    const digest = state.finish(manifest, { ...(withheld && { withheld }) }, ownFiles);
    state.close();
    removeDatabase(tree.database);
    renameSync(partial, tree.database);
    progress.finish();
    return digest;
  } finally {
    state.close();
  }
}

/** With what SQLite keeps next to it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['-wal', '-shm', '-journal', '']) rmSync(file + suffix, { force: true });
}

const UNKNOWN = (key: number): Entry => ({ key, bytes: COMPRESSED_FROM_BYTES, hash: NO_HASH });

function entryOf(key: number, path: string): Entry {
  const { bytes, hash } = measure(path);
  // A link or a pipe has none.
  return { key, bytes, hash: hash.length === 0 ? NO_HASH : hash };
}

/** Whether a document has exactly the siblings that it should have, with its own content. */
function isUntorn(path: string, from: number): boolean {
  if (!existsSync(path)) return false;
  const content = measure(path);
  const expected = new Set(namesOf(path, content.bytes, from).slice(1));
  return CODINGS.every((coding) => {
    const sibling = path + coding.suffix;
    return expected.has(sibling) ? isAsIndexed(sibling, content, coding) : !existsSync(sibling);
  });
}

/** The keys of a route's documents and of their compressed siblings, each once. */
function keysOfAnyForm(keys: Scan['keys'], route: string): Iterable<number> {
  const forms = ['', ...CODINGS.map(({ suffix }) => suffix)];
  const all = forms.flatMap((suffix) => [...(keys.get(route + suffix) ?? [])]);
  return new Set(all.toSorted((a, b) => a - b));
}
