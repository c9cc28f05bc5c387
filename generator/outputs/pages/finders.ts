/** By what records of a register can be found. */
import { NAMED } from '../../routes/lookup.js';
import type { Kind } from '../../schema/field.js';
import type { Measured } from '../../schema/measured.js';
import { NAMES } from '../lookup/names.js';
import { measuresCreators } from '../lookup/owners.js';

/** Those of some kinds whose records can be found by a name. */
export const namedOf = (kinds: readonly Kind[], measured: Measured): readonly Kind[] =>
  kinds.filter((kind) => {
    const { resource, column } = NAMES[kind];
    return measured.has(`${resource.plural}.${column}`) || hasFormer(kind, measured);
  });

/** Whether the former names of a kind are measured. */
export function hasFormer(kind: Kind, measured: Measured): boolean {
  const { history } = NAMES[kind];
  return history !== undefined && measured.has(history.table);
}

/** What users and groups own: `the groups that a user owns`. */
export const ownedIn = (measured: Measured): readonly string[] => [
  ...(measured.has('groups.owner_id') ? ['the groups that a user owns'] : []),
  ...(measuresCreators(measured) ? ['the games that a user or group created'] : []),
];

/** `a name`, `an owner` */
export const findersIn = (measured: Measured): readonly string[] => [
  ...(namedOf(NAMED, measured).length > 0 ? ['a name'] : []),
  ...(ownedIn(measured).length > 0 ? ['an owner'] : []),
];
