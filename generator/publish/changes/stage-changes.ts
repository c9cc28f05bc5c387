/** Stages what leads from the previous snapshot to the next: list, bundle and index. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../progress.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';
import { writeBundle } from './bundle.js';
import type { Bundled } from './bundle.js';
import { INDEX_FILE, filesIn, readChangeIndex, untrackedFiles } from '../../tree/changes.js';
import { KEPT_LISTS, downloadsOf, indexOf, withoutFiles } from './change-index.js';
import type { Change } from '../../tree/changes.js';
import { writeList } from './change-list.js';

export interface NextChanges {
  readonly treeId: string;
  /** The snapshot.json of the next snapshot. */
  readonly manifest: Manifest;
  readonly counts: Change['counts'];
  /** Whether earlier files may hold something that is withheld now. */
  readonly isTakedown: boolean;
  readonly bundled: Bundled;
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
  previous: Pick<Manifest, 'sequence' | 'digest'> | undefined,
  { treeId, manifest, counts, isTakedown, bundled }: NextChanges,
  progress: Progress,
): Promise<StagedChanges> {
  const { sequence, digest, as_of, built_at } = manifest;
  const { paths } = bundled.spec;
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
    bundle: (step && (await writeBundle(bundled, step, manifest.tree.bytes / 10, progress))) ?? null,
  };
  const earlier = isChain ? published.changes : [];
  const changes = [newest, ...(isTakedown ? earlier.map(withoutFiles) : earlier)].slice(0, KEPT_LISTS);
  const index = indexOf({ tree: treeId, sequence, digest, ...downloadsOf(manifest), changes });
  writeFileSync(join(paths.last, INDEX_FILE), JSON.stringify(index));
  const added = filesIn([newest]).map(({ file }) => file.slice(1));
  return { changes, added, outdated: untrackedFiles(tree, changes) };
}
