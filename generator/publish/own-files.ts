/** What a snapshot publishes besides documents and snapshot.json: changes and the feed of snapshots. */
import { linkSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import { stageChanges } from './changes/stage-changes.js';
import { FileWriter } from '../files.js';
import type { Announcement, CopiedAnnouncement, OwnFiles, Plan } from './plan.js';
import type { Publisher } from './publisher.js';
import { measure } from '../tree/measure.js';
import { stageSnapshotFeed } from './snapshot-feed.js';
import { readManifest } from '../tree/manifest.js';
import type { ListWriter, StagePaths } from './stage.js';

/** Stages them. @returns the hashes of the feed, for the index */
export async function stageOwn(
  publisher: Publisher,
  lists: ListWriter,
  plan: Plan,
  announcement: Announcement | CopiedAnnouncement,
  progress: Progress,
): Promise<Record<string, string>> {
  if (!('own' in announcement)) return stageMade(publisher, lists, plan, announcement, progress);
  const copied = stageCopied(publisher.paths, lists, announcement.own);
  return { ...publisher.index?.snapshotFeed, ...copied };
}

/** Stages those of a build. */
async function stageMade(
  { tree, previous, paths, next, takedown, spec, routes, bundleBytes }: Publisher,
  lists: ListWriter,
  { treeId }: Plan,
  { kinds, snapshotFeed }: Announcement,
  progress: Progress,
): Promise<Record<string, string>> {
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
  const { isOne: isTakedown } = takedown;
  const bundled = { spec, routes, next };
  const { changes, added, outdated } = await stageChanges(
    tree,
    previous,
    { treeId, manifest, counts, isTakedown, bundled, bundleBytes },
    progress,
  );
  for (const file of added) lists.file(file);
  for (const file of outdated) {
    lists.remove(file);
    lists.url(`/${file}`);
  }
  return stageSnapshotFeed(paths, lists, snapshotFeed(changes));
}

/** Stages those of a copy, which are its origin's. */
function stageCopied(
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
