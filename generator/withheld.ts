/** What is withheld, in the terms of the publisher. */
import { hash } from 'node:crypto';
import type { Withheld } from './publish/takedown.js';
import type { Hidden } from './register/open.js';
import { RESOURCES } from './resources/index.js';

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
