/** Recovery, which precedes every other operation on a tree. */
import { rmSync } from 'node:fs';
import type { Progress } from '../progress.js';
import { apply } from './commit.js';
import { isPrepared } from './journal.js';
import { makeFolder } from '../files.js';
import { isSound } from '../tree/index-json.js';
import { Lock } from '../lock.js';
import { rebuildIndex } from './rebuild-index.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

/**
 * Completes an interrupted commit, if there is one.
 * @throws Failure busy: another process is at work on the tree; environment: a file or folder of ours
 * is a symbolic link
 */
export async function completeCommit(tree: Tree, progress: Progress): Promise<void> {
  tree.requireNoLinks();
  if (!isPrepared(tree)) return;
  const lock = Lock.take(tree.lock);
  try {
    if (isPrepared(tree)) await complete(tree, progress);
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

/** Completes an interrupted commit and rebuilds an unsound index. @returns the snapshot */
export async function recover(tree: Tree, progress: Progress): Promise<Manifest | undefined> {
  tree.adoptFormerState();
  if (isPrepared(tree)) await complete(tree, progress);
  const manifest = readManifest(tree.manifest);
  if (manifest === undefined) {
    rmSync(tree.index, { recursive: true, force: true });
    return undefined;
  }
  if (await progress.blocking(() => isSound(tree.index, manifest.digest), 'reading the index'))
    return manifest;
  return { ...manifest, digest: await rebuildIndex(tree, manifest.routes, progress) };
}
