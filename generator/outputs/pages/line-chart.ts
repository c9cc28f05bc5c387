/**
 * A member history as a picture of its own: dots for readings, lines between neighbours only, gaps
 * as areas, the peak, levels to read values from, and the ticks of a time axis. Everything is a
 * place in percent, so that the picture fits any width without becoming larger or smaller.
 */
import { timeAt } from '../../schema/time.js';
import { gapsBefore } from './gaps.js';
import { linePath } from './sparkline.js';
import type { Reading } from './series.js';
import { countLabels, monthOf, shortDay } from './words.js';

/** The side of the box that the paths are drawn in. */
export const SIDE = 1000;
/** In each cell of this width only the last reading is drawn: a real one, never an average. */
const CELL = 2;

const DAY_MS = 86_400_000;
const MONTHS_A_YEAR = 12;

/** At most this many labels fit below the narrowest picture: of days, and of months, which are shorter. */
const MOST_DAYS = 3;
const MOST_MONTHS = 4;
const MOST_TICKS = 64;
/** From this many days on, the ticks are at the starts of months. */
const DAYS_OF_MONTHS = 62;
const DAY_STEPS = [1, 2, 7, 14, 28];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600];

export interface Tick {
  /** In percent of the width. */
  readonly x: number;
  /** Set for a long tick. */
  readonly label?: string;
  readonly anchor: Anchor;
}

/** Which end of a text is at its place: no text may leave the picture. */
type Anchor = 'start' | 'middle' | 'end';

export interface LineChart {
  /** Paths in a box of `SIDE` by `SIDE`. */
  readonly line: string;
  readonly dots: string;
  /** In percent of the width. */
  readonly gaps: readonly { readonly x: number; readonly width: number }[];
  /** The highest reading, the earliest of equals; undefined if all are equal. */
  readonly peak:
    { readonly x: number; readonly y: number; readonly anchor: Anchor; readonly index: number } | undefined;
  /** In percent of the height, from the top. */
  readonly levels: readonly { readonly y: number; readonly value: string }[];
  /** The value at the bottom. */
  readonly base: number;
  readonly ticks: readonly Tick[];
}

/**
 * The chart of a history; undefined for fewer than two readings.
 * @param readings oldest first
 */
export function lineChart(readings: readonly Reading[]): LineChart | undefined {
  const times = readings.map(({ measured_at }) => Date.parse(measured_at));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const counts = readings.map(({ member_count }) => member_count);
  const low = counts.reduce((a, b) => Math.min(a, b));
  const high = counts.reduce((a, b) => Math.max(a, b));
  const values = levelsOf(low, high);
  const [base = 0, top = 1] = [values[0], values.at(-1)];
  const xOf = (time: number): number => (time - first) / (last - first);
  const yOf = (count: number): number => 1 - (count - base) / (top - base);
  const gaps = gapsBefore(times);
  const place = (time: number): number => CELL * Math.round((SIDE / CELL) * xOf(time));
  const level = (count: number): number => Math.round(SIDE * yOf(count));
  const highest = counts.indexOf(high);
  return {
    line: linePath(times, counts, gaps, place, level),
    dots: dotsOf(times.map(place), counts.map(level)),
    gaps: [...gaps].map((index) => {
      const x = xOf(times[index - 1] ?? first);
      return { x: percent(x), width: percent(xOf(times[index] ?? last) - x) };
    }),
    peak:
      high === low
        ? undefined
        : {
            x: percent(xOf(times[highest] ?? first)),
            y: percent(yOf(high)),
            anchor: anchorAt(xOf(times[highest] ?? first), 0.3),
            index: highest,
          },
    levels: countLabels(values).map((value, index) => ({ y: percent(yOf(values[index] ?? base)), value })),
    base,
    ticks: ticksOf(first, last).map(({ time, label }) => ({
      x: percent(xOf(time)),
      ...(label === undefined ? {} : { label }),
      anchor: anchorAt(xOf(time), 0.09),
    })),
  };
}

const percent = (share: number): number => Math.round(10_000 * share) / 100;

/** @param margin the share of the width within which a text must not be centred */
const anchorAt = (x: number, margin: number): Anchor =>
  x < margin ? 'start' : x > 1 - margin ? 'end' : 'middle';

/** A line of no length with round ends for each reading, the last in each cell. */
const dotsOf = (xs: readonly number[], ys: readonly number[]): string =>
  xs.flatMap((x, index) => (xs[index + 1] === x ? [] : [`M${x} ${ys[index]}h0`])).join('');

/**
 * Round values at equal distances, from at most the lowest reading to at least the highest: three to
 * five of them.
 */
export function levelsOf(low: number, high: number): readonly number[] {
  const rough = Math.max(1, (high - low) / 3);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const bottom = Math.floor(low / step);
  // A level line needs room above it, too.
  const top = Math.max(Math.ceil(high / step), bottom + 2);
  return Array.from({ length: top - bottom + 1 }, (_, index) => (bottom + index) * step);
}

interface TimeTick {
  readonly time: number;
  readonly label: string | undefined;
}

/** Ticks at the starts of days, or of months, in UTC; those at rounder dates have a label. */
export function ticksOf(first: number, last: number): readonly TimeTick[] {
  const isShort = (last - first) / DAY_MS < DAYS_OF_MONTHS;
  const [steps, startOf, numberOf] = isShort ? DAYS : MONTHS;
  // Units are counted from 1970, so that ticks are at the same dates in every chart.
  const [from, to] = [numberOf(first - 1) + 1, numberOf(last)];
  const stepFor = (most: number): number =>
    steps.find((step) => Math.floor(to / step) - Math.ceil(from / step) < most) ?? steps.at(-1) ?? 1;
  const [step, labelled] = [stepFor(MOST_TICKS), stepFor(isShort ? MOST_DAYS : MOST_MONTHS)];
  const ticks: TimeTick[] = [];
  for (let unit = step * Math.ceil(from / step); unit <= to; unit += step) {
    const time = startOf(unit);
    const words = timeAt(time);
    const label = unit % labelled !== 0 ? undefined : isShort ? shortDay(words) : monthOf(words);
    ticks.push({ time, label });
  }
  return ticks;
}

/** The steps between ticks, the start of a unit by its number, and the number of a time's unit. */
type Units = readonly [readonly number[], (unit: number) => number, (time: number) => number];

const DAYS: Units = [DAY_STEPS, (unit) => unit * DAY_MS, (time) => Math.floor(time / DAY_MS)];

const MONTHS: Units = [
  MONTH_STEPS,
  (unit) => Date.UTC(Math.floor(unit / MONTHS_A_YEAR), unit % MONTHS_A_YEAR),
  (time) => new Date(time).getUTCFullYear() * MONTHS_A_YEAR + new Date(time).getUTCMonth(),
];
