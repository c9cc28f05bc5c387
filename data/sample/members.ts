import type { Dice } from './dice.js';
import type { MemberReading } from './tables.js';
import {
  type Cadence,
  DAILY_CADENCE,
  DAY,
  HOURLY_CADENCE,
  SELDOM_CADENCE,
  timeText,
  WEEKLY_CADENCE,
} from './times.js';

/** Larger groups are measured more often, from this many members on. */
const CADENCES: readonly { readonly members: number; readonly cadence: Cadence }[] = [
  { members: 500_000, cadence: HOURLY_CADENCE },
  { members: 10_000, cadence: DAILY_CADENCE },
  { members: 1_500, cadence: WEEKLY_CADENCE },
];

/** A group's size: half have fewer than a hundred members, the very largest 1.3e8. */
export function memberCount(dice: Dice): number {
  return dice.tail(32, 21);
}

export function cadenceFor(members: number): Cadence {
  return CADENCES.find((row) => members >= row.members)?.cadence ?? SELDOM_CADENCE;
}

/** Daily growth in millionths. Groups shrink slowly, or their past would be implausible. */
export function trend(falling: boolean, dice: Dice): number {
  return falling ? -50 - dice.below(250) : dice.below(2_500) - 200;
}

/**
 * A group's member counts at some times, oldest first, computed backwards from the newest.
 * @param perDay daily growth in millionths
 */
export function memberReadings(
  newest: number,
  times: readonly number[],
  perDay: number,
  dice: Dice,
): readonly MemberReading[] {
  let count = newest;
  let later = times.at(-1) ?? 0;
  const readings: MemberReading[] = [];
  for (const time of times.toReversed()) {
    if (time !== later) {
      // Never more than nine tenths of the count between two readings
      const millionths = Math.min(900_000, Math.floor((perDay * (later - time)) / DAY));
      const wobble = 2 + Math.floor(count / 200_000);
      count = Math.max(
        0,
        count - Math.floor((count * millionths) / 1_000_000) + dice.below(2 * wobble + 1) - wobble,
      );
      later = time;
    }
    readings.push({ measured_at: timeText(time), member_count: count });
  }
  return readings.toReversed();
}
