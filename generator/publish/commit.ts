/** The commit: a complete stage becomes the published tree. Interrupted anywhere, it goes on where it was. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { chunksOf, deleteFile, linesOf, moveInto } from './files.js';
import { stagePaths } from './stage.js';
import type { StagePaths } from './stage.js';
import type { Tree } from './tree.js';

/**
 * Marks a stage as complete. From here on the commit can only go forward: everything it needs is on the disk,
 * by one flush of the file system instead of one for each file.
 */
export function seal(tree: Tree, sequence: number): void {
  const { journal } = stagePaths(tree);
  // Node has no syncfs(2); coreutils has. Where there is none, a crash of the machine may cost a rebuild.
  spawnSync('sync', ['-f', tree.stage], { stdio: 'ignore' });
  const descriptor = openSync(journal, 'w');
  try {
    writeSync(descriptor, JSON.stringify({ sequence }));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a commit was interrupted. */
export const isSealed = (tree: Tree): boolean => existsSync(stagePaths(tree).journal);

/**
 * Does what a sealed stage says, or the rest of it. Idempotent.
 * @throws Failure interrupted: stopped by a signal, to be gone on with later
 */
export async function apply(tree: Tree, progress: Progress): Promise<void> {
  try {
    for (const _ of steps(tree)) {
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw error.adding('the commit had begun, and the next build or verify --repair completes it');
  }
}

function* steps(tree: Tree): Generator<void, void, undefined> {
  const paths = stagePaths(tree);
  yield* moveInto(paths.tree, tree.out);
  yield* removeAll(tree, paths.removed);
  if (existsSync(paths.ledger)) {
    // The old ledger is there unless the interruption came between these two renames.
    if (existsSync(tree.ledger)) renameSync(tree.ledger, join(paths.previous, 'ledger'));
    renameSync(paths.ledger, tree.ledger);
  }
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  yield* moveInto(paths.changes, join(tree.out, 'changes'));
  if (existsSync(paths.manifest)) renameSync(paths.manifest, tree.manifest);
  yield* removeAll(tree, paths.left);
  if (existsSync(paths.previous)) {
    rmSync(tree.previous, { recursive: true, force: true });
    renameSync(paths.previous, tree.previous);
  }
  report(tree, paths);
  unlinkSync(paths.journal);
  rmSync(tree.stage, { recursive: true, force: true });
}

/** Notes what was done for `takeReport`; a commit that was interrupted here notes it twice, which does no harm. */
function report(tree: Tree, paths: StagePaths): void {
  mkdirSync(tree.unreported, { recursive: true });
  for (const list of ['files', 'urls'] as const) {
    const descriptor = openSync(join(tree.unreported, list), 'a');
    try {
      for (const chunk of chunksOf(paths[list])) writeSync(descriptor, chunk);
      writeSync(descriptor, '\n');
    } finally {
      closeSync(descriptor);
    }
  }
}

function* removeAll(tree: Tree, list: string): Generator<void, void, undefined> {
  for (const file of linesOf(list)) {
    deleteFile(tree.out, file);
    yield;
  }
}
