/** Stages what leads from the previous snapshot to the next: list, bundle, roll-ups and index. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SPANS } from '../../routes/publishing.js';
import type { Manifest } from '../snapshot-json.js';
import { listFiles } from '../stage.js';
import type { StagePaths } from '../stage.js';
import type { Tree } from '../tree.js';
import { writeBundle } from './bundle.js';
import {
  INDEX_FILE,
  KEPT_LISTS,
  downloadsOf,
  filesIn,
  indexOf,
  readChangeIndex,
  untrackedFiles,
  withoutFiles,
} from './change-index.js';
import type { Change } from './change-index.js';
import { writeList } from './change-list.js';
import { writeRollups } from './rollup.js';

export interface NextChanges {
  readonly treeId: string;
  /** The snapshot.json of the next snapshot. */
  readonly manifest: Manifest;
  readonly counts: Change['counts'];
  /** Whether earlier files may hold something that is withheld now. */
  readonly isTakedown: boolean;
}

export interface StagedChanges {
  /** The changes in the next index. */
  readonly changes: readonly Change[];
  /** Staged and outdated files, below the output folder. */
  readonly added: readonly string[];
  readonly outdated: readonly string[];
}

/** @param previous the snapshot that this one follows; undefined for the first */
export async function stageChanges(
  tree: Tree,
  paths: StagePaths,
  previous: Pick<Manifest, 'sequence' | 'digest'> | undefined,
  { treeId, manifest, counts, isTakedown }: NextChanges,
): Promise<StagedChanges> {
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
  const list = step && writeList(paths, step);
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
    bundle: (step && (await writeBundle(paths, step))) ?? null,
  };
  // The other lists stay in the state until they are reported, by when a body may be withheld.
  for (const part of listFiles(paths.lists, 'bodies')) rmSync(part);
  const earlier = isChain ? published.changes : [];
  const changes = [newest, ...(isTakedown ? earlier.map(withoutFiles) : earlier)].slice(0, KEPT_LISTS);
  const locate = (file: string): string => {
    const staged = join(paths.last, file);
    return existsSync(staged) ? staged : join(tree.out, file);
  };
  const added = await writeRollups(paths, treeId, changes, locate);
  const rollups = [...added, ...(isChain && !isTakedown ? published.rollups : [])];
  const kept = SPANS.flatMap((each) =>
    rollups.filter(({ from, sequence: to }) => to - from === each.span).slice(0, each.kept),
  ).toSorted((a, b) => b.sequence - a.sequence || b.from - a.from);
  const index = indexOf({
    tree: treeId,
    sequence,
    digest,
    ...downloadsOf(manifest),
    changes,
    rollups: [...kept],
  });
  writeFileSync(join(paths.last, INDEX_FILE), JSON.stringify(index));
  const own = filesIn({ changes: [newest], rollups: added }).map(({ file }) => file.slice(1));
  return { changes, added: own, outdated: untrackedFiles(tree, index) };
}
