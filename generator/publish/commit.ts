/** The commit: a complete stage becomes the published tree. If interrupted anywhere, it resumes. */
import { existsSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure, isInterrupt } from '../errors.js';
import type { Progress } from '../progress.js';
import { flushOne, linesOf, renameFolder } from '../files.js';
import { OwnFolder } from '../links.js';
import { dropOldLists } from './changed-files.js';
import { flushFileSystem } from './flush.js';
import { REPLACED, readJournal, type Operation } from './journal.js';
import { deleteFile, deleteFolder, move, moveEach } from './moves.js';
import { keptIn, listFiles, stagePaths, unflattened } from './stage.js';
import { dropFormerFiles } from '../tree/index-json.js';
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
    dropFormerFiles(tree.index);
    dropOldLists(tree);
    // What was replaced may be withheld, so it is gone before the commit is done.
    for (const name of REPLACED) rmSync(join(tree.stage, name), { recursive: true, force: true });
    // Otherwise a power failure could undo moves and leave no journal: POSIX orders neither. HAZARD:
    // without the program `sync` it is left to the file system; ext4 and XFS keep the order.
    flushFileSystem(tree.out);
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
function* carryOut(tree: Tree, own: OwnFolder, operation: Operation): Generator<void, void, undefined> {
  const { out, stage, state } = tree;
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
  } else if (operation.replace === 'previous') replacePrevious(tree, join(stage, operation.by));
  else yield* move(join(stage, operation.by), join(state, operation.replace));
}

/** Replaces the rollback data as a whole: a mixture of old and new would be of no snapshot. */
function replacePrevious(tree: Tree, by: string): void {
  if (!existsSync(by)) return;
  setAside(tree);
  // By now the stage may be in a lower layer: a container was killed, and became an image. Then
  // there is no rollback data, rather than what another interruption would leave of it.
  if (!renameFolder(by, tree.previous)) deleteFolder(by);
}

/**
 * Moves the old rollback data out of `previous` and into the stage, or deletes it where it can't be
 * moved. If the commit is interrupted while it is being deleted, the resumed commit can still put the
 * new data into `previous`.
 */
function setAside(tree: Tree): string {
  const { outdated } = stagePaths(tree);
  if (existsSync(tree.previous) && !renameFolder(tree.previous, outdated)) deleteFolder(tree.previous);
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
