/** Writes /changes/index.json, and says which bundles are kept. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../base/files.js';
import {
  INDEX_FILE,
  bundlesIn,
  readChangeIndex,
  untrackedFiles,
  type Bundle,
  type Change,
  type ChangeIndex,
} from '../tree/changes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

/** How many bundles are kept. A daily mirror may miss a month. */
export const KEPT_BUNDLES = 30;

/**
 * What all files below /changes stay below, in bytes. If all of 20,000 records are measured every night,
 * those of a night have 11 % of `tree.bytes`; whoever is further behind takes the documents.
 */
export const mostChangeBytes = ({ tree }: Pick<Manifest, 'tree'>): number => tree.bytes / 5;

/** What an index says of its snapshot. */
type Described = Pick<Manifest, 'tree' | 'sequence' | 'digest' | 'downloads'>;

const NO_BUNDLE = { from: null, from_digest: null, bundle: null };

/** A change without its bundle: it is only news. */
export const withoutBundle = (of: Change): Change => ({ ...of, ...NO_BUNDLE });

/**
 * Changes of which the newest have their bundles: as many as stay below a size together, up to one that
 * has none, since nothing leads on from those before it.
 * @param changes newest first
 */
function withKeptBundles(changes: readonly Change[], most: number): Change[] {
  let bytes = 0;
  return changes.map((change) => {
    bytes += change.bundle?.bytes ?? Number.POSITIVE_INFINITY;
    return bytes < most ? change : withoutBundle(change);
  });
}

/** The oldest snapshot from which bundles lead to a snapshot. @param changes newest first */
function oldestOf(sequence: number, changes: readonly Change[]): number {
  let oldest = sequence;
  for (const { sequence: to, from, bundle } of changes)
    if (to === oldest && bundle !== null) oldest = from ?? oldest;
  return oldest;
}

/** The index of a snapshot, which names only bundles that may be kept. @param all its changes, newest first */
export function indexOf(manifest: Described, all: readonly Change[]): ChangeIndex {
  const { tree, sequence, digest } = manifest;
  const indexWith = (changes: Change[]): ChangeIndex => {
    const oldest = oldestOf(sequence, changes);
    return { tree: tree.id, sequence, digest, oldest, ...downloadsOf(manifest), changes };
  };
  const indexBytes = Buffer.byteLength(JSON.stringify(indexWith([...all])));
  return indexWith(withKeptBundles(all, mostChangeBytes(manifest) - indexBytes));
}

/**
 * Removes damaged bundles from the published index, and with them those that lead only to a damaged one:
 * whoever has an earlier snapshot starts over.
 * @param damaged files below the output folder
 */
export function repairIndex(
  tree: Tree,
  manifest: Described & Pick<Manifest, 'as_of' | 'built_at'>,
  damaged: ReadonlySet<string>,
): void {
  const published = readChangeIndex(tree);
  const isOfSnapshot = published?.sequence === manifest.sequence && published.tree === manifest.tree.id;
  const changes = isOfSnapshot ? published.changes : [];
  const isWhole = ({ file }: Bundle): boolean => !damaged.has(file.slice(1));
  if (changes.length > 0 && bundlesIn(changes).every(isWhole)) return;
  const { sequence, as_of, built_at, digest } = manifest;
  const news =
    changes.length > 0 ? changes : [{ ...NO_BUNDLE, sequence, digest, as_of, built_at, counts: {} }];
  const next = indexOf(
    manifest,
    news.map((each) => (each.bundle !== null && isWhole(each.bundle) ? each : withoutBundle(each))),
  );
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  replaceFile(join(tree.out, INDEX_FILE), JSON.stringify(next), join(tree.state, 'index.json'));
  for (const file of untrackedFiles(tree, next.changes)) rmSync(join(tree.out, file));
}

/** What snapshot.json says of the downloads, which the index of changes repeats. */
export const downloadsOf = ({ downloads }: Pick<Manifest, 'downloads'>): Pick<ChangeIndex, 'downloads'> =>
  downloads?.digest === undefined
    ? {}
    : { downloads: { sequence: downloads.sequence, digest: downloads.digest } };
