/** What the private state of a tree knows of its log. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { readText, replaceFile } from '../files.js';
import { readIndex } from '../tree/index-json.js';
import { manifestHash } from '../tree/manifest-hash.js';
import { readManifest } from '../tree/manifest.js';
import type { Tree } from '../tree/tree.js';
import { checkpointIn } from './text.js';
import type { Checkpoint, SnapshotEntry } from './text.js';

/** The entry of the snapshot that was committed last; undefined if it is not known what that was. */
export function recordOf({ index }: Tree, treeId: string): SnapshotEntry | undefined {
  try {
    const { digest, manifest, snapshot } = readIndex(index);
    if (snapshot?.tree !== treeId || manifest === undefined) return undefined;
    return { ...snapshot, digest, manifest };
  } catch (error) {
    // Lost or damaged: the next commit records what it publishes.
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return undefined;
    throw error;
  }
}

/**
 * The verifier keys that a committed snapshot names; none if it declares no log.
 * @throws Failure invalid: snapshot.json is not what was committed
 */
export function declaredKeys(tree: Tree, { sequence, manifest: hash }: SnapshotEntry): readonly string[] {
  const manifest = readManifest(tree.manifest);
  if (manifest === undefined || manifestHash(readFileSync(tree.manifest)) !== hash)
    throw Failure.invalid(
      `snapshot ${sequence} is not signed yet, and "${tree.manifest}" is not what was committed: ` +
        'expected it unchanged (verify --repair)',
    );
  return manifest.log?.keys ?? [];
}

/** Where a checkpoint is remembered that was signed here, or found whole, as a note. */
export const rememberedFile = ({ state }: Tree): string => join(state, 'checkpoint');

/** Remembers a checkpoint that was found whole. */
export function rememberCheckpoint(tree: Tree, note: string): void {
  if (!existsSync(tree.state)) return;
  replaceFile(rememberedFile(tree), note);
}

/** Forgets it: the tree has another log from now on. */
export const forgetCheckpoint = (tree: Tree): void => rmSync(rememberedFile(tree), { force: true });

/** @throws Failure environment: it is damaged, so that a fork would not be noticed */
export function rememberedCheckpoint(tree: Tree): Checkpoint | undefined {
  const file = rememberedFile(tree);
  const note = readText(file);
  if (note === undefined) return undefined;
  try {
    return checkpointIn(note);
  } catch {
    throw Failure.environment(
      `"${file}" is damaged, so it is not known which log the tree had: delete it to trust the log as it is now`,
    );
  }
}
