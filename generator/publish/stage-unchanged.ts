/** Stages the commit of a build that changes no document. */
import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { FileWriter, readText } from '../files.js';
import { OwnFolder } from '../links.js';
import { INDEX_FILE, readChangeIndex } from '../tree/changes.js';
import { writeIndex } from '../tree/index-json.js';
import type { Index } from '../tree/index-json.js';
import type { Manifest } from '../tree/snapshot-json.js';
import { downloadsOf } from './changes/change-index.js';
import { replacePrevious } from './journal.js';
import type { Operation } from './journal.js';
import { sumsOf } from './own-files.js';
import type { RenderSnapshotFeed } from './plan.js';
import type { StagePaths } from './stage.js';
import { stageTakedown } from './takedown.js';
import type { Takedown } from './takedown.js';
import type { Tree } from '../tree/tree.js';

/** What is staged of the next snapshot. */
interface Staged {
  readonly paths: StagePaths;
  readonly takedown: Takedown;
  /** The next index, without what is derived here. */
  readonly index: Index;
  readonly manifest: Manifest;
}

/**
 * Stages what differs, besides snapshot.json: the index if the sources changed, and files that are
 * derived from it. A rollback keeps its target.
 */
export function stageUnchanged(
  tree: Tree,
  index: Index | undefined,
  { paths, takedown, index: next, manifest }: Staged,
  snapshotFeed: RenderSnapshotFeed,
): readonly Operation[] {
  const changes = readChangeIndex(tree);
  // If that is unreadable, a repair starts a new one.
  const feed = changes === undefined ? [] : snapshotFeed(changes.changes);
  const [files, own] = [new FileWriter(paths.tree), new OwnFolder(tree.out)];
  for (const { file, body } of feed)
    if (readText(own.readable(file)) !== body) files.write(file, Buffer.from(body));
  const relabelled = changes && { ...changes, ...downloadsOf(manifest) };
  if (relabelled !== undefined && !isDeepStrictEqual(changes, relabelled))
    files.write(INDEX_FILE, Buffer.from(JSON.stringify(relabelled)));
  const { assets, snapshotFeed: before } = index ?? {};
  const sums = changes === undefined ? before : sumsOf(feed);
  const described = { ...next, ...(assets && { assets }), ...(sums && { snapshotFeed: sums }) };
  const isSame = isDeepStrictEqual(index, described);
  if (isSame) rmSync(paths.index, { recursive: true });
  else writeIndex(paths.index, described);
  if (takedown.isOne) stageTakedown(paths, takedown);
  return [
    { put: 'tree', at: '' },
    ...(isSame ? [] : [{ replace: 'index', by: 'index' }]),
    ...(takedown.isOne ? [replacePrevious('without-previous')] : []),
    { put: 'snapshot.json', at: 'snapshot.json' },
  ];
}
