/** Converts the withheld records to the publisher's terms. */
import { hash } from 'node:crypto';
import type { Withheld } from '../publish/takedown.js';
import type { Exclusions } from '../register/database.js';
import { exclusion } from '../register/sql.js';
import { KINDS } from '../schema/field.js';
import type { Kind } from '../schema/field.js';
import { RESOURCES } from '../schema/index.js';

/** Enough hex digits to avoid collisions among any number of entries. */
const MARK_DIGITS = 32;

/** @param lists the exclusions (see sql.ts) */
export function withheldOf(lists: Exclusions): Withheld {
  const values = (list: 'withheld' | 'withheld_name', kind: Kind): readonly unknown[] =>
    lists[exclusion(list, kind)] ?? [];
  const marks = (list: 'withheld' | 'withheld_name'): readonly string[] =>
    KINDS.flatMap((kind) => values(list, kind).map((value) => markOf(kind, value)));
  return {
    keys: new Map(
      RESOURCES.map(({ kind, record }) => [record.route, new Set(values('withheld', kind).map(Number))]),
    ),
    marks: { records: [...marks('withheld')], names: [...marks('withheld_name')] },
  };
}

/** The state stores hashes, not names: they only show whether an entry is new. */
export const markOf = (kind: Kind, value: unknown): string =>
  hash('sha256', `${kind}\u0000${String(value)}`).slice(0, MARK_DIGITS);
