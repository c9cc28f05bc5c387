/** What is withheld, as publishing has to know it: to delete what is kept of it, and to tell a takedown from an accident. */
import { hash } from 'node:crypto';
import { Failure } from './errors.js';
import type { WithheldMarks } from './publish/ledger-index.js';
import type { Withheld } from './publish/takedown.js';
import type { Hidden } from './register/open.js';
import { RESOURCES } from './resources/index.js';

/** What was withheld is withheld no more: beyond this share it is more likely a lost list than a decision. */
const PLAUSIBLE_SHARE = 0.1;

/** Long enough to tell any number of entries apart. */
const MARK_DIGITS = 32;

export function withheldOf(hidden: Hidden): Withheld {
  const records = hidden['_withheld'] ?? [];
  /** By the route of their documents. */
  const ids = new Map(
    RESOURCES.map(({ kind, record }) => [
      record.route,
      new Set(records.filter(([of]) => of === kind).map(([, id]) => Number(id))),
    ]),
  );
  return {
    removes: (route, key) => ids.get(route)?.has(key) === true,
    marks: { records: records.map(markOf), names: (hidden['_withheld_name'] ?? []).map(markOf) },
  };
}

/** The state keeps no names: only what tells whether one is new. */
const markOf = (row: readonly unknown[]): string =>
  hash('sha256', row.map(String).join('\u0000')).slice(0, MARK_DIGITS);

/** @throws Failure invalid: so much would no longer be withheld that somebody should look first */
export function requirePlausibleList(before: WithheldMarks | undefined, now: WithheldMarks): void {
  const still = new Set(now.records);
  const all = before?.records ?? [];
  const gone = all.filter((mark) => !still.has(mark)).length;
  if (gone <= PLAUSIBLE_SHARE * all.length) return;
  throw Failure.invalid(
    `${gone} of ${all.length} withheld records would be published again, expected at most ${100 * PLAUSIBLE_SHARE} %` +
      ` (--accept-removals publishes all the same)`,
  );
}
