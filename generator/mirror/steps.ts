/** The way from one snapshot to another, by the files that the origin's index of changes names. */
import { listOf } from '../tree/changes.js';
import type { ChangeIndex, Described } from '../tree/changes.js';

export interface At {
  readonly sequence: number;
  readonly digest: string;
}

/** A bundle or list of changes. */
export interface Step {
  readonly is: 'bundle' | 'list';
  readonly from: number;
  readonly to: At;
  readonly file: Described;
}

/**
 * The files that lead from a snapshot to the published one: bundles, and lists where there is none.
 * @param unusable files to do without
 * @returns undefined if no files do
 */
export function planSteps(
  start: At,
  { sequence, changes }: ChangeIndex,
  unusable: ReadonlySet<string>,
): readonly Step[] | undefined {
  const usable = (file: Described | null | undefined): Described | undefined =>
    file && !unusable.has(file.file) ? file : undefined;
  const plan: Step[] = [];
  for (let at = start; at.sequence !== sequence;) {
    const { sequence: from, digest } = at;
    const to = changes.find((change) => change.from === from && change.from_digest === digest);
    // Forward, so that it ends, whatever an origin says.
    if (to === undefined || to.sequence <= from) return undefined;
    const bundle = usable(to.bundle);
    const file = bundle ?? usable(listOf(to));
    if (file === undefined) return undefined;
    plan.push({ is: bundle === undefined ? 'list' : 'bundle', from, to, file });
    at = to;
  }
  return plan;
}
