/**
 * What a snapshot publishes besides documents and snapshot.json: what leads there from the previous one
 * (list, bundle and index of changes), and the feed of snapshots. The digest leaves both out;
 * index.json records the hashes of the feed.
 */
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.js';
import { writeBundle } from './changes/bundle.js';
import { KEPT_LISTS, downloadsOf, indexOf, withoutFiles } from './changes/change-index.js';
import { writeList } from './changes/change-list.js';
import { FileWriter, linkOrCopy } from '../files.js';
import { OwnFolder } from '../links.js';
import type { NextIndex } from './next-index.js';
import type { Announcement, FeedFile, OwnFiles } from './plan.js';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../tree/changes.js';
import type { Change } from '../tree/changes.js';
import { measure } from '../tree/measure.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import type { ListWriter, StagePaths } from './stage.js';
import type { StageSpec } from './stage-writer.js';

/** What is staged of the next snapshot. */
export interface NextSnapshot {
  readonly tree: Tree;
  readonly treeId: string;
  /** The snapshot that is followed; undefined for the first. */
  readonly previous: Manifest | undefined;
  readonly manifest: Manifest;
  readonly spec: StageSpec;
  readonly next: Pick<NextIndex, 'changesByRoute' | 'total'>;
  /** Whether earlier files may hold something that is withheld now. */
  readonly isTakedown: boolean;
}

/** The SHA-256 of each file, in hex. */
export const sumsOf = (files: readonly FeedFile[]): Record<string, string> =>
  Object.fromEntries(files.map(({ file, body }) => [file, hash('sha256', body)]));

/** Stages those of a build. @returns the hashes of the feed, for the index */
export async function stageMade(
  snapshot: NextSnapshot,
  lists: ListWriter,
  { kinds, snapshotFeed }: Announcement,
  progress: Progress,
): Promise<Record<string, string>> {
  const { tree, previous, spec } = snapshot;
  const { paths } = spec;
  if (previous !== undefined) linkOrCopy(tree.manifest, join(paths.previous, 'snapshot.json'));
  const changes = await stageChanges(snapshot, kinds, progress);
  for (const { file } of filesIn(changes.slice(0, 1))) lists.add('files', file.slice(1));
  for (const file of untrackedFiles(tree, changes)) {
    lists.add('removed', file);
    lists.add('urls', `/${file}`);
  }
  const feed = snapshotFeed(changes);
  const [writer, own] = [new FileWriter(paths.tree), new OwnFolder(tree.out)];
  for (const { file, body } of feed) {
    own.pathOf(file);
    writer.write(file, Buffer.from(body));
    lists.add('files', file);
    lists.add('urls', `/${file}`);
  }
  return sumsOf(feed);
}

/** Stages list, bundle and index. @returns the changes in the index, newest first */
async function stageChanges(
  snapshot: NextSnapshot,
  kinds: Announcement['kinds'],
  progress: Progress,
): Promise<readonly Change[]> {
  const { tree, treeId, previous, manifest, spec, next, isTakedown } = snapshot;
  const { sequence, digest, as_of, built_at } = manifest;
  const published = readChangeIndex(tree);
  // Only an unbroken chain is useful; if the index was lost, a new one starts here.
  const isChain = published?.tree === treeId && published.sequence === previous?.sequence;
  const step = previous && {
    tree: treeId,
    from: previous.sequence,
    to: sequence,
    // As published: if the tree was altered since, copies of it were not.
    from_digest: isChain ? published.digest : previous.digest,
    to_digest: digest,
  };
  const byRoute = next.changesByRoute();
  const counts = Object.fromEntries(
    Object.entries(kinds).map(([kind, route]) => {
      const { added = 0, changed = 0, removed = 0 } = byRoute.get(route) ?? {};
      return [kind, { added, changed, removed }];
    }),
  );
  const list = step && writeList(spec.paths, step);
  const newest: Change = {
    sequence,
    from: step?.from ?? null,
    from_digest: step?.from_digest ?? null,
    digest,
    as_of,
    built_at,
    counts,
    file: list?.file ?? null,
    bytes: list?.bytes ?? null,
    sha256: list?.sha256 ?? null,
    bundle: (step && (await writeBundle(snapshot, step, progress))) ?? null,
  };
  const earlier = isChain ? published.changes : [];
  const changes = [newest, ...(isTakedown ? earlier.map(withoutFiles) : earlier)].slice(0, KEPT_LISTS);
  const index = indexOf({ tree: treeId, sequence, digest, ...downloadsOf(manifest), changes });
  writeFileSync(join(spec.paths.last, INDEX_FILE), JSON.stringify(index));
  return changes;
}

/** Stages those of a copy, which are its origin's. @returns the hashes of what there is of the feed */
export function stageCopied(
  tree: Tree,
  paths: StagePaths,
  lists: ListWriter,
  { put, removed }: OwnFiles,
): Record<string, string> {
  const [staged, last, own] = [
    new FileWriter(paths.tree),
    new FileWriter(paths.last),
    new OwnFolder(tree.out),
  ];
  const feed: Record<string, string> = {};
  for (const [name, source] of put) {
    const isChange = name.startsWith('changes/');
    own.pathOf(name);
    (isChange ? last : staged).link(name, source);
    lists.add('files', name);
    if (!isChange) feed[name] = measure(source).hash.toString('hex');
  }
  for (const name of removed) lists.add('removed', name);
  return feed;
}
