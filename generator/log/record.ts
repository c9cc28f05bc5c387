/** What a commit recorded in the private state of a tree, to be signed. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { readIndex } from '../tree/index-json.js';
import { manifestHash } from '../tree/manifest-hash.js';
import { readManifest } from '../tree/manifest.js';
import type { Tree } from '../tree/tree.js';
import type { SnapshotEntry } from './text.js';

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
