/**
 * What the private state of a tree knows of its log: the snapshot that a commit recorded, to be signed,
 * and the checkpoint that was signed here or verified last, so that a fork is noticed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../base/errors.js';
import { readText, replaceFileDurably } from '../../base/files.js';
import { withPublished } from '../../state/published.js';
import { manifestHash, readManifest } from '../../tree/manifest.js';
import type { Tree } from '../../tree/tree.js';
import { checkpointIn, type Checkpoint, type SnapshotEntry } from './tlog/text.js';

/** The entry of the snapshot that was committed last; undefined if it is not known what that was. */
export function recordOf(state: Tree, treeId: string): SnapshotEntry | undefined {
  // If the state is lost or damaged, the next commit records what it publishes.
  const committed = withPublished(state, ({ newest }) => newest);
  const { snapshot, manifest } = committed?.described ?? {};
  if (committed?.tree !== treeId || snapshot === undefined || manifest === undefined) return undefined;
  const { sequence, digest } = committed;
  return { ...snapshot, tree: treeId, sequence, digest, manifest };
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

export const seenFile = ({ state }: Tree): string => join(state, 'checkpoint');

/** Remembers a checkpoint, as a note, durably. */
export function rememberSeen(tree: Tree, note: string): void {
  if (existsSync(tree.state)) replaceFileDurably(seenFile(tree), note);
}

/** Forgets it: the tree has another log from now on. */
export const forgetSeen = (tree: Tree): void => rmSync(seenFile(tree), { force: true });

/** @throws Failure environment: it is damaged, so that a fork would not be noticed */
export function readSeen(tree: Tree): Checkpoint | undefined {
  const file = seenFile(tree);
  const seen = readText(file);
  try {
    return seen === undefined ? undefined : checkpointIn(seen);
  } catch {
    throw Failure.environment(
      `"${file}" is damaged, so it is not known which log the tree had: delete it to trust the log as it is now`,
    );
  }
}
