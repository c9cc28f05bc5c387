/** What a group's member readings come to: their peak, and their change over three windows. */
import { count, required, time } from './field.js';
import type { Computed, Entries, SeriesField, Value } from './field.js';
import type { ValueShape } from './shape.js';
import { millisecondsOf } from './time.js';

export const memberCount = count('member_count', 'members', 48213, 'Members of the group.');
export const readAt = required(time('measured_at', '2026-11-20T08:00:00Z', 'When the count was read.'));

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
const WINDOWS = {
  '24h': { spanMs: 24 * HOUR_MS, words: '24 hours' },
  '7d': { spanMs: 7 * 24 * HOUR_MS, words: '7 days' },
  '30d': { spanMs: 30 * 24 * HOUR_MS, words: '30 days' },
} as const;

const SPANS = Object.entries(WINDOWS).map(([window, { spanMs }]) => [window, spanMs] as const);

/** A reading older than this many windows is no honest start for a change over one window. */
const OLDEST_START_WINDOWS = 1.5;

export const peak: SeriesField = {
  is: 'series',
  name: 'peak',
  history: 'members',
  shape: {
    is: 'object',
    name: 'peak',
    nullable: true,
    description: 'The highest real reading of the member count; the earliest of equals.',
    members: [
      members('member_count', 'Members at that reading.', 48907),
      moment('measured_at', 'When it was read.', '2026-08-02T08:00:00Z'),
    ],
  },
  compute: highest,
};

export const change: SeriesField = {
  is: 'series',
  name: 'change',
  history: 'members',
  shape: {
    is: 'object',
    name: 'change',
    nullable: false,
    description: 'Change of the member count between two real readings, over three windows.',
    members: Object.entries(WINDOWS).map(([window, { words }]) => ({
      is: 'object',
      name: window,
      nullable: true,
      description:
        `From the newest reading at least ${words} before the newest of all, to that one.` +
        ` Null where there is none, or only one from over ${OLDEST_START_WINDOWS} times as long ago.`,
      members: [
        members('delta', 'Members more, or fewer.', -12, 'difference'),
        members('from', 'Members at the earlier reading.', 48225),
        members('to', 'Members at the later reading.'),
        moment('from_at', 'When the earlier reading was made.', '2026-10-20T08:00:00Z'),
        moment('to_at', 'When the later reading was made.'),
      ],
    })),
  },
  compute: changes,
};

interface Reading {
  readonly measured_at: string;
  readonly member_count: number;
}

function isReading(value: unknown): value is Reading {
  return typeof value === 'object' && value !== null && 'measured_at' in value && 'member_count' in value;
}

/** The readings of a members list, oldest first. Both fields ask for them, one after the other, so they are kept. */
function readingsOf(entries: Entries): readonly Reading[] {
  if (entries !== last.entries) {
    const list: unknown = entries.list ?? JSON.parse(entries.json);
    if (!Array.isArray(list) || !list.every(isReading))
      throw new TypeError(`not a list of readings: ${entries.json}`);
    last = { entries, readings: list };
  }
  return last.readings;
}

let last: { readonly entries: Entries | undefined; readonly readings: readonly Reading[] } = {
  entries: undefined,
  readings: [],
};

function highest(entries: Entries): Computed {
  let found: Reading | undefined;
  for (const reading of readingsOf(entries)) {
    if (found === undefined || reading.member_count > found.member_count) found = reading;
  }
  return found === undefined ? null : { member_count: found.member_count, measured_at: found.measured_at };
}

/**
 * Per window: from the newest reading at or before the window's start to the newest reading of all. Two real
 * readings, never interpolated; null where there is no such reading or it is older than 1.5 windows.
 */
function changes(entries: Entries): Computed {
  const readings = entries.count < 2 ? [] : readingsOf(entries);
  const to = readings.at(-1);
  const toMs = to === undefined ? Number.NaN : millisecondsOf(to.measured_at);
  const found: Record<string, Computed> = {};
  // The windows grow, so one walk back through the readings serves all three.
  let at = readings.length - 1;
  for (const [window, spanMs] of SPANS) {
    let ageMs = Number.NaN;
    for (; at >= 0; at -= 1) {
      ageMs = toMs - millisecondsOf(readings[at]?.measured_at ?? '');
      if (ageMs >= spanMs) break;
    }
    const from = readings[at];
    found[window] =
      to === undefined || from === undefined || ageMs > OLDEST_START_WINDOWS * spanMs
        ? null
        : {
            delta: to.member_count - from.member_count,
            from: from.member_count,
            to: to.member_count,
            from_at: from.measured_at,
            to_at: to.measured_at,
          };
  }
  return found;
}
