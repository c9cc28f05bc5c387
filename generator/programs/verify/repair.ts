/** Repairs a tree: a build writes damaged files again, and what would be served without being published is deleted. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, requireNoLink } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { completeCommit } from '../../publish/commit.js';
import { deleteFile } from '../../publish/moves.js';
import type { Tree } from '../../tree/tree.js';
import { interruption, verify, type VerifyReport } from './verify.js';

/** What a repair needs of the program that builds trees. */
export interface Builder {
  /**
   * Writes damaged files again, and what changed. @returns the number of the snapshot
   * @throws Failure invalid: the register can't be published
   */
  readonly build: (damaged: readonly string[] | 'all') => Promise<number>;
  readonly warn: (line: string) => void;
}

/**
 * Repairs a tree, and verifies it afterwards.
 * @param deletesUntracked whether files that no route leads to are deleted, too
 * @returns what was damaged, how many damages are left, and the number of the snapshot
 * @throws Failure: nothing was changed, except that an interrupted commit was completed
 */
export async function repair(
  tree: Tree,
  { build, warn }: Builder,
  progress: Progress,
  deletesUntracked: boolean,
): Promise<{ readonly found: VerifyReport; readonly left: number; readonly snapshot: number }> {
  makeFolder(tree.out);
  tree.requireNoLinks();
  tree.prepareState();
  const interrupted = existsSync(tree.commit) ? 1 : 0;
  await locked(tree, () => completeCommit(tree, progress, warn));
  const { report, damaged, extra } = await verify(tree, progress);
  // The build's commit would stop at a link in the place of a folder.
  for (const path of extra.map((file) => join(tree.out, file)))
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) requireNoLink(path);
  const damage = [...(interrupted > 0 ? [interruption(tree)] : []), ...report.damage];
  const snapshot = await build(damaged);
  // By the second check, since the build may have published something in the place of an extra file.
  const after = await verify(tree, progress);
  await locked(tree, async () => {
    for (const file of [...after.extra, ...(deletesUntracked ? after.untracked : [])])
      deleteFile(tree.out, file);
  });
  const found = { ...report, damage, total: report.total + interrupted, untracked: after.report.untracked };
  return { found, left: after.report.total - after.extra.length, snapshot };
}

async function locked<T>(tree: Tree, work: () => Promise<T>): Promise<T> {
  const lock = Lock.take(tree.lock);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
