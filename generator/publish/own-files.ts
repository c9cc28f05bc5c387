/** What a snapshot publishes besides documents and snapshot.json: changes and the feed of snapshots. */
import { linkSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import { stageChanges } from './changes/stage-changes.js';
import type { NextChanges } from './changes/stage-changes.js';
import { FileWriter } from '../files.js';
import type { Announcement, OwnFiles } from './plan.js';
import { measure } from '../tree/measure.js';
import { stageSnapshotFeed } from './snapshot-feed.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import type { ListWriter, StagePaths } from './stage.js';

/**
 * Stages those of a build.
 * @param previous the snapshot that is followed; undefined for the first
 * @returns the hashes of the feed, for the index
 */
export async function stageMade(
  tree: Tree,
  previous: Manifest | undefined,
  staged: Omit<NextChanges, 'manifest' | 'counts'>,
  lists: ListWriter,
  { kinds, snapshotFeed }: Announcement,
  progress: Progress,
): Promise<Record<string, string>> {
  const { spec, next } = staged.bundled;
  const { paths } = spec;
  const byRoute = next.changesByRoute();
  const manifest = readManifest(paths.manifest);
  if (manifest === undefined) throw new TypeError('snapshot.json is not staged');
  if (previous !== undefined) linkSync(tree.manifest, join(paths.previous, 'snapshot.json'));
  const counts = Object.fromEntries(
    Object.entries(kinds).map(([kind, route]) => {
      const { added = 0, changed = 0, removed = 0 } = byRoute.get(route) ?? {};
      return [kind, { added, changed, removed }];
    }),
  );
  const made = { ...staged, manifest, counts };
  const { changes, added, outdated } = await stageChanges(tree, previous, made, progress);
  for (const file of added) lists.file(file);
  for (const file of outdated) {
    lists.remove(file);
    lists.url(`/${file}`);
  }
  return stageSnapshotFeed(paths, lists, snapshotFeed(changes));
}

/** Stages those of a copy, which are its origin's. @returns the hashes of what there is of the feed */
export function stageCopied(
  paths: StagePaths,
  lists: ListWriter,
  { put, removed }: OwnFiles,
): Record<string, string> {
  const [tree, last] = [new FileWriter(paths.tree), new FileWriter(paths.last)];
  const feed: Record<string, string> = {};
  for (const [name, source] of put) {
    const isChange = name.startsWith('changes/');
    (isChange ? last : tree).link(name, source);
    lists.file(name);
    if (!isChange) feed[name] = measure(source).hash.toString('hex');
  }
  for (const name of removed) lists.remove(name);
  return feed;
}
