/**
 * The files that each of the last commits put or deleted, in the private state: `changed/12` is of
 * the commit that led to snapshot 12. Its first line says from which snapshot to which the commit
 * led, and each other line is the path of a file. Whether a file was put or deleted follows from
 * the published tree; a later commit may have reversed it.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { INDEX_FILE } from '../tree/changes.js';
import { KEPT_LISTS } from './changes/change-index.js';
import { LineWriter, flushOne, ifExists, linesOf, namesIn } from '../files.js';
import { parseJson } from '../portable.js';
import { listFiles } from './stage.js';
import type { StagePaths } from './stage.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

export const snapshotIdSchema = z.object({ tree: z.string(), sequence: z.int(), digest: z.string() });
/** Which snapshot of which tree. */
export type SnapshotId = z.infer<typeof snapshotIdSchema>;

/** `from` is null if all files may have changed. */
const stepSchema = z.object({ from: snapshotIdSchema.nullable(), to: snapshotIdSchema });

export const snapshotIdOf = ({ tree, sequence, digest }: Manifest): SnapshotId => ({
  tree: tree.id ?? '',
  sequence,
  digest,
});

/** Every commit changes these. */
export const ALWAYS_FILES = [INDEX_FILE, 'snapshot.json'];

/** Stages the list of a commit, once all other lists are complete. */
export function stageChangedFiles(
  { changedFiles }: Tree,
  { lists, changed }: StagePaths,
  previous: Manifest | undefined,
  to: SnapshotId,
): void {
  // The commit itself makes no folder.
  mkdirSync(changedFiles, { recursive: true });
  const from = previous?.tree.id === to.tree ? snapshotIdOf(previous) : null;
  const writer = new LineWriter(changed);
  writer.write(JSON.stringify({ from, to }));
  if (from !== null) {
    for (const name of ['files', 'removed'] as const)
      for (const list of listFiles(lists, name)) for (const file of linesOf(list)) writer.write(file);
    for (const file of ALWAYS_FILES) writer.write(file);
  }
  // A step of this snapshot may add to the list.
  writer.end();
}

/** Adds files that a later step of a snapshot puts or deletes, before it does. A file may be listed twice. */
export function addChangedFiles({ changedFiles }: Tree, sequence: number, files: Iterable<string>): void {
  const list = join(changedFiles, String(sequence));
  // Without the list, everything is compared.
  if (!existsSync(list)) return;
  const writer = new LineWriter(list, '\n', 'a');
  for (const file of files) writer.write(file);
  writer.end();
  flushOne(list);
}

/** The files that were listed of one snapshot, with those of later steps. */
export const filesListed = ({ changedFiles }: Tree, { sequence }: SnapshotId): Iterable<string> =>
  filesIn([join(changedFiles, String(sequence))]);

/** Removes the lists that are too old. */
export function dropOldLists({ changedFiles }: Tree): void {
  const newestFirst = [...namesIn(changedFiles)].toSorted((a, b) => Number(b) - Number(a));
  for (const name of newestFirst.slice(KEPT_LISTS)) rmSync(join(changedFiles, name));
}

/**
 * The files that may have changed from one snapshot to another, some of them several times.
 * @returns undefined if a list in between is not kept
 */
export function changedFilesBetween(
  { changedFiles }: Tree,
  from: SnapshotId,
  to: SnapshotId,
): Iterable<string> | undefined {
  const lists: string[] = [];
  let next = to;
  while (!isDeepStrictEqual(next, from)) {
    const list = join(changedFiles, String(next.sequence));
    const step = readStep(list);
    if (step === undefined || step.from === null || !isDeepStrictEqual(step.to, next)) return undefined;
    if (lists.length === KEPT_LISTS) return undefined;
    lists.push(list);
    next = step.from;
  }
  return filesIn(lists);
}

function* filesIn(lists: readonly string[]): Generator<string, void, undefined> {
  for (const list of lists) {
    let isFirst = true;
    for (const line of linesOf(list)) {
      if (!isFirst && line !== '') yield line;
      isFirst = false;
    }
  }
}

/** The first line of a list; undefined if it is missing or damaged. */
function readStep(list: string): z.infer<typeof stepSchema> | undefined {
  const first = ifExists(() => {
    const [line] = linesOf(list);
    return line;
  });
  return stepSchema.safeParse(parseJson(first ?? '')).data;
}
