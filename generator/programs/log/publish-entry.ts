/** Writes what signing adds to a log: tiles, checkpoint, and what the keys have signed. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushOne, makeFolder, readText, replaceFile } from '../../base/files.js';
import { filesBelow } from '../../tree/scan.js';
import type { Tree } from '../../tree/tree.js';
import type { HeldKey } from './key-file.js';
import type { Appended } from './log-files.js';
import { checkpointFile, logFolder } from './log-paths.js';
import { LogStage } from './log-stage.js';
import { seenFile } from './record.js';
import type { Checkpoint, SnapshotEntry } from './tlog/text.js';

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
  { tree: treeId }: SnapshotEntry,
  { files, removed }: Appended,
  keys: readonly HeldKey[],
  checkpoint: Checkpoint,
  note: string,
): void {
  const name = (file: string): string => `${logFolder(treeId)}/${file}`;
  const stage = new LogStage(tree);
  const seen = `${seenFile(tree)}.partial`;
  try {
    for (const [file, content] of files) {
      stage.put(name(file), content, 'new');
      makeFolder(dirname(join(tree.out, name(file))));
    }
    for (const file of removed) stage.delete(name(file));
    stage.put(checkpointFile(treeId), note);
    writeFileSync(seen, note, { flush: true });
    const replacements = keys
      .filter(({ last }) => last.root !== checkpoint.root)
      .map((key) => key.prepare(checkpoint));
    stage.publish(() => {
      for (const replace of replacements) replace();
    });
    renameSync(seen, seenFile(tree));
    flushOne(tree.state);
  } finally {
    stage.discard();
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

/** Publishes them, once the snapshot is committed: tiles first, then the checkpoint. Empties the folder. */
export function publishCopiedLog(
  tree: Tree,
  treeId: string,
  { staged, removed, checkpoint }: CopiedFiles,
): void {
  const stage = new LogStage(tree);
  try {
    if (existsSync(staged)) for (const file of filesBelow(staged, '')) stage.link(file, join(staged, file));
    for (const file of removed) stage.delete(file);
    if (checkpoint !== undefined && checkpoint.toString() !== publishedNote(tree, treeId))
      stage.put(checkpointFile(treeId), checkpoint);
    stage.publish();
    rmSync(staged, { recursive: true, force: true });
  } finally {
    stage.discard();
  }
}
