/** What leads from one snapshot to the next: /changes/index.json, and a bundle for each of the newest snapshots. */
import { join } from 'node:path';
import { chunksOf } from '../base/files.js';
import type { Progress } from '../base/progress.js';
import { GzipFile } from '../base/gzip.js';
import { bundleFile, readChangeIndex, type Change, type ChangeIndex } from '../tree/changes.js';
import { BUNDLE } from '../routes/publishing.js';
import { halves } from '../routes/route.js';
import { routeNamed } from '../routes/routes.js';
import type { SnapshotId } from './commit.js';
import { linesIn } from './operator-lists.js';
import { RouteWriter, partsOf, stagePaths, type StageSpec, type Written } from './stage.js';

/** How many snapshots keep a bundle. A copy that is updated every day may miss a month. */
export const KEPT_CHANGES = 30;

/** The largest bundle of a small tree, compressed: 64 MiB. */
const BUNDLE_BYTES = 64 * 1024 * 1024;

/** All bundles together stay below this share of `tree.bytes`: a copy that is further behind starts over. */
const ALL_BUNDLES = 1 / 5;
/** A bundle that is larger than `BUNDLE_BYTES` stays below this share, before compression. */
const ONE_BUNDLE = 1 / 10;

/**
 * Writes the bundle of the stage: the step, the deleted documents, then those that were put, by route. It is
 * one gzip member, since browsers decompress no more.
 * @param from the snapshot that the bundle leads on from
 * @returns null if it would be too large: whoever follows takes the documents with less effort
 */
export async function writeBundle(
  stage: string,
  from: SnapshotId,
  to: SnapshotId,
  routes: readonly string[],
  treeBytes: number,
  progress: Progress,
): Promise<Change['bundle']> {
  const { bundle, gone, scratch } = stagePaths(stage);
  const path = join(scratch, `${to.sequence}.ndjson.gz`);
  const file = new GzipFile(path);
  progress.start('bundling what changed, for copies', 0, 'pieces');
  try {
    const line = (value: object): void => file.write(Buffer.from(`${JSON.stringify(value)}\n`));
    line({
      tree: to.tree,
      from: from.sequence,
      to: to.sequence,
      from_digest: from.digest,
      to_digest: to.digest,
    });
    for (const each of linesIn([gone])) {
      const [name = '', url = ''] = each.split('\t');
      if (url !== '') line({ path: url, file: name, deleted: true });
    }
    for (const part of routes.flatMap((route) => partsOf(bundle, route)))
      for (const piece of chunksOf(part)) {
        file.write(piece);
        const isLarge = file.bytes > BUNDLE_BYTES && file.raw > treeBytes * ONE_BUNDLE;
        if (isLarge || file.bytes > treeBytes * ALL_BUNDLES) return null;
        const pause = progress.advance(1);
        if (pause !== undefined) await pause;
      }
    const { bytes, sha256 } = file.finish();
    return { file: `/${bundleFile(to.sequence)}`, bytes, sha256 };
  } finally {
    file.close();
    progress.finish();
  }
}

/** What an index says of its snapshot. */
type Ends = Omit<ChangeIndex, 'oldest' | 'changes'>;

/**
 * The index of a snapshot. It names the newest bundles that together stay below a size, up to the first snapshot
 * without a bundle: the chain to the present is broken there.
 * @param changes newest first
 */
export function indexOf(ends: Ends, changes: readonly Change[], treeBytes: number): ChangeIndex {
  let [bytes, oldest] = [0, ends.sequence];
  let leads = true;
  const kept = changes.slice(0, KEPT_CHANGES).map((change): Change => {
    bytes += change.bundle?.bytes ?? 0;
    leads &&= change.bundle !== null && change.from !== null && bytes < treeBytes * ALL_BUNDLES;
    if (leads) oldest = change.from ?? oldest;
    return leads ? change : { ...change, from: null, from_digest: null, bundle: null };
  });
  return { ...ends, oldest, changes: kept };
}

/** What a snapshot announces. */
export interface Announced {
  readonly from: SnapshotId | null;
  /** The index without `oldest` and `changes`, and what the newest change says besides its bundle. */
  readonly ends: Ends;
  readonly newest: Omit<Change, 'from' | 'from_digest' | 'bundle'>;
  readonly treeBytes: number;
  /** Whether bundles may have what is withheld now. */
  readonly isTakedown: boolean;
}

/**
 * Whether the name of a deleted file is the platform's id of a record. That may be what is withheld, and
 * a bundle would say it for weeks.
 */
function deletesAlias({ stage, listed }: StageSpec): boolean {
  const starts = listed.flatMap(({ alias }) => (alias === undefined ? [] : halves(alias.file)[0]));
  for (const line of linesIn([stagePaths(stage).gone]))
    if (starts.some((start) => line.startsWith(start))) return true;
  return false;
}

/**
 * Stages the index and the bundles.
 * @returns the changes in the index, newest first, and what became of the files
 */
export async function stageChanges(
  spec: StageSpec,
  { from, ends, newest, treeBytes, isTakedown }: Announced,
  progress: Progress,
): Promise<{ readonly changes: readonly Change[]; readonly written: readonly Written[] }> {
  const to = { tree: ends.tree, sequence: ends.sequence, digest: ends.digest };
  const names = spec.routes.map(({ name }) => name);
  const bundle =
    spec.isBundled && from !== null && !(isTakedown && deletesAlias(spec))
      ? await writeBundle(spec.stage, from, to, names, treeBytes, progress)
      : null;
  const published = readChangeIndex(spec);
  // If the published index was lost, or is another tree's, the chain starts here.
  const isChain = published?.tree === ends.tree && published.sequence === from?.sequence;
  const earlier = isChain ? published.changes : [];
  // No build can write a damaged bundle again.
  const isDamaged = ({ sequence }: Change): boolean => spec.damaged.includes(bundleFile(sequence));
  const index = indexOf(
    ends,
    [
      { ...newest, from: from?.sequence ?? null, from_digest: from?.digest ?? null, bundle },
      ...earlier.map((each) => (isTakedown || isDamaged(each) ? { ...each, bundle: null } : each)),
    ],
    treeBytes,
  );
  const writerOf = (name: string): RouteWriter => new RouteWriter(spec, routeNamed(spec.routes, name));
  const bundles = writerOf(BUNDLE.name);
  for (const { sequence, bundle: kept } of index.changes.toReversed()) {
    if (kept === null) continue;
    if (sequence === to.sequence)
      bundles.putFile(sequence, kept, join(stagePaths(spec.stage).scratch, `${sequence}.ndjson.gz`));
    else bundles.keep(sequence, kept.bytes);
  }
  const file = writerOf('changes');
  file.put(0, JSON.stringify(index));
  return { changes: index.changes, written: [bundles.finish(), file.finish()] };
}
