/** The commit: a complete stage becomes the published tree. If interrupted anywhere, it resumes. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, asFailure, codeOf, isInterrupt } from '../errors.js';
import type { Progress } from '../progress.js';
import { flushOne, linesOf, readText, replaceFile } from '../files.js';
import { keepChangedFiles } from './changed-files.js';
import { isCopy } from './copied.js';
import { deleteFile, deleteFolder, moveEach, moveInto } from './moves.js';
import { listFiles, stagePaths } from './stage.js';
import type { StagePaths } from './stage.js';
import { keptIn, unflattened } from './stage-writer.js';
import type { Takedown } from './takedown.js';
import type { Tree } from '../tree/tree.js';

/** Flushes all that a commit needs, by one flush of the file system instead of one per file. */
export const flushStage = ({ stage }: Tree): void => flush(stage);

/** Marks a flushed stage as complete. From here on the commit only goes forward. */
export const writeJournal = ({ journal }: Tree, sequence: number): void =>
  replaceFile(journal, JSON.stringify({ sequence }));

/**
 * Flushes a folder's file system, or all file systems if `sync` does not support `-f`. Node has no
 * syncfs(2); coreutils has.
 */
export function flush(folder: string): void {
  for (const options of [['-f', folder], []]) {
    const { status, error } = spawnSync('sync', options, { stdio: 'ignore' });
    if (status === 0) return;
    // The program is missing (a container without a shell, or Windows).
    if (codeOf(error) === 'ENOENT') return flushEach(folder);
  }
  throw Failure.environment(`the file system of "${folder}" can't be flushed`);
}

/** Flushes every file and folder below a folder, one by one. */
function flushEach(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) flushOne(join(entry.parentPath, entry.name));
  }
  flushOne(folder);
}

const journalSchema = z.object({ sequence: z.int() });

const readJournal = (journal: string): z.infer<typeof journalSchema> =>
  journalSchema.parse(JSON.parse(readFileSync(journal, 'utf8')));

const TAKEN_DOWN = 'taken-down';

/** Why there is no previous snapshot to roll back to; undefined if nothing was withheld. */
export const takenDown = ({ previous }: Tree): string | undefined => readText(join(previous, TAKEN_DOWN));

/** Stages what takes the place of the previous snapshot. @param why there is none to go back to */
export function stageWithout({ withoutPrevious }: StagePaths, why: string): void {
  mkdirSync(withoutPrevious);
  writeFileSync(join(withoutPrevious, TAKEN_DOWN), why);
}

/** The same after a takedown: a rollback would publish a withheld record. */
export function stageTakedown(paths: StagePaths, { before }: Takedown): void {
  // If the state was lost, so was the list of what was withheld before.
  const verb = before === undefined ? 'may have been' : 'was';
  stageWithout(paths, `something ${verb} withheld since, which going back would publish again`);
}

/** Replaces the previous snapshot. @param folder in the stage */
export function replacePrevious(tree: Tree, folder: string): void {
  rmSync(tree.previous, { recursive: true, force: true });
  renameSync(folder, tree.previous);
}

/** Whether a commit was interrupted. */
export const isPrepared = ({ journal }: Tree): boolean => existsSync(journal);

/** Deletes a folder in the background. */
export type Discard = (folder: string) => Promise<void>;

/** Whether a pause ended with the request to stop, which is too late once there is a journal. */
async function isStop(pause: Promise<void>): Promise<boolean> {
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
export async function apply(tree: Tree, progress: Progress, discard?: Discard): Promise<void> {
  let isStopped = false;
  const take = async (steps: Iterable<void>): Promise<void> => {
    for (const _ of steps) {
      const pause = isStopped ? undefined : progress.advance(1);
      if (pause !== undefined) isStopped = await isStop(pause);
    }
  };
  try {
    // Whatever remains is deleted with the stage.
    const discarding = discard && Promise.allSettled(partsOf(setAside(tree)).map(discard));
    await take(publishSteps(tree));
    await discarding;
    tidyUp(tree);
  } catch (error) {
    const failure = asFailure(error, `output folder "${tree.out}"`);
    if (!(failure instanceof Failure)) throw error;
    throw failure.adding('the commit had begun, and the next build or verify --repair completes it');
  }
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

/** Brings the published folder up to date; yields after each move or deletion. */
function* publishSteps(tree: Tree): Generator<void, void, undefined> {
  const paths = stagePaths(tree);
  freeReserve(paths.reserve, tree.stage);
  yield* moveInto(paths.tree, tree.out);
  yield* moveEach(paths.replacing, tree.out, unflattened);
  for (const list of listFiles(paths.lists, 'removed')) {
    for (const file of linesOf(list)) {
      deleteFile(tree.out, file);
      yield;
    }
  }
  if (existsSync(paths.index)) {
    // The old index is missing if the commit was interrupted between these two renames.
    if (existsSync(tree.index)) renameSync(tree.index, join(paths.previous, 'index'));
    renameSync(paths.index, tree.index);
  }
  yield* moveInto(paths.last, tree.out);
  if (existsSync(paths.manifest)) renameSync(paths.manifest, tree.manifest);
}

/** Keeps the rollback data and all lists, and removes the journal and the stage. */
function tidyUp(tree: Tree): void {
  const paths = stagePaths(tree);
  const { sequence } = readJournal(paths.journal);
  const previous = [paths.withoutPrevious, paths.previous].find((folder) => existsSync(folder));
  if (previous === paths.withoutPrevious) rmSync(paths.previous, { recursive: true, force: true });
  if (previous !== undefined) replacePrevious(tree, previous);
  if (existsSync(paths.changed)) keepChangedFiles(tree, paths.changed, sequence);
  // Nobody asks a copy for its lists; they are deleted with the stage.
  if (existsSync(paths.lists) && !isCopy(tree)) renameSync(paths.lists, tree.unreported(sequence));
  unlinkSync(paths.journal);
  deleteFolder(tree.stage);
}

/** Frees the reserved disk space. Some file systems do so only once the deletion is on disk. */
function freeReserve(reserve: string, folder: string): void {
  if (!existsSync(reserve)) return;
  unlinkSync(reserve);
  flushOne(folder);
}
