/** Says which trees are copies: their snapshots are numbered by their origin (see mirror/). */
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder, readJson, replaceFileDurably } from '../files.js';
import { readManifest } from '../tree/manifest.js';
import type { Tree } from '../tree/tree.js';

/** The ids of copied trees, of which the published one may be any. */
const schema = z.object({ trees: z.array(z.string()) });
const recordFile = ({ mirror }: Tree): string => join(mirror, 'copied.json');

/**
 * Whether the published tree is a copy that the state knows of.
 * @throws Failure invalid: its snapshot.json is damaged
 */
export function isCopy(tree: Tree): boolean {
  const trees = copiedTrees(tree);
  return trees.length > 0 && trees.includes(readManifest(tree.manifest)?.tree.id ?? '');
}

/** The ids in the record; none if there is no record, or it is damaged. */
export const copiedTrees = (tree: Tree): readonly string[] =>
  schema.safeParse(readJson(recordFile(tree))).data?.trees ?? [];

/** Records which trees are copies, atomically and durably. */
export function recordCopies(tree: Tree, trees: readonly string[]): void {
  makeFolder(tree.mirror);
  replaceFileDurably(recordFile(tree), JSON.stringify({ trees }));
}
