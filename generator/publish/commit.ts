/**
 * The commit: a complete stage becomes the published tree. `seal` renames the stage, which is the point of
 * no return; `completeCommit` carries out what is left, also of a commit that was interrupted: as long as
 * `commit/` is there, each step can be repeated, and needs no room but that of folders that grow.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { Failure, asFailure, codeOf, isInterrupt, unlessFailure } from '../base/errors.js';
import { flushOne, makeFolder, readJson, renameFolder } from '../base/files.js';
import type { Progress } from '../base/progress.js';
import { INDEX_FILE, bundleFile, readChangeIndex } from '../tree/changes.js';
import { readSnapshot } from '../tree/snapshot.js';
import type { PublishedSnapshot } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { sha256, treeId } from '../tree/values.js';
import { linesIn } from './operator-lists.js';
import { deleteFile, deleteFolder, moveFiles, moveWhole } from './moves.js';
import { stagePaths } from './stage.js';

const snapshotId = z.object({ tree: treeId, sequence: z.int(), digest: sha256 });
/** What identifies a snapshot. */
export type SnapshotId = z.infer<typeof snapshotId>;

/**
 * The snapshots that a commit is between: it follows no other, since a state folder from a backup must not publish
 * again what was taken down since.
 */
const commitSchema = z.object({
  before: snapshotId.nullable(),
  after: snapshotId,
});
type Commit = z.infer<typeof commitSchema>;

export const idOf = ({ tree, sequence, digest }: PublishedSnapshot): SnapshotId => ({
  tree: tree.id,
  sequence,
  digest,
});

/** Flushes a folder's file system by one call instead of one per file, if the program for that is there. */
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
function flushEach(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) flushEach(join(folder, entry.name));
    else if (entry.isFile()) flushOne(join(folder, entry.name));
  flushOne(folder);
}

/** Writes to a complete stage which snapshots its commit is between. */
export const writeCommit = (stage: string, commit: Commit): void =>
  writeFileSync(stagePaths(stage).commit, JSON.stringify(commit));

/**
 * Makes a complete stage, which is flushed, a commit: from here on nothing stops it.
 * @throws Failure environment: the file system renames no folders; the tree is what it was
 */
export function seal(tree: Tree): void {
  if (!renameFolder(tree.stage, tree.commit))
    throw Failure.environment(
      `state folder "${tree.state}" is on a file system that renames no folders (EXDEV): choose another with --state`,
    );
  flushOne(tree.state);
}

/**
 * Completes a commit, if there is one. One of another tree or time is deleted: then it is not known what is published.
 * @throws Failure environment: the disk is full or fails; the next build goes on
 */
export async function completeCommit(
  tree: Tree,
  progress: Progress,
  warn: (line: string) => void,
): Promise<void> {
  const paths = stagePaths(tree.commit);
  if (!existsSync(paths.commit)) {
    rmSync(tree.commit, { recursive: true, force: true });
    return;
  }
  const { data: commit } = commitSchema.safeParse(readJson(paths.commit));
  if (commit === undefined || !isOfTree(tree, commit)) {
    warn(
      `warning: the commit in "${tree.state}" follows another snapshot than that in "${tree.out}", as where a` +
        ` folder was restored from a copy: it is deleted, and every file is written again`,
    );
    rmSync(tree.lists, { recursive: true, force: true });
    rmSync(tree.commit, { recursive: true, force: true });
    return;
  }
  try {
    makeFolder(tree.out);
    // snapshot.json has no line.
    let total = 1;
    for (const _ of linesIn([paths.put, paths.delete])) total += 1;
    progress.start('committing', total, 'files');
    // A request to stop is too late; once it is noticed, there are no more pauses.
    let isStopped = false;
    for (const _ of steps(tree, commit)) {
      const pause = isStopped ? undefined : progress.advance(1);
      if (pause !== undefined) isStopped = await isStop(pause);
    }
    progress.finish();
  } catch (error) {
    const failure = asFailure(error, `output folder "${tree.out}"`);
    if (!(failure instanceof Failure)) throw error;
    throw failure.adding('the commit had begun, and the next build or verify --repair completes it');
  }
}

/** Whether a commit leads on from what is published, or was begun on it: the index of changes is moved first. */
function isOfTree(tree: Tree, { before, after }: Commit): boolean {
  if (!existsSync(join(stagePaths(tree.commit).tree, INDEX_FILE))) {
    const { tree: id, sequence, digest } = readChangeIndex(tree) ?? {};
    return isDeepStrictEqual({ tree: id, sequence, digest }, after);
  }
  const published = unlessFailure(() => readSnapshot(tree.snapshotFile));
  return isDeepStrictEqual(published === undefined ? null : idOf(published), before);
}

/** Whether a pause ended with the request to stop. */
async function isStop(pause: Promise<void>): Promise<boolean> {
  try {
    await pause;
    return false;
  } catch (error) {
    if (!isInterrupt(error)) throw error;
    return true;
  }
}

/** Carries out a commit; yields after each file. */
function* steps(tree: Tree, { after }: Commit): Generator<void, void, undefined> {
  const { out, state } = tree;
  const paths = stagePaths(tree.commit);
  // By its index of changes, the next build knows a tree that has no snapshot.json yet (see `requireOurs`), and
  // that this commit was begun on it. The bundle that the index names comes before it.
  for (const _ of moveFiles(paths.tree, out, [bundleFile(after.sequence), INDEX_FILE]));
  yield* moveFiles(paths.tree, out, linesIn([paths.put]));
  for (const file of linesIn([paths.delete])) {
    deleteFile(out, file);
    yield;
  }
  yield* moveFiles(tree.commit, out, ['snapshot.json']);
  // Otherwise a power failure could undo moves after the commit is deleted: POSIX keeps no order.
  // HAZARD: without the program `sync` it is left to the file system; ext4 and XFS keep the order.
  flushFileSystem(out);

  // The folder as a whole: moved one by one, lists of routes that are gone would stay.
  moveWhole(paths.lists, tree.lists);
  keepForOperators(tree, after);
  if (existsSync(paths.state)) renameSync(paths.state, tree.stateFile);
  flushOne(state);

  // First it ceases to be a commit: what an interrupted deletion leaves must not be completed again.
  rmSync(tree.stage, { recursive: true, force: true });
  if (!renameFolder(tree.commit, tree.stage)) unlinkSync(paths.commit);
  for (const folder of [tree.stage, tree.commit]) deleteFolder(folder);
}

/** Keeps the lists of what a commit changed until a build has written them for operators. */
function keepForOperators(tree: Tree, { sequence }: SnapshotId): void {
  const { put, delete: deleted, purge } = stagePaths(tree.commit);
  const folder = join(tree.unreported, String(sequence).padStart(16, '0'));
  makeFolder(folder);
  for (const [name, source] of Object.entries({ put, delete: deleted, purge }))
    moveWhole(source, join(folder, name));
}
