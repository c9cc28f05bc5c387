/**
 * Takedowns: what is withheld leaves the tree with the next build, whatever else that does. `withheldOf`
 * says what is withheld now, in the terms of `publish/`, whose `Takedown` says whether any of it is new.
 * If so, all downloads are written, and no bundle of earlier snapshots stays.
 */
import { hash } from 'node:crypto';
import type { Exclusions } from '../register/database.js';
import { withheldAs } from '../register/functions.js';
import { exclusion } from '../register/sql.js';
import { KINDS, type Kind } from '../schema/field.js';
import type { WithheldMarks } from '../state/schema.js';

/** Enough hex digits to avoid collisions among any number of names. */
const MARK_DIGITS = 32;

/** @param lists the exclusions (see sql.ts) */
export function withheldOf(lists: Exclusions): WithheldMarks {
  const marks = (list: 'withheld' | 'withheld_name'): string[] => [
    ...new Set(
      KINDS.flatMap((kind) => (lists[exclusion(list, kind)] ?? []).map((value) => markOf(list, kind, value))),
    ),
  ];
  return { records: marks('withheld'), names: marks('withheld_name') };
}

/**
 * How the state remembers an entry. A record is marked by its kind and id, so that a build can name
 * one that it would publish again. A name is marked by a hash, which only shows whether it is new: one
 * for all spellings, since another one in the register takes nothing more down.
 */
const markOf = (list: 'withheld' | 'withheld_name', kind: Kind, value: unknown): string =>
  list === 'withheld'
    ? `${kind} ${Number(value)}`
    : hash('sha256', `${kind}\u0000${withheldAs(String(value))}`).slice(0, MARK_DIGITS);
