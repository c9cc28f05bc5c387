/** By what records of a register can be found. */
import type { NamedKind } from '../../routes/lookup.js';
import type { Kind } from '../../schema/field.js';
import type { Measured } from '../../schema/measured.js';
import { NAMES } from '../lookup/names.js';

const isNamed = (kind: Kind): kind is NamedKind => kind in NAMES;

/** Those of some kinds whose records can be found by a name. */
export const namedOf = (kinds: readonly Kind[], measured: Measured): readonly NamedKind[] =>
  kinds.filter(isNamed).filter((kind) => {
    const { resource, column, history } = NAMES[kind];
    return measured.hasAny([`${resource.plural}.${column}`, history.table]);
  });

/** Whether the former names of a kind are measured. */
export const hasFormer = (kind: NamedKind, measured: Measured): boolean =>
  measured.has(NAMES[kind].history.table);

/** What users and groups own: `the groups that a user owns`. */
export const ownedIn = (measured: Measured): readonly string[] => [
  ...(measured.has('groups.owner_id') ? ['the groups that a user owns'] : []),
  ...(measured.has('games.creator_id') ? ['the games that a user or group created'] : []),
];

/** `a name`, `an owner` */
export const findersIn = (measured: Measured): readonly string[] => [
  ...(namedOf(['user', 'group'], measured).length > 0 ? ['a name'] : []),
  ...(ownedIn(measured).length > 0 ? ['an owner'] : []),
];
