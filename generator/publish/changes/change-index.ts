/** Writes /changes/index.json. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../files.js';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../../tree/changes.js';
import type { Change, ChangeIndex } from '../../tree/changes.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';

/** How many change lists and bundles are kept. A daily mirror may miss a month. */
export const KEPT_LISTS = 30;

/** The oldest snapshot from which bundles lead to a snapshot. @param changes newest first */
function oldestOf(sequence: number, changes: readonly Change[]): number {
  let oldest = sequence;
  for (const { sequence: to, from, bundle } of changes)
    if (to === oldest && bundle !== null) oldest = from ?? oldest;
  return oldest;
}

/** Completes an index. */
export const indexOf = (index: Omit<ChangeIndex, 'oldest'>): ChangeIndex => {
  const { tree, sequence, digest, ...rest } = index;
  return { tree, sequence, digest, oldest: oldestOf(sequence, index.changes), ...rest };
};

const NO_FILES = { from: null, from_digest: null, file: null, bytes: null, sha256: null, bundle: null };

/** A change without its files: it is only news. */
export const withoutFiles = (of: Change): Change => ({ ...of, ...NO_FILES });

/**
 * Removes damaged files from the published index. Lists that lead only to a damaged one go with it;
 * if none leads to the published snapshot any more, whoever follows the lists starts over.
 * @param damaged files below the output folder
 */
export function repairIndex(
  tree: Tree,
  manifest: Pick<Manifest, 'sequence' | 'as_of' | 'built_at' | 'digest' | 'downloads'> & { id: string },
  damaged: ReadonlySet<string>,
): void {
  const published = readChangeIndex(tree);
  const isOfSnapshot = published?.sequence === manifest.sequence && published.tree === manifest.id;
  const changes = isOfSnapshot ? published.changes : [];
  const isWhole = (file: string): boolean => !damaged.has(file.slice(1));
  if (changes.length > 0 && filesIn(changes).every(({ file }) => isWhole(file))) return;
  const { id, sequence, as_of, built_at, digest } = manifest;
  const hole = changes.findIndex((each) => each.file !== null && !isWhole(each.file));
  const start = withoutFiles(changes[0] ?? { ...NO_FILES, sequence, digest, as_of, built_at, counts: {} });
  const rest = changes.length === 0 || hole === 0 ? [start] : hole < 0 ? changes : changes.slice(0, hole);
  const next = indexOf({
    tree: id,
    sequence,
    digest,
    ...downloadsOf(manifest),
    changes: rest.map((each) =>
      each.bundle === null || isWhole(each.bundle.file) ? each : { ...each, bundle: null },
    ),
  });
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  replaceFile(join(tree.out, INDEX_FILE), JSON.stringify(next), join(tree.state, 'index.json'));
  for (const file of untrackedFiles(tree, next.changes)) rmSync(join(tree.out, file));
}

/** What snapshot.json says of the downloads, which the index of changes repeats. */
export const downloadsOf = ({ downloads }: Pick<Manifest, 'downloads'>): Pick<ChangeIndex, 'downloads'> =>
  downloads?.digest === undefined
    ? {}
    : { downloads: { sequence: downloads.sequence, digest: downloads.digest } };
