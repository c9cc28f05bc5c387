/** Fields computed from a group's member readings: the peak, and the change over three windows. */
import { count, required, time, type Computed, type Entries, type DerivedField } from './field.js';
import type { Value, ObjectShape, ValueShape } from './shape.js';
import { millisecondsOf } from './time.js';

export const memberCount = count('member_count', 'members', 48213, 'Number of members in the group.');
export const readAt = required(
  time('measured_at', '2026-11-20T08:00:00Z', 'When the member count was read.'),
);

const members = (
  name: string,
  description: string,
  example = memberCount.column.example,
  type: Value['type'] = 'count',
): ValueShape => ({ is: 'value', name, type, nullable: false, description, example, unit: 'members' });
const moment = (name: string, description: string, example = readAt.column.example): ValueShape => ({
  is: 'value',
  name,
  type: 'time',
  nullable: false,
  description,
  example,
});

const HOUR_MS = 3_600_000;

/** Each window's length in milliseconds, and in words. */
export const WINDOWS = {
  h24: { spanMs: 24 * HOUR_MS, length: 24, unit: 'hours', words: '24 hours' },
  d7: { spanMs: 7 * 24 * HOUR_MS, length: 7, unit: 'days', words: '7 days' },
  d30: { spanMs: 30 * 24 * HOUR_MS, length: 30, unit: 'days', words: '30 days' },
} as const;

export type Window = keyof typeof WINDOWS;

/** From the shortest to the longest. */
export const WINDOW_NAMES = ['h24', 'd7', 'd30'] as const satisfies readonly Window[];

/** A reading older than this many windows is no fair start for a change over one window. */
export const OLDEST_START_WINDOWS = 1.5;

const NOT_THE_PLATFORMS = 'On the platform, it may have been higher between two readings.';

export const peak: DerivedField = {
  is: 'derived',
  name: 'peak',
  history: 'members',
  reads: [readAt.column, memberCount.column],
  shape: {
    is: 'object',
    name: 'peak',
    nullable: true,
    nullMeans: 'no reading of the member count',
    description: `The highest member count that this register has read. ${NOT_THE_PLATFORMS}`,
    members: [
      members(
        'member_count',
        `Highest member count of all readings in this register. ${NOT_THE_PLATFORMS}`,
        48907,
      ),
      moment(
        'measured_at',
        'When this register read its highest member count; the earliest such reading.',
        '2026-08-02T08:00:00Z',
      ),
    ],
  },
  compute: highest,
};

/** The members of a change over a window. @param words the length of the window */
export const changeMembers = (words: string): readonly ValueShape[] => [
  members(
    'delta',
    `Change of the member count over ${words}: the latest reading minus the one at least ${words} before it.`,
    -12,
    'difference',
  ),
  members(
    'from',
    `Member count at the reading that the latest is compared with, at least ${words} before it.`,
    48225,
  ),
  members(
    'to',
    `Member count at the latest reading, which is compared with one at least ${words} before it.`,
  ),
  moment(
    'from_at',
    `Time of the reading that the latest is compared with, at least ${words} before it.`,
    '2026-10-20T08:00:00Z',
  ),
  moment('to_at', `Time of the latest reading, which is compared with one at least ${words} before it.`),
];

export const change: DerivedField = {
  is: 'derived',
  name: 'change',
  history: 'members',
  reads: [readAt.column, memberCount.column],
  shape: {
    is: 'object',
    name: 'change',
    nullable: false,
    description: 'Change of the member count over three windows, each between two readings.',
    members: WINDOW_NAMES.map(windowShape),
  },
  compute: changesOf,
};

function windowShape(name: Window): ObjectShape {
  const { length, unit, words } = WINDOWS[name];
  return {
    is: 'object',
    name,
    nullable: true,
    nullMeans: `no reading from ${length} to ${OLDEST_START_WINDOWS * length} ${unit} before the latest`,
    description: `Change over ${words}: from the newest reading that is at least ${words} older than the latest one, to the latest.`,
    members: changeMembers(words),
  };
}

/** Readings in columns, oldest first. */
interface Readings {
  readonly times: readonly string[];
  readonly counts: readonly number[];
}

/** Cached, since both fields read them. */
function readingsOf({ rows }: Entries): Readings {
  if (rows !== last.rows) {
    const times = rows.map((row) => row[readAt.column.name]);
    const counts = rows.map((row) => row[memberCount.column.name]);
    if (
      !times.every((time) => typeof time === 'string') ||
      !counts.every((value) => typeof value === 'number')
    )
      throw new TypeError(`no readings: ${JSON.stringify(rows)}`);
    last = { rows, readings: { times, counts } };
  }
  return last.readings;
}

let last: { readonly rows: Entries['rows'] | undefined; readonly readings: Readings } = {
  rows: undefined,
  readings: { times: [], counts: [] },
};

function highest(entries: Entries): Computed {
  const { times, counts } = readingsOf(entries);
  let found = 0;
  for (let at = 1; at < entries.count; at += 1) if ((counts[at] ?? 0) > (counts[found] ?? 0)) found = at;
  return entries.count === 0
    ? null
    : { member_count: counts[found] ?? null, measured_at: times[found] ?? null };
}

/** A change between two readings. */
export type MemberChange = Readonly<
  Record<'delta' | 'from' | 'to', number> & Record<'from_at' | 'to_at', string>
>;

/**
 * Per window: from the newest reading at or before the window's start to the newest of all. Both
 * are real readings, never interpolated; null if the first is missing or older than 1.5 windows.
 */
export function changesOf(entries: Entries): Readonly<Record<Window, MemberChange | null>> {
  const { times, counts } = readingsOf(entries);
  const newest = entries.count - 1;
  const to = counts[newest] ?? 0;
  const toMs = entries.count < 2 ? Number.NaN : millisecondsOf(times[newest] ?? '');
  const found: Record<Window, MemberChange | null> = { h24: null, d7: null, d30: null };
  // The windows grow, so one backward scan serves all three.
  let at = newest;
  for (const window of WINDOW_NAMES) {
    const { spanMs } = WINDOWS[window];
    let ageMs = Number.NaN;
    for (; at >= 0; at -= 1) {
      ageMs = toMs - millisecondsOf(times[at] ?? '');
      if (ageMs >= spanMs) break;
    }
    const from = counts[at] ?? 0;
    found[window] =
      at < 0 || ageMs > OLDEST_START_WINDOWS * spanMs
        ? null
        : { delta: to - from, from, to, from_at: times[at] ?? '', to_at: times[newest] ?? '' };
  }
  return found;
}
