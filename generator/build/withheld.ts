/** Converts the withheld records to the publisher's terms. */
import { hash } from 'node:crypto';
import type { Withheld } from '../publish/takedown.js';
import type { Exclusions } from '../register/database.js';
import { withheldAs } from '../register/functions.js';
import { exclusion } from '../register/sql.js';
import { KINDS, type Kind } from '../schema/field.js';
import { RESOURCES } from '../schema/index.js';

/** Enough hex digits to avoid collisions among any number of entries. */
const MARK_DIGITS = 32;

/** @param lists the exclusions (see sql.ts) */
export function withheldOf(lists: Exclusions): Withheld {
  const values = (list: 'withheld' | 'withheld_name', kind: Kind): readonly unknown[] =>
    lists[exclusion(list, kind)] ?? [];
  const marks = (list: 'withheld' | 'withheld_name'): string[] => [
    ...new Set(KINDS.flatMap((kind) => values(list, kind).map((value) => markOf(list, kind, value)))),
  ];
  return {
    keys: new Map(
      RESOURCES.map(({ kind, record }) => [record.route, new Set(values('withheld', kind).map(Number))]),
    ),
    marks: { records: marks('withheld'), names: marks('withheld_name') },
  };
}

/**
 * The state stores hashes, not names: they only show whether an entry is new. A name has one for all
 * spellings, since another one in the register takes nothing more down.
 */
export const markOf = (list: 'withheld' | 'withheld_name', kind: Kind, value: unknown): string => {
  const what = list === 'withheld_name' ? withheldAs(String(value)) : String(value);
  return hash('sha256', `${kind}\u0000${what}`).slice(0, MARK_DIGITS);
};
