import type { Dice } from './dice.js';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The register's present, in seconds since 1970: fixed, so that samples are reproducible. */
export const NOW = Date.UTC(2026, 10, 20, 8) / 1000;

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
  readonly stretches: readonly [Stretch, ...Stretch[]];
}

const SELDOM: Stretch = { every: 60 * DAY, late: 240 * DAY, backTo: 3 * YEAR };
const WEEKLY: Stretch = { every: 7 * DAY, late: DAY, backTo: 3 * YEAR };

export const HOURLY_CADENCE: Cadence = {
  newest: HOUR,
  stretches: [
    { every: HOUR, late: 90, backTo: 4 * DAY },
    { every: DAY, late: 1_200, backTo: 75 * DAY },
    WEEKLY,
  ],
};
export const DAILY_CADENCE: Cadence = {
  newest: DAY,
  stretches: [{ every: DAY, late: 1_800, backTo: 40 * DAY }, { ...WEEKLY, backTo: 250 * DAY }, SELDOM],
};
export const WEEKLY_CADENCE: Cadence = {
  newest: 8 * DAY,
  stretches: [{ ...WEEKLY, backTo: 60 * DAY }, SELDOM],
};
export const SELDOM_CADENCE: Cadence = { newest: 200 * DAY, stretches: [SELDOM] };

/** When a record was read, oldest first, in seconds since 1970. */
export interface ReadingTimes {
  readonly first: number;
  readonly last: number;
  readonly all: readonly number[];
}

/**
 * The readings of a record. Occasionally the reader paused for a few steps, which leaves a gap.
 * @param atLeast the minimum number of readings
 */
export function readingTimes(dice: Dice, cadence: Cadence, atLeast: number): ReadingTimes {
  const oldestAge = 20 * DAY + dice.below(3 * YEAR - 20 * DAY);
  let age = dice.below(cadence.newest);
  const last = NOW - age;
  const all = [last];
  for (;;) {
    const stretch = cadence.stretches.find(({ backTo }) => age < backTo) ?? SELDOM;
    const paused = stretch !== SELDOM && dice.once(30);
    const steps = paused ? 2 + dice.below(6) : 1;
    age += stretch.every * steps + dice.below(stretch.late);
    if (age > oldestAge && all.length >= atLeast) break;
    all.push(NOW - age);
  }
  return { first: all.at(-1) ?? last, last, all: all.toReversed() };
}

/** The first and newest reading of a record without a series, and their number. */
export function countedReadings(dice: Dice): { first: number; last: number; measurements: number } {
  const last = NOW - dice.below(60 * DAY);
  const measurements = 1 + dice.tail(1, 6);
  const first = measurements === 1 ? last : last - DAY - dice.below(2 * YEAR);
  return { first, last, measurements };
}

/** When the record was created, by the platform: a day to twelve years before its first reading. */
export function createdBefore(first: number, dice: Dice): number {
  return first - DAY - dice.below(12 * YEAR);
}
