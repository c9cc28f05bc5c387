import { Dice } from './dice.js';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** The register's present, in seconds since 1970: fixed, so that samples are reproducible. */
export const NOW = Date.UTC(2026, 10, 20, 8) / 1000;
/** When the platform opened. */
const OPENED = NOW - 13 * YEAR;

const DATES = new Map<number, string>();
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** RFC 3339 UTC in whole seconds: toISOString of each would take a fifth of all time. */
export function timeText(seconds: number): string {
  const clock = seconds % DAY;
  const day = seconds - clock;
  let date = DATES.get(day);
  if (date === undefined) DATES.set(day, (date = new Date(day * 1000).toISOString().slice(0, 11)));
  const minute = Math.floor(clock / 60);
  return `${date}${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:${TWO_DIGITS[clock % 60]}Z`;
}

/** What befell the whole platform and its measuring, in seconds since 1970. */
export interface Events {
  /** When nothing was read at all. */
  readonly outages: readonly { readonly from: number; readonly to: number }[];
  /** When the platform removed bots from many groups at once, the last time first. */
  readonly purges: readonly number[];
}

export function eventsOf(seed: number): Events {
  const dice = new Dice(seed, 'events', 0);
  const about = (days: number) => Math.floor(days * DAY * dice.between(5 / 6, 7 / 6));
  const outage = (age: number, length: number) => {
    const to = NOW - about(age);
    return { from: to - about(length), to };
  };
  // The second falls among daily readings
  const lately = [outage(2.3, 0.3), outage(24, 2.4), outage(64, 1.1), outage(140, 9.5)];
  const outages = [...lately, outage(270, 4), outage(455, 30), outage(840, 13)];
  return { outages, purges: [NOW - about(42), NOW - about(222)] };
}

/**
 * How often records are read, from a size on: as many days back hourly, then daily, then weekly, and
 * before that every few months.
 */
const CADENCES = [
  { size: 12_000_000, hourly: 4, daily: 540, weekly: 1_095 },
  { size: 500_000, hourly: 4, daily: 75, weekly: 1_095 },
  { size: 10_000, hourly: 0, daily: 40, weekly: 250 },
  { size: 1_500, hourly: 0, daily: 0, weekly: 60 },
  { size: 0, hourly: 0, daily: 0, weekly: 0 },
] as const;

/** When a record was created, and then read, oldest first; in seconds since 1970. */
export interface Life {
  readonly created: number;
  readonly first: number;
  readonly last: number;
  readonly readings: readonly number[];
}

/**
 * The life of a record. Nothing is read in an outage; now and then the reader skipped a few steps, or
 * left out the record for weeks.
 * @param place its index among all of its kind, from 0 to 1: as a rule, the lower, the older
 * @param size the larger, the more often it is read
 * @param atLeast the minimum number of readings
 */
export function lifeOf(dice: Dice, place: number, size: number, atLeast: number, { outages }: Events): Life {
  const youngest = NOW - 12 * DAY;
  const span = (youngest - OPENED) * (place / 1.02 + dice.between(0, 0.05));
  const born = Math.min(youngest, OPENED + Math.floor(span));
  const { hourly, daily, weekly } = CADENCES.find((cadence) => size >= cadence.size) ?? CADENCES[4];
  const start = Math.min(20 * DAY + dice.below(3 * YEAR - 20 * DAY), NOW - born);
  const oldest = Math.max(start, daily * DAY);
  const outageAt = (age: number) => outages.find(({ from, to }) => NOW - age >= from && NOW - age < to);
  let pause = dice.once(6) ? 60 * DAY + dice.below(400 * DAY) : Infinity;
  let age = dice.below(hourly > 0 ? HOUR : daily > 0 ? DAY : weekly > 0 ? 8 * DAY : 200 * DAY);
  // The newest reading is never missing, so it is one before the outage
  const missed = outageAt(age);
  if (missed !== undefined) age = NOW - missed.from + 1 + (age % HOUR);
  const readings: number[] = [];
  while (age <= oldest || readings.length < atLeast) {
    if (outageAt(age) === undefined) readings.push(NOW - age);
    const every = age < hourly * DAY ? HOUR : age < daily * DAY ? DAY : age < weekly * DAY ? 7 * DAY : 0;
    const skipped = dice.once(40) ? 1 + dice.below(3) : 0;
    // Never early: daily means at least 24 hours apart
    age += every > 0 ? every * (1 + skipped) + dice.below(every / 50) : 60 * DAY + dice.below(240 * DAY);
    if (age > pause) {
      age += 15 * DAY + dice.below(45 * DAY);
      pause = Infinity;
    }
  }
  readings.reverse();
  const [first = NOW] = readings;
  const created = Math.min(born, first - DAY - dice.below(90 * DAY));
  return { created, first, last: readings.at(-1) ?? first, readings };
}
