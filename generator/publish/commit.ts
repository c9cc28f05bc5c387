/**
 * The commit: a complete stage becomes the published tree. Once everything is on the disk, the state's
 * transaction is committed, which is the point of no return: from then on whoever opens the tree carries
 * out what is left, and each move can be repeated. That needs no room: it only renames and deletes, with
 * snapshot.json after the documents.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure, codeOf, isInterrupt } from '../base/errors.js';
import { flushOne, makeFolder } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import { Lock } from '../base/lock.js';
import type { Progress } from '../base/progress.js';
import { isCommitting, isSound } from '../state/published.js';
import { State } from '../state/state.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { changedFiles } from './changed-files.js';
import { deleteFile, deleteFolder, move, moveEach } from './moves.js';
import { rebuildState } from './rebuild-state.js';
import { stagePaths, unflattened } from './stage.js';

// Flushing

/** Flushes everything below a folder: its file system, by one flush instead of one per file, if that can be. */
export function flush(folder: string): void {
  if (!flushFileSystem(folder)) flushEach(folder);
}

/**
 * Flushes a folder's file system, or all file systems if `sync` does not support `-f`. Node has no
 * syncfs(2); coreutils has.
 * HAZARD: the `sync` of macOS ignores `-f`, and ends before the data is on the disk, as POSIX lets it.
 * @returns false if the program is missing (a container without a shell, or Windows)
 */
function flushFileSystem(folder: string): boolean {
  for (const options of [['-f', folder], []]) {
    const { status, error } = spawnSync('sync', options, { stdio: 'ignore' });
    if (status === 0) return true;
    if (codeOf(error) === 'ENOENT') return false;
  }
  throw Failure.environment(`the file system of "${folder}" can't be flushed`);
}

/** Flushes every file and folder below a folder, one by one. */
export function flushEach(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) flushOne(join(entry.parentPath, entry.name));
  }
  flushOne(folder);
}

// Carrying out

/** Whether a pause ended with the request to stop, which is too late once the state is committed. */
async function isStop(pause: Promise<void>): Promise<boolean> {
  try {
    await pause;
    return false;
  } catch (error) {
    if (isInterrupt(error)) return true;
    throw error;
  }
}

/** Carries out what the state has committed, or the rest of that. Idempotent. Not interruptible. */
export async function apply(tree: Tree, state: State, progress: Pick<Progress, 'advance'>): Promise<void> {
  let isStopped = false;
  try {
    freeReserve(tree);
    for (const _ of moves(tree, state)) {
      const pause = isStopped ? undefined : progress.advance(1);
      if (pause !== undefined) isStopped = await isStop(pause);
    }
    // Otherwise a power failure could undo moves of a commit that is noted as done: POSIX orders neither.
    // HAZARD: without the program `sync` it is left to the file system; ext4 and XFS keep the order.
    flushFileSystem(tree.out);
    state.markPublished();
    deleteFolder(tree.stage);
  } catch (error) {
    const failure = asFailure(error, `output folder "${tree.out}"`);
    if (!(failure instanceof Failure)) throw error;
    throw failure.adding('the commit had begun, and the next build or verify --repair completes it');
  }
}

/** Moves new documents, replaces and deletes others, and then moves the changes and snapshot.json; yields after each. */
function* moves(tree: Tree, state: State): Generator<void, void, undefined> {
  const { out } = tree;
  const paths = stagePaths(tree);
  // Its folders were looked at before the commit: links may have been placed since.
  const own = new OwnFolder(out);
  const placeOf = (name: string): string => {
    const file = unflattened(name);
    own.pathOf(file);
    return file;
  };
  yield* move(paths.tree, out);
  yield* moveEach(paths.replacing, out, placeOf);
  const { newest } = state;
  if (newest?.stage === 'committing' && newest.changes !== null)
    for (const { file, isPut } of changedFiles(state, newest)) {
      if (isPut) continue;
      own.pathOf(file);
      deleteFile(out, file);
      yield;
    }
  yield* move(paths.last, out);
  yield* move(paths.manifest, tree.manifest);
}

/** Frees the reserved disk space. Some file systems do so only once the deletion is on disk. */
function freeReserve(tree: Tree): void {
  const { reserve } = stagePaths(tree);
  if (!existsSync(reserve)) return;
  unlinkSync(reserve);
  flushOne(tree.stage);
}

// Recovery, which precedes every other operation on a tree

/**
 * Completes an interrupted commit, if there is one.
 * @throws Failure busy: another process is at work on the tree; environment: a file or folder of ours
 * is a symbolic link
 */
export async function completeCommit(tree: Tree, progress: Progress): Promise<void> {
  tree.requireNoLinks();
  if (!isCommitting(tree)) return;
  const lock = Lock.take(tree.lock);
  try {
    if (isCommitting(tree)) await complete(tree, progress);
  } finally {
    lock.release();
  }
}

async function complete(tree: Tree, progress: Progress): Promise<void> {
  progress.start('completing an interrupted commit', 0, 'moves');
  makeFolder(tree.out);
  using state = State.open(tree.database);
  // Where somebody has deleted the stage, what the tree has is all there is: the state is rebuilt from it.
  const isStaged = existsSync(stagePaths(tree).manifest);
  const { newest } = state;
  const canGoOn = isStaged || readManifest(tree.manifest)?.digest === newest?.digest;
  if (newest !== undefined && canGoOn && state.knowsChangesOf(newest)) await apply(tree, state, progress);
  else state.distrust();
  progress.finish();
}

/** Completes an interrupted commit and rebuilds an unsound state. @returns the snapshot, if there is one */
export async function recover(tree: Tree, progress: Progress): Promise<Manifest | undefined> {
  if (isCommitting(tree)) await complete(tree, progress);
  const manifest = readManifest(tree.manifest);
  if (manifest === undefined) return undefined;
  if (await progress.blocking(() => isSound(tree, manifest.digest), 'checking the state for damage'))
    return manifest;
  return { ...manifest, digest: await rebuildState(tree, manifest.routes, progress, manifest) };
}
