/** The ledger anew, from the tree itself: for when it is missing, damaged, or of another snapshot. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import { filler } from '../routes.js';
import { isRendered } from './comparison.js';
import { treeDigest } from './digest.js';
import { LedgerWriter } from './ledger.js';
import { writeLedgerIndex } from './ledger-index.js';
import type { Manifest } from './manifest.js';
import { measure, scan } from './scan.js';
import type { Tree } from './tree.js';

/** @returns the digest of the tree as it is, which is the snapshot's unless files were tampered with */
export async function rebuildLedger(
  tree: Tree,
  folder: string,
  { routes: published }: Manifest,
  progress: Progress,
): Promise<string> {
  const routes = published.filter(isRendered);
  const { keys } = await scan(tree, routes, progress);
  const total = [...keys.values()].reduce((sum, { length }) => sum + length, 0);
  progress.start('rebuilding the ledger', total, 'files');
  rmSync(folder, { recursive: true, force: true });
  const sums: Record<string, string> = {};
  for (const { name, file } of routes) {
    const writer = new LedgerWriter(folder, name, file);
    const placeOf = filler(file);
    for (const key of keys.get(name) ?? []) {
      writer.add({ key, ...measure(join(tree.out, placeOf(key))) });
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
    sums[name] = writer.finish();
  }
  const digest = treeDigest(folder, routes);
  writeLedgerIndex(folder, { digest, sums });
  progress.finish();
  return digest;
}
