import { bool, count, id, measured, object, oneOf, ordinal, required, text, time } from './field.js';
import type { Entries, History, ObjectField, Reference, Resource } from './field.js';
import { changedAt, changedBetween, seen } from './histories.js';

const OWNER: Reference = { kind: 'user', id: 'owner_id', name: 'owner_name' };

const groupId = required(id('id', 7, 'Numeric id of the group, stable.'));
const groupKey = required(id('group_id', 7, 'The group.')).column;
const name = text('name', 'Cloud Gardeners', 'Name, exactly as read.');
const ownerState = oneOf('owner_state', ['owned', 'none'], 'Whether the group has an owner.');
const owner: ObjectField = object('owner', 'The user who owns the group.', {
  id: id('owner_id', 1042, 'Id of the user.', { identifies: OWNER }),
  name: text('owner_name', 'marlow_finch', 'Username when the owner was read.', { identifies: OWNER }),
});
const memberCount = count('member_count', 'members', 48213, 'Members of the group.');

const readAt = required(time('measured_at', '2026-11-20T08:00:00Z', 'When the count was read.'));

const members: History = {
  name: 'members',
  table: 'group_member_readings',
  description: 'Every reading of the member count, oldest first; a gap in the readings stays a gap.',
  key: groupKey,
  order: readAt.column,
  fields: [readAt, required(memberCount)],
  agrees: { member_count: 'member_count' },
};

const position = required(ordinal('position', 1, 'Place in the order, 1 is the oldest.')).column;

const names: History = {
  name: 'names',
  table: 'group_names',
  description: 'Names the group was seen under, oldest first.',
  key: groupKey,
  order: position,
  fields: [required(name), ...seen, changedAt, ...changedBetween],
  agrees: { name: 'name' },
};

const owners: History = {
  name: 'owners',
  table: 'group_owners',
  description: 'Owners the group was seen under, oldest first.',
  key: groupKey,
  order: position,
  fields: [required(ownerState), owner, ...seen, ...changedBetween],
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
      oneOf('state', ['present', 'locked', 'deleted'], 'What became of the group on the platform.'),
      text('description', 'We grow gardens in the sky.', 'Description, exactly as read.'),
      ownerState,
      owner,
      memberCount,
      bool('public_entry', true, 'Whether anyone may join without approval.'),
      bool('verified', false, 'Whether the platform marks the group as verified.'),
      time('created_at', '2019-05-04T17:20:00Z', 'When the group was created, by the platform.'),
      {
        is: 'series',
        name: 'peak',
        description: 'The highest real reading of the member count; the earliest of equals.',
        history: 'members',
        json: peak,
      },
      {
        is: 'series',
        name: 'change',
        description: 'Change of the member count between two real readings, over three windows.',
        history: 'members',
        json: change,
      },
      ...measured,
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this record and of its history.',
        routes: { self: 'group', history: 'group-history' },
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
        description: 'Paths of this history and of its record.',
        routes: { self: 'group-history', group: 'group' },
      },
    ],
  },
  histories: [members, names, owners],
  totals: ['member_count'],
};

interface Reading {
  readonly measured_at: string;
  readonly member_count: number;
}

function isReading(value: unknown): value is Reading {
  return typeof value === 'object' && value !== null && 'measured_at' in value && 'member_count' in value;
}

/** The readings of a members list, oldest first. */
function readingsOf({ json }: Entries): readonly Reading[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list) || !list.every(isReading)) throw new TypeError(`not a list of readings: ${json}`);
  return list;
}

function peak(entries: Entries): string {
  let highest: Reading | undefined;
  for (const reading of readingsOf(entries)) {
    if (highest === undefined || reading.member_count > highest.member_count) highest = reading;
  }
  return JSON.stringify(
    highest === undefined ? null : { member_count: highest.member_count, measured_at: highest.measured_at },
  );
}

const HOUR_MS = 3_600_000;
const WINDOWS_MS = { '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS, '30d': 30 * 24 * HOUR_MS } as const;
/** A reading older than this many windows is no honest start for a change over one window. */
const OLDEST_START_WINDOWS = 1.5;

/**
 * Per window: from the newest reading at or before the window's start to the newest reading of all. Two real
 * readings, never interpolated; null where there is no such reading or it is older than 1.5 windows.
 */
function change(entries: Entries): string {
  const readings = entries.count < 2 ? [] : readingsOf(entries);
  const to = readings.at(-1);
  const toMs = to === undefined ? Number.NaN : Date.parse(to.measured_at);
  // The windows grow, so one walk back through the readings serves all three.
  let at = readings.length - 1;
  const changes = Object.entries(WINDOWS_MS).map(([window, windowMs]) => {
    let ageMs = Number.NaN;
    for (; at >= 0; at -= 1) {
      ageMs = toMs - Date.parse(readings[at]?.measured_at ?? '');
      if (ageMs >= windowMs) break;
    }
    const from = readings[at];
    if (to === undefined || from === undefined || ageMs > OLDEST_START_WINDOWS * windowMs)
      return [window, null];
    return [
      window,
      {
        delta: to.member_count - from.member_count,
        from: from.member_count,
        to: to.member_count,
        from_at: from.measured_at,
        to_at: to.measured_at,
      },
    ];
  });
  return JSON.stringify(Object.fromEntries(changes));
}
