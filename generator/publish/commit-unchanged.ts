/** The commit of a build that changes no document. */
import { renameSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { relabelDownloads } from './changes/change-index.js';
import { replacePrevious, stageTakedown } from './commit.js';
import { replaceIndex, writeIndex } from '../tree/index-json.js';
import type { Index } from '../tree/index-json.js';
import type { Publisher } from './publisher.js';
import { replaceSnapshotFeed } from './snapshot-feed.js';
import type { RenderSnapshotFeed } from './snapshot-feed.js';
import { readManifest } from '../tree/manifest.js';

/** Replaces snapshot.json by the staged one, and what differs. A rollback keeps its target. */
export function commitUnchanged(
  { tree, paths, takedown, index }: Publisher,
  next: Index,
  snapshotFeed: RenderSnapshotFeed,
): void {
  if (takedown.isOne) {
    stageTakedown(paths, takedown);
    replacePrevious(tree, paths.withoutPrevious);
  }
  const manifest = readManifest(paths.manifest);
  if (manifest !== undefined) relabelDownloads(tree, manifest);
  renameSync(paths.manifest, tree.manifest);
  const { snapshotFeed: feed, assets, ...before } = index ?? {};
  if (!isDeepStrictEqual(before, next)) {
    // The sources changed although no document did; the next build compares with them.
    writeIndex(paths.index, { ...next, ...(assets && { assets }), ...(feed && { snapshotFeed: feed }) });
    replaceIndex(tree, paths.index);
  }
  replaceSnapshotFeed(tree, snapshotFeed);
}
