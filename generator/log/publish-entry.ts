/** Writes what signing adds to a log: tiles, checkpoint, and what the keys have signed. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, readText, replaceFile } from '../files.js';
import { addChangedFiles } from '../publish/changed-files.js';
import { flush } from '../publish/flush.js';
import { deleteFile, moveInto } from '../publish/moves.js';
import { ListWriter } from '../publish/stage.js';
import { filesBelow } from '../tree/scan.js';
import { checkpointFile, logFolder } from './log-paths.js';
import type { Tree } from '../tree/tree.js';
import type { HeldKey } from './key-file.js';
import type { Appended } from './log-files.js';
import { seenFile } from './seen.js';
import type { Checkpoint, SnapshotEntry } from './text.js';

/** The published checkpoint, as a note; undefined if there is none. */
export const publishedNote = ({ out }: Tree, treeId: string): string | undefined =>
  readText(join(out, checkpointFile(treeId)));

/** Replaces the published checkpoint by the same one with other signatures. */
export function replaceCheckpoint(tree: Tree, treeId: string, note: string): void {
  const file = join(tree.out, checkpointFile(treeId));
  makeFolder(dirname(file));
  replaceFile(file, note, join(tree.state, 'checkpoint.partial'));
}

/**
 * Publishes a log with one more entry. What needs disk space comes first; then `KEY.last` is
 * replaced, tiles are moved into the tree, and the checkpoint follows.
 * @param note the checkpoint with its signatures
 * @throws Error of the file system; what was done by then is done again by the next call
 */
export function publishEntry(
  tree: Tree,
  { tree: treeId, sequence }: SnapshotEntry,
  { files, removed }: Appended,
  keys: readonly HeldKey[],
  checkpoint: Checkpoint,
  note: string,
): void {
  const name = (file: string): string => `${logFolder(treeId)}/${file}`;
  const staged = join(tree.state, 'signing');
  rmSync(staged, { recursive: true, force: true });
  try {
    mkdirSync(staged);
    const moves = [...files].map(([file, content], index) => {
      const [from, to] = [join(staged, String(index)), join(tree.out, name(file))];
      writeFileSync(from, content, { flush: true });
      makeFolder(dirname(to));
      return [from, to] as const;
    });
    for (const file of ['checkpoint', 'seen']) writeFileSync(join(staged, file), note, { flush: true });
    listChanges(tree, sequence, [...files.keys(), 'checkpoint'].map(name), removed.map(name));
    const due = keys.filter(({ last }) => last.root !== checkpoint.root);
    const replacements = due.map((key) => key.prepare(checkpoint));
    for (const replace of replacements) replace();
    for (const [from, to] of moves) renameSync(from, to);
    for (const file of removed) rmSync(join(tree.out, name(file)), { force: true });
    renameSync(join(staged, 'checkpoint'), join(tree.out, checkpointFile(treeId)));
    renameSync(join(staged, 'seen'), seenFile(tree));
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** The files of a log that a copy takes over from its origin. */
export interface CopiedFiles {
  /** A folder of new tiles, by their names below the tree; it need not exist. */
  readonly staged: string;
  readonly removed: readonly string[];
  /** A note; undefined if the origin has no log. */
  readonly checkpoint: Buffer | undefined;
}

/** Publishes them, once the snapshot is committed: tiles first, then the checkpoint. */
export function publishCopiedLog(
  tree: Tree,
  { id: treeId, sequence }: { readonly id: string; readonly sequence: number },
  { staged, removed, checkpoint }: CopiedFiles,
): void {
  const put = existsSync(staged) ? [...filesBelow(staged, '')] : [];
  addChangedFiles(tree, sequence, [...put, ...removed, checkpointFile(treeId)]);
  if (put.length > 0) {
    flush(staged);
    for (const _ of moveInto(staged, tree.out));
  }
  for (const name of removed) deleteFile(tree.out, name);
  const note = checkpoint?.toString();
  if (note !== undefined && note !== publishedNote(tree, treeId)) replaceCheckpoint(tree, treeId, note);
}

/** Adds what signing changes to the lists of the commit. The checkpoint is the last that is put. */
function listChanges(tree: Tree, sequence: number, put: readonly string[], removed: readonly string[]): void {
  const lists = new ListWriter(tree.unreported(sequence), 'log');
  for (const file of put) lists.file(file);
  for (const file of removed) lists.remove(file);
  for (const file of [...removed, ...put.slice(-1)]) lists.url(`/${file}`);
  lists.finish();
  addChangedFiles(tree, sequence, [...put, ...removed]);
}
