/**
 * Takedowns: what is withheld leaves the tree with the next build, whatever that build's options are. If anything
 * is newly withheld, all downloads are written, and no bundle of earlier snapshots stays.
 */
import { hash } from 'node:crypto';
import type { Exclusions } from '../register/database.js';
import { withheldAs } from '../register/functions.js';
import { exclusion } from '../register/sql.js';
import { KINDS, type Kind } from '../schema/field.js';
import type { WithheldMarks } from '../publish/state.js';

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
 * How the state remembers an entry. The mark of a record is its kind and id, so that a build can name a record
 * that it would publish again. The mark of a name is a hash, which only shows whether it is new: the same for
 * all spellings, since a second spelling takes nothing more down.
 */
const markOf = (list: 'withheld' | 'withheld_name', kind: Kind, value: unknown): string =>
  list === 'withheld'
    ? `${kind} ${Number(value)}`
    : hash('sha256', `${kind}\u0000${withheldAs(String(value))}`).slice(0, MARK_DIGITS);

/** Whether anything is newly withheld. @param before undefined if it is not known, so that all marks count as new */
export function withholdsMore(before: WithheldMarks | undefined, now: WithheldMarks): boolean {
  const known = new Set([...(before?.records ?? []), ...(before?.names ?? [])]);
  return [...now.records, ...now.names].some((mark) => !known.has(mark));
}
