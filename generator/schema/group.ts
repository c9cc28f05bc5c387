/** Groups, with their members, names and owners. */
import { change, memberCount, peak, readAt } from './members.js';
import {
  bool,
  date,
  id,
  measured,
  object,
  oneOf,
  required,
  text,
  type Column,
  type History,
  type ObjectField,
  type Reference,
  type Resource,
} from './field.js';
import { changedAt, changedBetween, isCurrent, position, seen } from './histories.js';

const OWNER: Reference = { kind: 'user', id: 'owner_id', name: 'owner_name' };

const groupId = required(id('id', 7, 'Stable numeric id of the group.'));
const groupKey = required(id('group_id', 7, 'Id of the group.')).column;
const name = text('name', 'Cloud Gardeners', 'Name of the group, exactly as read.');
const ownerState = oneOf(
  'owner_state',
  { owned: 'it has an owner', none: 'it has no owner' },
  'Whether the group has an owner.',
);

/** A value of `owner_state`, and what it means along with each kind of `owner`. */
interface OwnerCase {
  readonly state: 'owned' | 'none' | null;
  /** Along with an object; null if the register may not hold it. */
  readonly object: string | null;
  /** Along with null. */
  readonly null: string;
}

/** All combinations of `owner_state` and `owner`. */
export const OWNER_CASES: readonly OwnerCase[] = [
  {
    state: 'owned',
    object: 'this user owns it',
    null: 'it has an owner, who was not measured or is withheld',
  },
  { state: 'none', object: null, null: 'it has no owner' },
  { state: null, object: 'this user owns it', null: 'not measured' },
];

/** The columns that say something of an owner. */
export const OWNER_COLUMNS = ['groups.owner_state', 'groups.owner_id', 'groups.owner_name'];

const ofOwner: Pick<Column, 'identifies' | 'nullWhere'> = {
  identifies: OWNER,
  nullWhere: {
    column: ownerState.name,
    values: OWNER_CASES.flatMap(({ state, object }) => (state !== null && object === null ? [state] : [])),
  },
};
const owner: ObjectField = object(
  'owner',
  'The user who owns the group.',
  {
    id: id('owner_id', 1042, 'Id of the owner.', ofOwner),
    name: text('owner_name', 'marlow_finch', 'Username of the owner when it was read.', ofOwner),
  },
  'no owner, or the owner was not measured or is withheld',
);

export const members: History = {
  name: 'members',
  table: 'group_member_readings',
  description: 'Every reading of a group’s member count, oldest first. Gaps are not filled in.',
  key: groupKey,
  order: readAt.column,
  fields: [readAt, required(memberCount)],
  agrees: { member_count: 'member_count' },
};

const names: History = {
  name: 'names',
  table: 'group_names',
  description: 'Names that a group has been observed with, oldest first.',
  key: groupKey,
  order: position.column,
  fields: [position, required(name), isCurrent, ...seen, changedAt, ...changedBetween],
  agrees: { name: 'name' },
};

const owners: History = {
  name: 'owners',
  table: 'group_owners',
  description: 'Owners that a group has been observed with, oldest first.',
  key: groupKey,
  order: position.column,
  fields: [position, required(ownerState), owner, isCurrent, ...seen, ...changedBetween],
  agrees: { owner_state: 'owner_state', owner_id: 'owner_id' },
};

export const group: Resource = {
  kind: 'group',
  plural: 'groups',
  record: {
    route: 'group',
    fields: [
      groupId,
      name,
      oneOf(
        'state',
        {
          present: 'the platform shows it',
          locked: 'the platform shows it, but has closed it to everybody',
          deleted: 'the platform no longer has it',
        },
        'State of the group on the platform.',
      ),
      text('description', 'We grow gardens in the sky.', 'Description, exactly as read.'),
      ownerState,
      owner,
      memberCount,
      bool('public_entry', true, 'Whether anyone can join without approval.'),
      bool('verified', false, 'Whether the platform marks the group as verified.'),
      date('created_at', '2019-05-04T17:20:00Z', 'When the group was created, according to the platform.'),
      peak,
      change,
      ...measured,
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this record, its history, and the record of its owner.',
        targets: { self: 'group', history: 'group-history', owner: OWNER },
      },
    ],
  },
  history: {
    route: 'group-history',
    fields: [
      groupId,
      name,
      ...[members, names, owners].map(({ name, description }) => ({
        is: 'list' as const,
        name,
        description,
        history: name,
      })),
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this history and its record.',
        targets: { self: 'group-history', group: 'group' },
      },
    ],
  },
  histories: [members, names, owners],
  totals: ['member_count'],
  nameColumn: name.name,
};
