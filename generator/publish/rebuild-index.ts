/** Rebuilds the index from the tree, if it is missing, damaged, or of another snapshot, or if there is none. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { HashFileWriter, NO_HASH } from '../tree/hash-file.js';
import type { Progress } from '../progress.js';
import { filler } from '../routes/index.js';
import { CODINGS, COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { summarise, treeDigest } from '../tree/digest.js';
import type { RouteSummary } from '../tree/index-json.js';
import { writeIndex } from '../tree/index-json.js';
import { measure } from '../tree/measure.js';
import { scan } from '../tree/scan.js';
import type { Scan } from '../tree/scan.js';
import { isRendered } from '../tree/published-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';

/**
 * @param isSnapshot whether the routes are a snapshot's. Otherwise nothing is known about the files
 * found at their paths, compressed siblings without a document among them: all count as damaged
 * @returns the digest of the tree, which equals the snapshot's unless files were altered
 */
export async function rebuildIndex(
  tree: Tree,
  published: readonly PublishedRoute[],
  progress: Progress,
  isSnapshot = true,
): Promise<string> {
  const routes = published.filter(isRendered);
  const { keys } = await scan(tree, routes, progress);
  const total = [...keys.values()].reduce((sum, { length }) => sum + length, 0);
  progress.start('rebuilding the index', total, 'files');
  rmSync(tree.index, { recursive: true, force: true });
  const sums: Record<string, string> = {};
  const summaries: Record<string, RouteSummary> = {};
  for (const route of routes) {
    const { name } = route;
    const writer = new HashFileWriter(join(tree.index, name));
    const fileOf = filler(route.file);
    const found = isSnapshot ? (keys.get(name) ?? []) : keysOfAnyForm(keys, name);
    for (const key of found) {
      const { bytes, hash } = isSnapshot
        ? measure(join(tree.out, fileOf(key)))
        : { bytes: COMPRESSED_FROM_BYTES, hash: NO_HASH };
      // A link or a pipe has none.
      writer.add({ key, bytes, hash: hash.length === 0 ? NO_HASH : hash });
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
    sums[name] = writer.finish();
  }
  const digest = treeDigest(
    routes,
    (route) => (summaries[route.name] = summarise(join(tree.index, route.name), route)),
  );
  writeIndex(tree.index, { digest, sums, routes: summaries, fingerprints: false, exports: {}, absent: [] });
  progress.finish();
  return digest;
}

/** The keys of a route's documents and of their compressed siblings, each once. */
function keysOfAnyForm(keys: Scan['keys'], route: string): Iterable<number> {
  const forms = ['', ...CODINGS.map(({ suffix }) => suffix)];
  const all = forms.flatMap((suffix) => [...(keys.get(route + suffix) ?? [])]);
  return new Set(all.toSorted((a, b) => a - b));
}
