/** Rebuilds the index from the tree, if it is missing, damaged, or of another snapshot. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { HashFileWriter } from '../incremental/hash-file.js';
import type { Progress } from '../progress.js';
import { filler } from '../routes/index.js';
import { indexDigest, summarise } from './digest.js';
import type { RouteSummary } from './digest.js';
import { writeIndex } from './index-json.js';
import { measure, scan } from './scan.js';
import { isRendered } from './snapshot-json.js';
import type { Manifest } from './snapshot-json.js';
import type { Tree } from './tree.js';

/** @returns the digest of the tree, which equals the snapshot's unless files were altered */
export async function rebuildIndex(
  tree: Tree,
  { routes: published }: Manifest,
  progress: Progress,
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
    const path = join(tree.index, name);
    const writer = new HashFileWriter(path);
    const fileOf = filler(route.file);
    for (const key of keys.get(name) ?? []) {
      writer.add({ key, ...measure(join(tree.out, fileOf(key))) });
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
    sums[name] = writer.finish();
    summaries[name] = summarise(path, route);
  }
  const digest = indexDigest(tree.index, routes);
  writeIndex(tree.index, { digest, sums, routes: summaries, fingerprints: false, exports: {}, absent: [] });
  progress.finish();
  return digest;
}
