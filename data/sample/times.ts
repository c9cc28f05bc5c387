import type { Dice } from './dice.js';
import { DAY, type Events, HOUR, NOW, outageAt, YEAR } from './events.js';
import type { Kind, Register } from './register.js';

/** RFC 3339 UTC in whole seconds. */
export function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Readings at an interval, back to an age; all in seconds. */
interface Stretch {
  readonly every: number;
  /** The maximum delay of a step. Steps are never early: daily means at least 24 hours apart. */
  readonly late: number;
  readonly backTo: number;
}

/** How often a record is read, newest stretch first; `newest` is the last reading's maximum age. */
export interface Cadence {
  readonly newest: number;
  /** A pause of weeks is at least this long ago. */
  readonly pausesFrom: number;
  readonly stretches: readonly [Stretch, ...Stretch[]];
}

const SELDOM: Stretch = { every: 60 * DAY, late: 240 * DAY, backTo: 3 * YEAR };
const WEEKLY: Stretch = { every: 7 * DAY, late: DAY, backTo: 3 * YEAR };
const HOURLY: Stretch = { every: HOUR, late: 90, backTo: 4 * DAY };

/** The very largest, whose every day counts. */
export const CLOSE_CADENCE: Cadence = {
  newest: HOUR,
  pausesFrom: 60 * DAY,
  stretches: [HOURLY, { every: DAY, late: 1_200, backTo: 540 * DAY }, { ...WEEKLY, every: 3 * DAY }],
};
export const HOURLY_CADENCE: Cadence = {
  newest: HOUR,
  pausesFrom: 10 * DAY,
  stretches: [HOURLY, { every: DAY, late: 1_200, backTo: 75 * DAY }, WEEKLY],
};
export const DAILY_CADENCE: Cadence = {
  newest: DAY,
  pausesFrom: 10 * DAY,
  stretches: [{ every: DAY, late: 1_800, backTo: 40 * DAY }, { ...WEEKLY, backTo: 250 * DAY }, SELDOM],
};
export const WEEKLY_CADENCE: Cadence = {
  newest: 8 * DAY,
  pausesFrom: 10 * DAY,
  stretches: [{ ...WEEKLY, backTo: 60 * DAY }, SELDOM],
};
export const SELDOM_CADENCE: Cadence = { newest: 200 * DAY, pausesFrom: 0, stretches: [SELDOM] };

/** When a record was read, oldest first, in seconds since 1970. */
export interface ReadingTimes {
  readonly first: number;
  readonly last: number;
  readonly all: readonly number[];
}

/** What limits the readings of a record. */
export interface Reach {
  /** The minimum number of readings. */
  readonly atLeast: number;
  /** Nothing is read before this, in seconds since 1970, unless there would be too few readings. */
  readonly notBefore: number;
}

/**
 * The readings of a record. There are none in an outage; now and then the reader skipped a few
 * steps, or left out the record for weeks.
 */
export function readingTimes(
  dice: Dice,
  cadence: Cadence,
  events: Events,
  { atLeast, notBefore }: Reach,
): ReadingTimes {
  const mostAge = Math.max(2 * DAY, NOW - notBefore);
  const oldestAge = Math.min(20 * DAY + dice.below(3 * YEAR - 20 * DAY), mostAge);
  const pausedAt = dice.once(6) ? cadence.pausesFrom + dice.below(400 * DAY) : Infinity;
  const last = awake(NOW - dice.below(cadence.newest), events);
  let age = NOW - last;
  let isPaused = false;
  const all = [last];
  for (;;) {
    const stretch = cadence.stretches.find(({ backTo }) => age < backTo) ?? SELDOM;
    const skips = stretch !== SELDOM && dice.once(40) ? 1 + dice.below(3) : 0;
    age += stretch.every * (1 + skips) + dice.below(stretch.late);
    if (!isPaused && age > pausedAt) {
      age += 15 * DAY + dice.below(45 * DAY);
      isPaused = true;
    }
    if (age > oldestAge && all.length >= atLeast) break;
    if (outageAt(events, NOW - age) === undefined) all.push(NOW - age);
  }
  return { first: all.at(-1) ?? last, last, all: all.toReversed() };
}

/** The first and newest reading of a record without a series, and their number. */
export function countedReadings(
  dice: Dice,
  events: Events,
): { first: number; last: number; measurements: number } {
  const last = awake(NOW - dice.below(60 * DAY), events);
  const measurements = 1 + dice.tail(1, 6);
  const first = measurements === 1 ? last : awake(last - DAY - dice.below(2 * YEAR), events);
  return { first, last, measurements };
}

/** The time itself, or shortly before the outage at this time. */
function awake(time: number, events: Events): number {
  const outage = outageAt(events, time);
  return outage === undefined ? time : outage.from - 1 - ((outage.to - time) % HOUR);
}

/** When the platform opened. */
const OPENED = NOW - 13 * YEAR;

/** When the platform created a record: the lower the id, the earlier, a few excepted. */
export function createdAt({ counts }: Register, kind: Kind, index: number, dice: Dice): number {
  const span = NOW - 12 * DAY - OPENED;
  const scatter = dice.below(Math.floor(span / 20));
  return Math.min(NOW - 12 * DAY, OPENED + Math.floor((span * index) / counts[kind] / 1.02) + scatter);
}

/** A creation at least a day before the first reading. */
export function before(first: number, created: number, dice: Dice): number {
  return Math.min(created, first - DAY - dice.below(90 * DAY));
}
