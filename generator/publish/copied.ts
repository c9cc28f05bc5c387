/** Says which trees are copies: their snapshots are numbered by their origin (see mirror/). */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { makeFolder } from '../files.js';
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
export function copiedTrees(tree: Tree): readonly string[] {
  try {
    return schema.parse(JSON.parse(readFileSync(recordFile(tree), 'utf8'))).trees;
  } catch (error) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');
    if (isMissing || error instanceof SyntaxError || error instanceof z.ZodError) return [];
    throw error;
  }
}

/** Records which trees are copies, atomically. */
export function recordCopies(tree: Tree, trees: readonly string[]): void {
  makeFolder(tree.mirror);
  const partial = `${recordFile(tree)}.partial`;
  writeFileSync(partial, JSON.stringify({ trees }), { flush: true });
  renameSync(partial, recordFile(tree));
}
