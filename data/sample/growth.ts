import type { Dice } from './dice.js';
import { DAY, NOW, YEAR } from './events.js';

/**
 * How a group's size went. `stepped`: in steps, each after an event. `resting`: grown long ago.
 * `abandoned`: members leave slowly. `viral`: hardly anybody, then everybody at once. `seasonal`:
 * fuller in some months than in others. `late`: small for years, then taken up.
 */
export type Course = 'steady' | 'stepped' | 'resting' | 'abandoned' | 'viral' | 'seasonal' | 'late';

/** Quick at first, then slower: half of the weight is reached after `pace` seconds. */
interface Step {
  readonly at: number;
  readonly pace: number;
  readonly weight: number;
}

/** A loss at once, as a share of the members. */
interface Purge {
  readonly at: number;
  readonly share: number;
}

/** The parts of a course; weights are relative to one another. */
interface Parts {
  /** Grown since the beginning, half of it within `pace` seconds. */
  readonly origin: Step;
  /** Per year. */
  readonly steady: number;
  readonly steps: readonly Step[];
  /** A rise around a time, half of it within `pace` to either side. */
  readonly surge: Step | undefined;
  /** How much more in the best season of a year than on average, as a share. */
  readonly tide: number;
  /** From when on members leave, and seconds until half of them have left. */
  readonly decay: { readonly at: number; readonly pace: number } | undefined;
  readonly purges: readonly Purge[];
}

/** Hours, days and weeks differ: what joins per day, as a share of the average. */
const DAILY = 0.45;
const WEEKLY = 0.5;
const YEARLY = 0.6;
/** 1 / (2 pi), which turns the amplitude of a rate into that of its sum over one period. */
const SUMMED = 0.159;
/** Most join on Saturdays, in the European evening, and in summer: zeros of the waves. */
const WEEK_FROM = Date.UTC(2023, 0, 7, 16) / 1000;
const DAY_FROM = Date.UTC(2023, 0, 1, 18) / 1000;
const YEAR_FROM = Date.UTC(2023, 6, 20) / 1000;

/** The size of a group at any time, in an arbitrary unit. */
export class Growth {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param time seconds since 1970 @returns the level, from 0 */
  levelAt(time: number): number {
    const { origin, steady, steps, surge, tide, decay, purges } = this.#parts;
    let level = risen(time, origin) + steady * joined(time - origin.at, time);
    for (const step of steps) level += risen(time, step);
    if (surge !== undefined) {
      const x = (time - surge.at) / surge.pace;
      level += (surge.weight * (1 + x / Math.sqrt(1 + x * x))) / 2;
    }
    if (tide > 0) level *= 1 + tide * tideAt((time - YEAR_FROM) / YEAR);
    if (decay !== undefined && time > decay.at) level /= 1 + (time - decay.at) / decay.pace;
    for (const { at, share } of purges) if (time >= at) level *= 1 - share;
    return level;
  }
}

function risen(time: number, { at, pace, weight }: Step): number {
  return time <= at ? 0 : (weight * (time - at)) / (time - at + pace);
}

/** Steady growth since the beginning, in years of average growth, with its seasons. */
function joined(elapsed: number, time: number): number {
  if (elapsed <= 0) return 0;
  const seasons =
    DAILY * SUMMED * DAY * wave((time - DAY_FROM) / DAY) +
    WEEKLY * SUMMED * 7 * DAY * wave((time - WEEK_FROM) / (7 * DAY)) +
    YEARLY * SUMMED * YEAR * wave((time - YEAR_FROM) / YEAR);
  return Math.max(0, elapsed + seasons) / YEAR;
}

/** Nearly a sine of period 1, from parabolas: -1 to 1, rising at 0. */
function wave(turns: number): number {
  const x = turns - Math.floor(turns);
  return x < 0.5 ? 16 * x * (0.5 - x) : -16 * (x - 0.5) * (1 - x);
}

/** The seasons of a year: its long swing, and the shorter ones of holidays. */
function tideAt(years: number): number {
  return 0.6 * wave(years) + 0.3 * wave(2 * years + 0.2) + 0.2 * wave(5 * years + 0.6);
}

/** What a course has: ranges of weights per year, number of steps and so on. */
interface Habit {
  readonly steady: readonly [number, number];
  readonly steps: readonly [number, number];
  readonly weight: readonly [number, number];
  readonly tide?: readonly [number, number];
}

const HABITS: Readonly<Record<Course, Habit>> = {
  steady: { steady: [0.05, 0.5], steps: [1, 4], weight: [0.02, 0.1] },
  stepped: { steady: [0.005, 0.05], steps: [4, 9], weight: [0.04, 0.4] },
  resting: { steady: [0.001, 0.008], steps: [0, 2], weight: [0.005, 0.03] },
  abandoned: { steady: [0.005, 0.03], steps: [1, 4], weight: [0.02, 0.2] },
  viral: { steady: [0.002, 0.02], steps: [1, 3], weight: [0.01, 0.06] },
  seasonal: { steady: [0.04, 0.3], steps: [0, 3], weight: [0.02, 0.08], tide: [0.01, 0.045] },
  late: { steady: [0.2, 0.8], steps: [2, 5], weight: [0.05, 0.3] },
};

/** The growth of a group by its course. @param purges when bots were removed from it */
export function growthOf(course: Course, created: number, purges: readonly number[], dice: Dice): Growth {
  const { steady, steps, weight, tide } = HABITS[course];
  const age = Math.max(DAY, NOW - created);
  // Most of what is seen happened within the last years
  const recent = Math.min(age, 3 * YEAR);
  const within = (share: number, upTo: number) => NOW - Math.floor(recent * dice.between(share, upTo));
  const isYoung = course === 'viral' || course === 'late';
  return new Growth({
    origin: {
      at: created,
      pace: age * dice.between(0.02, 0.6),
      weight: isYoung ? dice.between(0.01, 0.1) : 1,
    },
    steady: dice.between(...steady),
    steps: Array.from({ length: Math.floor(dice.between(steps[0], steps[1] + 1)) }, () => {
      const strength = dice.between(0, 1);
      return {
        at: within(0.005, 1),
        pace: dice.between(1.5, 45) * DAY,
        weight: weight[0] + (weight[1] - weight[0]) * strength * strength,
      };
    }),
    surge:
      course === 'viral'
        ? { at: within(0.12, 0.45), pace: Math.min(age / 12, dice.between(4, 40) * DAY), weight: 1 }
        : undefined,
    tide: tide === undefined ? 0 : dice.between(...tide),
    decay:
      course === 'abandoned' || (course === 'viral' && dice.once(2))
        ? { at: within(0.02, course === 'viral' ? 0.1 : 1), pace: dice.between(3, 14) * YEAR }
        : undefined,
    purges: purges.map((at) => ({ at, share: dice.between(0.008, 0.07) })),
  });
}
