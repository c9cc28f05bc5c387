/** Whether what a build removes can be meant. */
import type { WithheldMarks } from './publish/index-json.js';
import type { Changes } from './publish/index-route.js';
import { RESOURCES } from './schema/index.js';

/** Each kind's plural, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/**
 * More than this share of a kind's records gone at once, or of the withheld records published again, is more likely a
 * broken register than the truth.
 */
const PLAUSIBLE_SHARE = 0.1;
const EXPECTED = `expected at most ${100 * PLAUSIBLE_SHARE} % (--accept-removals publishes all the same)`;

/**
 * Why somebody should look before a build removes so much; undefined where it is plausible.
 * @param takenDown how many documents of a route are gone because their records are withheld: a takedown is never held up
 */
export function implausible(
  byRoute: ReadonlyMap<string, Readonly<Changes>>,
  takenDown: ReadonlyMap<string, number>,
): string | undefined {
  for (const [kind, route] of Object.entries(RECORD_ROUTES)) {
    const { changed = 0, removed: gone = 0, unchanged = 0 } = byRoute.get(route) ?? {};
    const removed = gone - (takenDown.get(route) ?? 0);
    const before = changed + removed + unchanged;
    if (removed === 0 || (removed < before && removed <= PLAUSIBLE_SHARE * before)) continue;
    return `${removed} of ${before} ${kind} would be removed, ${EXPECTED}`;
  }
  return undefined;
}

/** Why somebody should look before so much is no longer withheld; undefined where it is plausible. */
export function implausibleList(before: WithheldMarks | undefined, now: WithheldMarks): string | undefined {
  const still = new Set(now.records);
  const all = before?.records ?? [];
  const gone = all.filter((mark) => !still.has(mark)).length;
  if (gone <= PLAUSIBLE_SHARE * all.length) return undefined;
  return `${gone} of ${all.length} withheld records would be published again, ${EXPECTED}`;
}
