/** The way from one snapshot to another, by the files that the origin's index of changes names. */
import type { ChangeIndex, OwnFile } from './origin.js';

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
  readonly file: OwnFile;
}

/** All steps, those with bodies first. */
export function stepsOf({ changes, rollups }: ChangeIndex): readonly Step[] {
  const single = (
    is: Step['is'],
    fileOf: (change: ChangeIndex['changes'][number]) => OwnFile | null,
  ): Step[] =>
    changes.flatMap((change): Step[] => {
      const { from, from_digest: fromDigest } = change;
      const file = fileOf(change);
      return from === null || fromDigest === null || file === null
        ? []
        : [{ is, from, fromDigest, to: change, file }];
    });
  return [
    ...single('bundle', ({ bundle }) => bundle),
    ...rollups.map((rollup): Step => ({
      is: 'bundle',
      from: rollup.from,
      fromDigest: rollup.from_digest,
      to: rollup,
      file: rollup,
    })),
    ...single('list', listOf),
  ];
}

export const listOf = ({ file, bytes, sha256 }: ChangeIndex['changes'][number]): OwnFile | null =>
  file === null || bytes === null || sha256 === null ? null : { file, bytes, sha256 };

/**
 * The fewest files that lead from a snapshot to the published one.
 * @param unusable files to do without
 * @returns undefined if no files do
 */
export function wayFrom(
  start: At,
  index: ChangeIndex,
  unusable: ReadonlySet<string>,
): readonly Step[] | undefined {
  const steps = stepsOf(index).filter(({ file }) => !unusable.has(file.file));
  const known = index.changes.find(({ sequence }) => sequence === start.sequence);
  if (known !== undefined && known.digest !== start.digest) return undefined;
  const way: Step[] = [];
  for (let at = start; at.sequence !== index.sequence;) {
    // The farthest step is the best: from where it leads, all others can still be taken.
    const [best] = steps
      .filter(({ from, fromDigest, to }) => {
        const isBetween = from < at.sequence || (from === at.sequence && fromDigest === at.digest);
        return isBetween && to.sequence > at.sequence && to.sequence <= index.sequence;
      })
      .toSorted(
        (a, b) => a.is.localeCompare(b.is) || b.to.sequence - a.to.sequence || a.file.bytes - b.file.bytes,
      );
    if (best === undefined) return undefined;
    way.push(best);
    at = best.to;
  }
  return way;
}

/**
 * The index of a copy: the origin's, restricted to the files that the copy has.
 * @param isHeld whether the copy has a file
 */
export function restricted(index: ChangeIndex, isHeld: (file: OwnFile) => boolean): ChangeIndex {
  const changes = index.changes.map((change) => {
    const list = listOf(change);
    const isListed = list !== null && isHeld(list);
    return {
      ...change,
      ...(isListed ? {} : { file: null, bytes: null, sha256: null }),
      bundle: change.bundle !== null && isHeld(change.bundle) ? change.bundle : null,
    };
  });
  const rollups = index.rollups.filter(isHeld);
  const bundles = stepsOf({ ...index, changes, rollups }).filter(({ is }) => is === 'bundle');
  let oldest = index.sequence;
  for (;;) {
    const earlier = bundles.filter(({ from, to }) => from < oldest && to.sequence >= oldest);
    if (earlier.length === 0) return { ...index, oldest, changes, rollups };
    oldest = Math.min(...earlier.map(({ from }) => from));
  }
}

/** The files that an index names. */
export const filesOf = ({ changes, rollups }: ChangeIndex): readonly OwnFile[] => [
  ...changes.flatMap((change) => [listOf(change), change.bundle].filter((file) => file !== null)),
  ...rollups,
];
