import type { Dice } from './dice.js';
import { YEAR } from './events.js';
import type { Course, Growth } from './growth.js';
import type { MemberReading } from './tables.js';
import {
  type Cadence,
  CLOSE_CADENCE,
  DAILY_CADENCE,
  HOURLY_CADENCE,
  SELDOM_CADENCE,
  timeText,
  WEEKLY_CADENCE,
} from './times.js';

/** Larger groups are measured more often, from this many members on. */
const CADENCES: readonly { readonly members: number; readonly cadence: Cadence }[] = [
  { members: 12_000_000, cadence: CLOSE_CADENCE },
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

/** The course of an ordinary group; out of twenty, this many. */
export function someCourse(dice: Dice): Course {
  const part = dice.below(20);
  if (part < 6) return 'stepped';
  if (part < 10) return 'steady';
  if (part < 14) return 'resting';
  if (part < 17) return 'abandoned';
  return part === 17 ? 'late' : part === 18 ? 'seasonal' : 'viral';
}

/** Bots are removed from larger groups, from some of them each time. */
export function purgesOf(purges: readonly number[], members: number, dice: Dice): readonly number[] {
  return purges.filter(() => dice.once(6) && members >= 1_000);
}

/**
 * A group's member counts at some times, oldest first: the growth, scaled so that the last one is
 * the newest, with a deviation that drifts from reading to reading.
 */
export function memberReadings(
  newest: number,
  times: readonly number[],
  growth: Growth,
  dice: Dice,
): readonly MemberReading[] {
  const last = times.at(-1);
  if (last === undefined) return [];
  const scale = newest / Math.max(1e-9, growth.levelAt(last));
  const readings: MemberReading[] = [{ measured_at: timeText(last), member_count: newest }];
  let later = newest;
  let mood = 0;
  let deviation = 0;
  // Members gained or lost per second, as a rule
  let pace = newest / YEAR / 50;
  for (let at = times.length - 2; at >= 0; at--) {
    const time = times[at] ?? last;
    const elapsed = (times[at + 1] ?? last) - time;
    const expected = growth.levelAt(time) * scale;
    // Good weeks and bad weeks: the pace varies, and does so slowly; what happens at once is no pace
    const current = Math.min(Math.abs(later - expected) / elapsed, 3 * pace);
    pace = 0.8 * pace + 0.2 * current;
    const gained = current * elapsed;
    mood = 0.88 * mood + dice.between(-0.5, 0.5);
    deviation = 0.985 * deviation + mood * gained;
    const jitter = dice.between(-1, 1) * (0.2 * gained + 0.08 * Math.sqrt(expected) + 0.3);
    later = expected;
    readings.push({
      measured_at: timeText(time),
      member_count: Math.max(0, Math.floor(expected + deviation + jitter + 0.5)),
    });
  }
  return readings.toReversed();
}
