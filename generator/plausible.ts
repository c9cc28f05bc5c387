/** Whether what a build removes can be meant. */
import type { Outcome } from './publish/comparison.js';
import { RESOURCES } from './resources/index.js';

/** Each kind's plural, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/** More than this share of a kind's records gone at once is more likely a broken register than the truth. */
const PLAUSIBLE_REMOVAL = 0.1;

/**
 * Why somebody should look before a build removes so much; undefined where it is plausible.
 * @param takenDown how many documents of a route are gone because their records are withheld: a takedown is never held up
 */
export function implausible(
  byRoute: Outcome['byRoute'],
  takenDown: ReadonlyMap<string, number>,
): string | undefined {
  for (const [kind, route] of Object.entries(RECORD_ROUTES)) {
    const { changed = 0, removed: gone = 0, unchanged = 0 } = byRoute.get(route) ?? {};
    const removed = gone - (takenDown.get(route) ?? 0);
    const before = changed + removed + unchanged;
    if (removed === 0 || (removed < before && removed <= PLAUSIBLE_REMOVAL * before)) continue;
    return (
      `${removed} of ${before} ${kind} would be removed, expected at most ${100 * PLAUSIBLE_REMOVAL} %` +
      ` (--accept-removals publishes all the same)`
    );
  }
  return undefined;
}
