/** The commit: a complete stage becomes the published tree. Interrupted anywhere, it goes on where it was. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, codeOf, asFailure } from '../errors.js';
import type { Progress } from '../progress.js';
import { deleteFile, linesOf, moveEach, moveInto } from './files.js';
import { listFiles, stagePaths } from './stage.js';
import { keptIn, unflattened } from './stage-writer.js';
import type { Tree } from './tree.js';

/**
 * Marks a stage as complete. From here on the commit can only go forward: everything it needs is on the disk,
 * by one flush of the file system instead of one for each file.
 * @param takesDown nothing of what it replaces may be kept: something is withheld now
 */
export function prepareCommit(tree: Tree, sequence: number, takesDown: boolean): void {
  const { journal } = stagePaths(tree);
  // Node has no syncfs(2); coreutils has.
  flush(tree.stage);
  const partial = `${journal}.partial`;
  const descriptor = openSync(partial, 'w');
  try {
    writeSync(descriptor, JSON.stringify({ sequence, takes_down: takesDown }));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(partial, journal);
}

/** One flush of the file system that holds a folder; of all, where `sync` can't tell them apart. */
function flush(folder: string): void {
  for (const options of [['-f', folder], []]) {
    const { status, error } = spawnSync('sync', options, { stdio: 'ignore' });
    if (status === 0) return;
    // No such program (in a container without a shell, on Windows).
    if (codeOf(error) === 'ENOENT') return flushEach(folder);
  }
  throw Failure.environment(`the file system of "${folder}" can't be flushed`);
}

/** Flushes every file and folder below a folder by itself. */
function flushEach(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) flushOne(join(entry.parentPath, entry.name));
  }
  flushOne(folder);
}

function flushOne(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const journalSchema = z.object({ sequence: z.int(), takes_down: z.boolean().default(false) });

/** Versions before format 3 say nothing of takedowns. */
const readJournal = (journal: string): z.infer<typeof journalSchema> =>
  journalSchema.parse(JSON.parse(readFileSync(journal, 'utf8')));

/** The file that says why there is no previous snapshot to go back to. */
export const takenDown = ({ previous }: Tree): string => join(previous, 'taken-down');

/** Deletes what the last commit replaced: going back would publish what is withheld. */
export function forgetPrevious(tree: Tree): void {
  rmSync(tree.previous, { recursive: true, force: true });
  mkdirSync(tree.previous);
  writeFileSync(takenDown(tree), '');
}

/** Whether a commit was interrupted. */
export const isPrepared = (tree: Tree): boolean => existsSync(stagePaths(tree).journal);

/** Deletes a folder meanwhile. */
export type Discard = (folder: string) => Promise<void>;

/**
 * Does what a prepared stage says, or the rest of it. Idempotent.
 * @param discard helps with what takes as long as all else: deleting what the last commit replaced, which nobody goes
 *   back to from then on. Only right after `prepareCommit`: a commit that is resumed must not touch what is kept
 * @throws Failure interrupted: stopped by a signal, to be gone on with later
 */
export async function apply(tree: Tree, progress: Progress, discard?: Discard): Promise<void> {
  const take = async (steps: Iterable<void>): Promise<void> => {
    for (const _ of steps) {
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  };
  try {
    // What it can't delete goes with the stage.
    const discarding = discard && Promise.allSettled(partsOf(setAside(tree)).map(discard));
    await take(published(tree));
    await discarding;
    tidyUp(tree);
  } catch (error) {
    const failure = asFailure(error, `output folder "${tree.out}"`);
    if (!(failure instanceof Failure)) throw error;
    throw failure.adding('the commit had begun, and the next build or verify --repair completes it');
  }
}

/**
 * Moves what the last commit replaced away: who deletes it may do so a moment longer than an interrupted commit lasts,
 * and whoever completes that keeps what this commit replaced in its place.
 */
function setAside(tree: Tree): string {
  const { outdated } = stagePaths(tree);
  if (existsSync(tree.previous)) renameSync(tree.previous, outdated);
  return outdated;
}

/** Folders that hold nearly all of what a commit replaced, some of which can be deleted at once. */
function partsOf(outdated: string): readonly string[] {
  const kept = keptIn(outdated);
  return existsSync(kept) ? readdirSync(kept).map((name) => join(kept, name)) : [];
}

/** The tree as it is served. */
function* published(tree: Tree): Generator<void, void, undefined> {
  const paths = stagePaths(tree);
  free(paths.reserve, tree.stage);
  yield* moveInto(paths.tree, tree.out);
  yield* moveEach(paths.replacing, tree.out, unflattened);
  for (const list of listFiles(paths.lists, 'removed')) {
    for (const file of linesOf(list)) {
      deleteFile(tree.out, file);
      yield;
    }
  }
  if (existsSync(paths.index)) {
    // The old index is there unless the interruption came between these two renames.
    if (existsSync(tree.index)) renameSync(tree.index, join(paths.previous, 'index'));
    renameSync(paths.index, tree.index);
  }
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  yield* moveInto(paths.changes, join(tree.out, 'changes'));
  if (existsSync(paths.manifest)) renameSync(paths.manifest, tree.manifest);
}

/** The bookkeeping. */
function tidyUp(tree: Tree): void {
  const paths = stagePaths(tree);
  const { sequence, takes_down: takesDown } = readJournal(paths.journal);
  if (takesDown) forgetPrevious(tree);
  else if (existsSync(paths.previous)) {
    rmSync(tree.previous, { recursive: true, force: true });
    renameSync(paths.previous, tree.previous);
  }
  if (existsSync(paths.lists)) renameSync(paths.lists, tree.unreported(sequence));
  unlinkSync(paths.journal);
  rmSync(tree.stage, { recursive: true, force: true });
}

/** Gives the reserve back to the disk. Some file systems do so only when the deletion itself is on the disk. */
function free(reserve: string, folder: string): void {
  if (!existsSync(reserve)) return;
  unlinkSync(reserve);
  flushOne(folder);
}
