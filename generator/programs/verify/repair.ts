/** Repairs a tree: a build writes what is damaged again; what is served without being published is deleted. */
import { existsSync } from 'node:fs';
import { makeFolder } from '../../base/files.js';
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
 * @param progress called for each step
 * @param deletesUntracked whether files that no route leads to are deleted, too
 * @returns what was damaged, how many damages are left, and the number of the snapshot
 * @throws Failure: nothing was changed, except that an interrupted commit was completed
 */
export async function repair(
  tree: Tree,
  { build, warn }: Builder,
  progress: () => Progress,
  deletesUntracked: boolean,
): Promise<{ readonly found: VerifyReport; readonly left: number; readonly snapshot: number }> {
  makeFolder(tree.out);
  tree.prepareState();
  const interrupted = existsSync(tree.commit) ? 1 : 0;
  await locked(tree, () => completeCommit(tree, progress(), warn));
  const checked = await verify(tree, progress());
  const { damaged, extra } = checked;
  const report = {
    ...checked.report,
    damage: [...(interrupted > 0 ? [interruption(tree)] : []), ...checked.report.damage],
    total: checked.report.total + interrupted,
  };
  const snapshot = await build(damaged);
  await locked(tree, async () => {
    for (const file of extra) deleteFile(tree.out, file);
  });
  const after = await verify(tree, progress());
  if (deletesUntracked)
    await locked(tree, async () => {
      for (const file of after.untracked) deleteFile(tree.out, file);
    });
  return { found: { ...report, untracked: after.report.untracked }, left: after.report.total, snapshot };
}

async function locked<T>(tree: Tree, work: () => Promise<T>): Promise<T> {
  const lock = Lock.take(tree.lock);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
