/** What the next snapshot will be, once all its documents are indexed. */
import { readFileSync } from 'node:fs';
import { manifestHash } from '../tree/manifest.js';
import { FORMAT } from '../tree/snapshot-json.js';
import { readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { treeDigest } from '../tree/digest.js';
import type { Index } from '../tree/index-json.js';
import type { NextIndex } from './next-index.js';
import type { Plan } from './plan.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Takedown } from './takedown.js';
import type { Tree } from '../tree/tree.js';

interface Planned {
  readonly tree: Tree;
  readonly treeId: string;
  /** The snapshot that is followed; undefined for the first. */
  readonly previous: Manifest | undefined;
  readonly next: NextIndex;
  readonly routes: readonly PublishedRoute[];
  readonly takedown: Takedown;
  /** The number of the newest snapshot that is known elsewhere. */
  readonly known: number;
}

/** Indexes what is left, and computes the totals of the next snapshot, and its number. */
export async function planOf(planned: Planned): Promise<Plan> {
  const { tree, treeId, previous, next, routes, takedown } = planned;
  await next.indexRest();
  const { changes, bytes } = next.total();
  const isTouched =
    previous?.format !== FORMAT ||
    // Bundles may hold what is withheld now, even if its documents are long gone.
    (takedown.isOne && untrackedFiles(tree, []).length > 0) ||
    changes.added + changes.changed + changes.removed > 0;
  // If snapshot.json was lost, the index of changes still has its number, or somebody else does.
  const last = Math.max(previous?.sequence ?? readChangeIndex(tree)?.sequence ?? 0, planned.known);
  return {
    treeId,
    sequence: last + (isTouched ? 1 : 0),
    digest: isTouched ? treeDigest(routes, ({ name }) => next.of(name)) : previous.digest,
    changes,
    files: changes.added + changes.changed + changes.unchanged,
    bytes,
    firstKeys: next.firstKeys(),
  };
}

/** What identifies the snapshot.json that was published last, whatever is in its place now. */
export const publishedManifest = ({
  tree,
  index,
}: Pick<Planned, 'tree'> & { readonly index: Index | undefined }): string =>
  index?.manifest ?? manifestHash(readFileSync(tree.manifest));
