import type { Dice } from './dice.js';
import { DAY, NOW, YEAR } from './times.js';

type Range = readonly [from: number, to: number];

/** How a group's size goes, relative to those who joined in its beginning. */
interface Habit {
  /** Out of twenty ordinary groups, this many. */
  readonly often: number;
  /** What joins in a year, with its seasons. */
  readonly yearly: Range;
  /** How many times something happened of late that made many join, and how many did. */
  readonly steps: Range;
  readonly weight: Range;
  /** How much fuller it is in the best season of a year than on average. */
  readonly tide?: Range;
  /** Members leave slowly, from this share of the last years on. */
  readonly leaving?: Range;
}

const HABITS = {
  steady: { often: 4, yearly: [0.05, 0.5], steps: [1, 4], weight: [0.02, 0.1] },
  stepped: { often: 6, yearly: [0.005, 0.05], steps: [4, 9], weight: [0.04, 0.4] },
  /** Grown long ago. */
  resting: { often: 4, yearly: [0.001, 0.008], steps: [0, 2], weight: [0.005, 0.03] },
  abandoned: { often: 3, yearly: [0.005, 0.03], steps: [1, 4], weight: [0.02, 0.2], leaving: [0.02, 1] },
  seasonal: { often: 1, yearly: [0.04, 0.3], steps: [0, 3], weight: [0.02, 0.08], tide: [0.01, 0.045] },
  /** Small for years, then taken up. */
  late: { often: 1, yearly: [4, 16], steps: [2, 5], weight: [1, 6] },
  /** Hardly anybody, then everybody at once. */
  viral: { often: 1, yearly: [0.02, 0.4], steps: [1, 2], weight: [6, 60], leaving: [0.02, 0.2] },
} satisfies Readonly<Record<string, Habit>>;
export type Course = keyof typeof HABITS;

const ORDINARY = Object.values<Habit>(HABITS).flatMap((habit) => Array<Habit>(habit.often).fill(habit));

/** Nearly a sine of period 1, from parabolas: -1 to 1, rising at 0. */
function wave(turns: number): number {
  const x = turns - Math.floor(turns);
  return x < 0.5 ? 16 * x * (0.5 - x) : -16 * (x - 0.5) * (1 - x);
}

/** Most join in summer, on Saturdays, and in the European evening. */
const SEASONS = [
  { share: 0.6, period: YEAR, from: Date.UTC(2023, 6, 20) / 1000 },
  { share: 0.5, period: 7 * DAY, from: Date.UTC(2023, 0, 7, 16) / 1000 },
  { share: 0.45, period: DAY, from: Date.UTC(2023, 0, 1, 18) / 1000 },
];

/** The seconds of average growth by which the seasons are ahead at a time, or behind. */
function ahead(time: number): number {
  let sum = 0;
  for (const { share, period, from } of SEASONS) sum += share * period * wave((time - from) / period);
  // 1 / (2 pi) turns the amplitude of a rate into that of its sum over one period
  return 0.159 * sum;
}

/** The size of a group at a time, in an arbitrary unit from 0. */
export type Growth = (time: number) => number;

/** @param created and when bots were removed from it: seconds since 1970 */
export function growthOf(dice: Dice, created: number, purges: readonly number[], course?: Course): Growth {
  const habit: Habit = course ? HABITS[course] : (ORDINARY[dice.below(ORDINARY.length)] ?? HABITS.steady);
  const { yearly, steps: counts, tide, leaving } = habit;
  const age = NOW - created;
  const ago = (from: number, to: number) => NOW - Math.min(age, 3 * YEAR) * dice.between(from, to);
  // Half of a step's weight is reached after its pace
  const steps = [{ at: created, pace: age * dice.between(0.02, 0.6), weight: 1 }];
  const [lightest, heaviest] = habit.weight;
  for (let left = counts[0] + dice.below(counts[1] - counts[0] + 1); left > 0; left--) {
    const weight = lightest + (heaviest - lightest) * dice.between(0, 1) * dice.between(0, 1);
    steps.push({ at: ago(0.03, 0.6), pace: dice.between(1, 6) * dice.between(1, 6) * DAY, weight });
  }
  const perYear = dice.between(...yearly);
  const swing = tide === undefined ? 0 : dice.between(...tide);
  const leftFrom = leaving === undefined ? Infinity : ago(...leaving);
  const halfLeft = dice.between(3, 14) * YEAR;
  const losses = purges.map((at) => ({ at, share: dice.between(0.008, 0.07) }));
  return (time) => {
    let level = (perYear * Math.max(0, time - created + ahead(time))) / YEAR;
    for (const { at, pace, weight } of steps) {
      if (time > at) level += (weight * (time - at)) / (time - at + pace);
    }
    // The long swing of a year, and the shorter ones of holidays
    const years = time / YEAR;
    level *= 1 + swing * (0.6 * wave(years - 0.55) + 0.3 * wave(2 * years) + 0.2 * wave(5 * years));
    if (time > leftFrom) level /= 1 + (time - leftFrom) / halfLeft;
    for (const { at, share } of losses) if (time >= at) level *= 1 - share;
    return level;
  };
}

/**
 * Member counts at some times, oldest first: the growth, scaled so that the last count is the newest,
 * with good weeks and bad weeks: a deviation that drifts from reading to reading.
 */
export function memberCounts(newest: number, times: readonly number[], growth: Growth, dice: Dice): number[] {
  const scale = newest / Math.max(1e-9, growth(times.at(-1) ?? NOW));
  let later = newest;
  let mood = 0;
  let deviation = 0;
  const counts = times.toReversed().map((time, at) => {
    if (at === 0) return newest;
    const level = growth(time) * scale;
    // What happens at once, such as a purge, doesn't count for the drift
    const gained = Math.min(Math.abs(later - level), newest / 300);
    mood = 0.88 * mood + dice.between(-0.5, 0.5);
    deviation = 0.985 * deviation + mood * gained;
    const jitter = dice.between(-1, 1) * (0.2 * gained + 0.08 * Math.sqrt(level) + 0.3);
    later = level;
    return Math.max(0, Math.floor(level + deviation + jitter + 0.5));
  });
  return counts.toReversed();
}
