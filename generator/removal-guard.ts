/** Refuses implausible removals. */
import type { WithheldMarks } from './publish/index-json.js';
import type { Changes } from './publish/index-route.js';
import { RESOURCES } from './schema/index.js';

/** The plural of each kind, and the route with one file for each of its records. */
export const RECORD_ROUTES: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCES.map(({ plural, record }) => [plural, record.route]),
);

/**
 * A broken register is more likely than a real removal of more than this share of a kind's records
 * at once. The same goes for publishing withheld records again.
 */
const PLAUSIBLE_SHARE = 0.1;
const EXPECTED = `expected at most ${100 * PLAUSIBLE_SHARE} % (--accept-removals publishes anyway)`;

/**
 * Why a removal needs confirmation; undefined if it is plausible.
 * @param takenDown documents of withheld records, by route: takedowns are never refused
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

/** Why publishing withheld records again needs confirmation; undefined if it is plausible. */
export function implausibleList(before: WithheldMarks | undefined, now: WithheldMarks): string | undefined {
  const still = new Set(now.records);
  const all = before?.records ?? [];
  const gone = all.filter((mark) => !still.has(mark)).length;
  if (gone <= PLAUSIBLE_SHARE * all.length) return undefined;
  return `${gone} of ${all.length} withheld records would be published again, ${EXPECTED}`;
}

/**
 * Why publishing without columns or the withheld list needs confirmation: a view that lost them by
 * mistake would publish what is withheld. Undefined if the last snapshot had none of them either.
 * @param before what the last snapshot's register lacked; undefined if there is no snapshot
 */
export function implausibleAbsence(
  before: readonly string[] | undefined,
  now: readonly string[],
): string | undefined {
  const lost = before === undefined ? [] : now.filter((what) => !before.includes(what));
  if (lost.length === 0) return undefined;
  return (
    `the register lacks ${lost.join(', ')}, which that of the last snapshot had: check --register,` +
    ` publish another register to another --out, or accept the loss with --accept-removals`
  );
}
