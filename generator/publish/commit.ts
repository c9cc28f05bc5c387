/** The commit: a complete stage becomes the published tree. If interrupted anywhere, it resumes. */
import { existsSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure, asFailure, isInterrupt } from '../errors.js';
import type { Progress } from '../progress.js';
import { flushOne, linesOf, makeFolder } from '../files.js';
import { OwnFolder } from '../links.js';
import { dropOldLists } from './changed-files.js';
import { REPLACED, readJournal } from './journal.js';
import type { Operation } from './journal.js';
import { deleteFile, deleteFolder, move, moveEach } from './moves.js';
import { keptIn, listFiles, stagePaths, unflattened } from './stage.js';
import type { Tree } from '../tree/tree.js';

/** Deletes a folder in the background. */
export type Discard = (folder: string) => Promise<void>;

/** Whether a pause ended with the request to stop, which is too late once there is a journal. */
export async function isStop(pause: Promise<void>): Promise<boolean> {
  try {
    await pause;
    return false;
  } catch (error) {
    if (isInterrupt(error)) return true;
    throw error;
  }
}

/**
 * Carries out a prepared commit, or the rest of an interrupted one. Idempotent. Not interruptible.
 * @param discard deletes the old rollback data in parallel with the renames, which take as long.
 * Pass it only right after `writeJournal`: a resumed commit must not touch `previous`
 */
export async function apply(
  tree: Tree,
  progress: Pick<Progress, 'advance'>,
  discard?: Discard,
): Promise<void> {
  let isStopped = false;
  try {
    const operations = readJournal(tree);
    const own = new OwnFolder(tree.out);
    // Whatever remains is deleted with the stage.
    const discarding = discard && Promise.allSettled(partsOf(setAside(tree)).map(discard));
    freeReserve(tree);
    for (const operation of operations)
      for (const _ of carryOut(tree, own, operation)) {
        const pause = isStopped ? undefined : progress.advance(1);
        if (pause !== undefined) isStopped = await isStop(pause);
      }
    await discarding;
    dropOldLists(tree);
    // What was replaced may be withheld, so it is gone before the commit is done.
    for (const name of REPLACED) rmSync(join(tree.stage, name), { recursive: true, force: true });
    unlinkSync(tree.journal);
    deleteFolder(tree.stage);
  } catch (error) {
    const failure = asFailure(error, `output folder "${tree.out}"`);
    if (!(failure instanceof Failure)) throw error;
    throw failure.adding('the commit had begun, and the next build or verify --repair completes it');
  }
}

/**
 * Yields after each move or deletion.
 * @param own the tree, whose folders were looked at before the commit: links may have been placed since
 */
function* carryOut(
  { out, stage, state }: Tree,
  own: OwnFolder,
  operation: Operation,
): Generator<void, void, undefined> {
  const placeOf = (name: string): string => {
    const file = unflattened(name);
    own.pathOf(file);
    return file;
  };
  if ('put' in operation) yield* move(join(stage, operation.put), join(out, operation.at));
  else if ('putEach' in operation) yield* moveEach(join(stage, operation.putEach), out, placeOf);
  else if ('deleteIn' in operation) {
    for (const list of listFiles(join(stage, operation.deleteIn), 'removed')) {
      for (const file of linesOf(list)) {
        own.pathOf(file);
        deleteFile(out, file);
        yield;
      }
    }
  } else replace(join(state, operation.replace), join(stage, operation.by), join(stage, operation.keep));
}

/** Replaces a file or folder. What is to be kept is missing if this was interrupted between its renames. */
function replace(path: string, by: string, keep: string): void {
  if (!existsSync(by)) return;
  if (existsSync(path)) renameSync(path, keep);
  else makeFolder(dirname(path));
  renameSync(by, path);
}

/**
 * Moves the old rollback data out of `previous` and into the stage. If the commit is interrupted
 * while it is being deleted, the resumed commit can still put the new data into `previous`.
 */
function setAside(tree: Tree): string {
  const { outdated } = stagePaths(tree);
  if (existsSync(tree.previous)) renameSync(tree.previous, outdated);
  return outdated;
}

/** The folders that hold most of the old rollback data; they can be deleted in parallel. */
function partsOf(outdated: string): readonly string[] {
  const kept = keptIn(outdated);
  return existsSync(kept) ? readdirSync(kept).map((name) => join(kept, name)) : [];
}

/** Frees the reserved disk space. Some file systems do so only once the deletion is on disk. */
function freeReserve(tree: Tree): void {
  const { reserve } = stagePaths(tree);
  if (!existsSync(reserve)) return;
  unlinkSync(reserve);
  flushOne(tree.stage);
}
