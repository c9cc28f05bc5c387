/** Writes /changes/index.json, and says which change files are kept. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../base/files.js';
import {
  INDEX_FILE,
  filesIn,
  listOf,
  readChangeIndex,
  untrackedFiles,
  type Change,
  type ChangeIndex,
} from '../tree/changes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

/** How many change lists and bundles are kept. A daily copy may miss a month. */
export const KEPT_LISTS = 30;

/**
 * What all files below /changes stay below, in bytes. If all of 20,000 records are measured every night,
 * those of a night have 11 % of `tree.bytes`; whoever is further behind takes the documents.
 */
export const mostChangeBytes = ({ tree }: Pick<Manifest, 'tree'>): number => tree.bytes / 5;

/** What an index says of its snapshot. */
type Described = Pick<Manifest, 'tree' | 'sequence' | 'digest' | 'downloads'>;

const NO_FILES = { from: null, from_digest: null, file: null, bytes: null, sha256: null, bundle: null };

/** A change without its files: it is only news. */
export const withoutFiles = (of: Change): Change => ({ ...of, ...NO_FILES });

/**
 * Changes of which the newest have their files: as many as stay below a size together, up to one that
 * has no list, since nothing leads on from those before it.
 * @param changes newest first
 */
function withKeptFiles(changes: readonly Change[], most: number): Change[] {
  let bytes = 0;
  return changes.map((change) => {
    const list = listOf(change);
    bytes += list === undefined ? Number.POSITIVE_INFINITY : list.bytes + (change.bundle?.bytes ?? 0);
    return bytes < most ? change : withoutFiles(change);
  });
}

/** The oldest snapshot from which bundles lead to a snapshot. @param changes newest first */
function oldestOf(sequence: number, changes: readonly Change[]): number {
  let oldest = sequence;
  for (const { sequence: to, from, bundle } of changes)
    if (to === oldest && bundle !== null) oldest = from ?? oldest;
  return oldest;
}

/** The index of a snapshot, which names only files that may be kept. @param all its changes, newest first */
export function indexOf(manifest: Described, all: readonly Change[]): ChangeIndex {
  const { tree, sequence, digest } = manifest;
  const indexWith = (changes: Change[]): ChangeIndex => {
    const oldest = oldestOf(sequence, changes);
    return { tree: tree.id, sequence, digest, oldest, ...downloadsOf(manifest), changes };
  };
  const indexBytes = Buffer.byteLength(JSON.stringify(indexWith([...all])));
  return indexWith(withKeptFiles(all, mostChangeBytes(manifest) - indexBytes));
}

/**
 * Removes damaged files from the published index. Lists that lead only to a damaged one go with it;
 * if none leads to the published snapshot any more, whoever follows the lists starts over.
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
  const isWhole = (file: string): boolean => !damaged.has(file.slice(1));
  if (changes.length > 0 && filesIn(changes).every(({ file }) => isWhole(file))) return;
  const { sequence, as_of, built_at, digest } = manifest;
  const hole = changes.findIndex((each) => each.file !== null && !isWhole(each.file));
  const start = withoutFiles(changes[0] ?? { ...NO_FILES, sequence, digest, as_of, built_at, counts: {} });
  const rest = changes.length === 0 || hole === 0 ? [start] : hole < 0 ? changes : changes.slice(0, hole);
  const next = indexOf(
    manifest,
    rest.map((each) =>
      each.bundle === null || isWhole(each.bundle.file) ? each : { ...each, bundle: null },
    ),
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
