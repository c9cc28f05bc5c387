/** The way from one snapshot to another, by the files that the origin's index of changes names. */
import { listOf } from '../publish/changes/change-index.js';
import type { Change, ChangeIndex, Described } from '../publish/changes/change-index.js';

export interface At {
  readonly sequence: number;
  readonly digest: string;
}

/** A bundle, roll-up or list of changes: it brings any snapshot from `from` on to `to`. */
export interface Step {
  readonly is: 'bundle' | 'list';
  readonly from: number;
  readonly fromDigest: string;
  readonly to: At;
  readonly file: Described;
}

function stepsOf({ changes, rollups }: ChangeIndex): readonly Step[] {
  const single = (is: Step['is'], to: Change, file: Described | null | undefined): Step[] =>
    to.from === null || to.from_digest === null || file === null || file === undefined
      ? []
      : [{ is, from: to.from, fromDigest: to.from_digest, to, file }];
  return [
    ...changes.flatMap((to) => [...single('bundle', to, to.bundle), ...single('list', to, listOf(to))]),
    ...rollups.map((to): Step => ({
      is: 'bundle',
      from: to.from,
      fromDigest: to.from_digest,
      to,
      file: to,
    })),
  ];
}

/**
 * The fewest files that lead from a snapshot to the published one; a list only where no bundle does.
 * @param unusable files to do without
 * @returns undefined if no files do
 */
export function planSteps(
  start: At,
  index: ChangeIndex,
  unusable: ReadonlySet<string>,
): readonly Step[] | undefined {
  const steps = stepsOf(index).filter(({ file }) => !unusable.has(file.file));
  const known = index.changes.find(({ sequence }) => sequence === start.sequence);
  if (known !== undefined && known.digest !== start.digest) return undefined;
  const plan: Step[] = [];
  for (let at = start; at.sequence !== index.sequence;) {
    // Bundles before lists. The farthest step is the best: from where it leads, all others can
    // still be taken.
    const [best] = steps
      .filter(({ from, fromDigest, to }) => {
        const isBetween = from < at.sequence || (from === at.sequence && fromDigest === at.digest);
        return isBetween && to.sequence > at.sequence && to.sequence <= index.sequence;
      })
      .toSorted(
        (a, b) =>
          Number(a.is === 'list') - Number(b.is === 'list') ||
          b.to.sequence - a.to.sequence ||
          a.file.bytes - b.file.bytes,
      );
    if (best === undefined) return undefined;
    plan.push(best);
    at = best.to;
  }
  return plan;
}
