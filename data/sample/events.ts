import { Dice } from './dice.js';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** The register's present, in seconds since 1970: fixed, so that samples are reproducible. */
export const NOW = Date.UTC(2026, 10, 20, 8) / 1000;

/** A stretch of time in seconds since 1970. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** What befell the whole platform and its measuring, in seconds since 1970. */
export interface Events {
  /** When nothing was read at all. */
  readonly outages: readonly Span[];
  /** When the platform removed bots from many groups at once. */
  readonly purges: readonly number[];
}

/** Outages: the range of their ages and lengths, in hours. The second falls among daily readings. */
const OUTAGES: readonly (readonly [age: number, upToAge: number, length: number, upToLength: number])[] = [
  [44, 70, 5, 9],
  [19 * 24, 29 * 24, 40, 75],
  [58 * 24, 70 * 24, 20, 34],
  [110 * 24, 170 * 24, 8 * 24, 11 * 24],
  [240 * 24, 300 * 24, 3 * 24, 5 * 24],
  [390 * 24, 520 * 24, 24 * 24, 36 * 24],
  [700 * 24, 980 * 24, 10 * 24, 16 * 24],
];

export function eventsOf(seed: number): Events {
  const dice = new Dice(seed, 'events', 0);
  const outages = OUTAGES.map(([age, upToAge, length, upToLength]) => {
    const to = NOW - Math.floor(dice.between(age, upToAge) * HOUR);
    return { from: to - Math.floor(dice.between(length, upToLength) * HOUR), to };
  });
  const purges = [NOW - 36 * DAY - dice.below(12 * DAY), NOW - 210 * DAY - dice.below(25 * DAY)];
  return { outages, purges };
}

/** The outage at a time, if any. */
export function outageAt({ outages }: Events, time: number): Span | undefined {
  return outages.find(({ from, to }) => time >= from && time < to);
}
