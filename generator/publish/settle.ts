/** Before anything else is done with a tree: what an interruption or an accident left is put in order. */
import { rmSync } from 'node:fs';
import type { Progress } from '../progress.js';
import { apply, isSealed } from './commit.js';
import { makeFolder } from './files.js';
import { soundLedger } from './ledger-index.js';
import { Lock } from './lock.js';
import { readManifest } from './manifest.js';
import type { Manifest } from './manifest.js';
import { rebuildLedger } from './rebuild.js';
import type { Tree } from './tree.js';

/**
 * Completes an interrupted commit, if there is one.
 * @throws Failure environment: another process is at work on the tree
 */
export async function completeCommit(tree: Tree, progress: Progress): Promise<void> {
  if (!isSealed(tree)) return;
  const lock = Lock.take(tree.lock);
  try {
    if (isSealed(tree)) await complete(tree, progress);
  } finally {
    lock.release();
  }
}

async function complete(tree: Tree, progress: Progress): Promise<void> {
  progress.start('completing an interrupted commit', 0, 'moves');
  makeFolder(tree.out);
  await apply(tree, progress);
  progress.finish();
}

/** Completes an interrupted commit and rebuilds a ledger that can't be relied on; returns the snapshot there is. */
export async function settle(tree: Tree, progress: Progress): Promise<Manifest | undefined> {
  tree.adoptFormerState();
  if (isSealed(tree)) await complete(tree, progress);
  const manifest = readManifest(tree.manifest);
  if (manifest === undefined) {
    rmSync(tree.ledger, { recursive: true, force: true });
    return undefined;
  }
  if (soundLedger(tree.ledger, manifest.digest)) return manifest;
  return { ...manifest, digest: await rebuildLedger(tree, tree.ledger, manifest, progress) };
}
