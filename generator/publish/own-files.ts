/** What a snapshot publishes besides documents and snapshot.json: changes and the feed of snapshots. */
import { linkSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import type { Bundled } from './changes/bundle.js';
import { stageChanges } from './changes/stage-changes.js';
import { FileWriter } from '../files.js';
import type { Announcement, OwnFiles } from './plan.js';
import type { NextIndex } from './next-index.js';
import { measure } from '../tree/measure.js';
import { stageSnapshotFeed } from './snapshot-feed.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import type { ListWriter, StagePaths } from './stage.js';

/** What is staged of a build: its documents. */
interface Staged {
  readonly tree: Tree;
  readonly treeId: string;
  /** The snapshot that is followed; undefined for the first. */
  readonly previous: Manifest | undefined;
  readonly bundled: Bundled & { readonly next: NextIndex };
  /** Whether earlier files may hold something that is withheld now. */
  readonly isTakedown: boolean;
}

/** Stages those of a build. @returns the hashes of the feed, for the index */
export async function stageMade(
  { tree, treeId, previous, bundled, isTakedown }: Staged,
  lists: ListWriter,
  { kinds, snapshotFeed }: Announcement,
  progress: Progress,
): Promise<Record<string, string>> {
  const { paths } = bundled.spec;
  const byRoute = bundled.next.changesByRoute();
  const manifest = readManifest(paths.manifest);
  if (manifest === undefined) throw new TypeError('snapshot.json is not staged');
  if (previous !== undefined) linkSync(tree.manifest, join(paths.previous, 'snapshot.json'));
  const counts = Object.fromEntries(
    Object.entries(kinds).map(([kind, route]) => {
      const { added = 0, changed = 0, removed = 0 } = byRoute.get(route) ?? {};
      return [kind, { added, changed, removed }];
    }),
  );
  const made = { treeId, manifest, counts, isTakedown, bundled };
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
