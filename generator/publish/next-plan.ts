/** What the next snapshot will be, once all its documents are indexed. */
import { readFileSync } from 'node:fs';
import { manifestHash } from '../tree/manifest-hash.js';
import { FORMAT } from '../tree/snapshot-json.js';
import { readChangeIndex, untrackedFiles } from '../tree/changes.js';
import { treeDigest } from '../tree/digest.js';
import type { Index } from '../tree/index-json.js';
import type { NextIndex } from './next-index.js';
import type { Plan } from './plan.js';
import type { SignedLog } from './signed-log.js';
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
  readonly log: SignedLog | undefined;
}

/** Indexes what is left, and computes the totals of the next snapshot, and its number. */
export async function planOf(planned: Planned): Promise<Plan> {
  const { tree, treeId, previous, next, routes, takedown, log } = planned;
  await next.indexRest(takedown);
  const { changes, bytes } = next.total();
  const known = readChangeIndex(tree);
  const isTouched =
    previous?.format !== FORMAT ||
    // Bundles may hold what is withheld now, even if its documents are long gone.
    (takedown.isOne && untrackedFiles(tree, []).length > 0) ||
    changes.added + changes.changed + changes.removed > 0 ||
    log?.isNewest(previous) === false;
  // If snapshot.json was lost, the index of changes and the log still have the last sequence number.
  const last = Math.max(previous?.sequence ?? known?.sequence ?? 0, log?.newest?.sequence ?? 0);
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
export function publishedManifest({
  tree,
  previous,
  index,
  log,
}: Pick<Planned, 'tree' | 'previous' | 'log'> & { readonly index: Index | undefined }): string {
  const { newest } = log ?? {};
  const signed = newest?.sequence === previous?.sequence ? newest?.manifest : undefined;
  return signed ?? index?.manifest ?? manifestHash(readFileSync(tree.manifest));
}
