/** What a commit recorded in the private state of a tree, to be signed. */
import { readFileSync } from 'node:fs';
import { Failure } from '../errors.js';
import { readIndexIfReadable } from '../tree/index-json.js';
import { manifestHash, readManifest } from '../tree/manifest.js';
import type { Tree } from '../tree/tree.js';
import type { SnapshotEntry } from './text.js';

/** The entry of the snapshot that was committed last; undefined if it is not known what that was. */
export function recordOf({ index }: Tree, treeId: string): SnapshotEntry | undefined {
  // If the index is lost or damaged, the next commit records what it publishes.
  const { digest = '', manifest, snapshot } = readIndexIfReadable(index) ?? {};
  if (snapshot?.tree !== treeId || manifest === undefined) return undefined;
  return { ...snapshot, digest, manifest };
}

/** Whether a log has no entry of a snapshot. @param newest of the log, if it has any */
export const isBehind = (newest: SnapshotEntry | undefined, snapshot: SnapshotEntry | undefined): boolean =>
  snapshot !== undefined && (newest === undefined || newest.sequence < snapshot.sequence);

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
