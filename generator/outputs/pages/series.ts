/** A member history as a line. Runs in the browser, compiled, and in tests. */
import { gapsBefore } from './gaps.js';

export interface Reading {
  readonly measured_at: string;
  readonly member_count: number;
}

/** What the chart library takes: times in seconds, and a null in each gap. */
export interface Line {
  readonly times: number[];
  readonly counts: (number | null)[];
  /** How many gaps there are. */
  readonly gaps: number;
  /** Each gap, from the reading before it to the one after it, in seconds. */
  readonly open: readonly (readonly [from: number, to: number])[];
  /** The place of each reading in `times`. */
  readonly places: readonly number[];
}

/** @param readings oldest first */
export function lineOf(readings: readonly Reading[]): Line {
  const milliseconds = readings.map(({ measured_at }) => Date.parse(measured_at));
  const all = milliseconds.map((time) => time / 1000);
  const gaps = gapsBefore(milliseconds);
  const times: number[] = [];
  const counts: (number | null)[] = [];
  const open: (readonly [number, number])[] = [];
  const places: number[] = [];
  for (const [index, { member_count }] of readings.entries()) {
    const time = all[index] ?? 0;
    if (gaps.has(index)) {
      const before = all[index - 1] ?? time;
      open.push([before, time]);
      times.push((before + time) / 2);
      counts.push(null);
    }
    places.push(times.length);
    times.push(time);
    counts.push(member_count);
  }
  return { times, counts, gaps: gaps.size, open, places };
}

/** The reading whose place is nearest to one in `times`, which may be a gap's. */
export function readingAt({ places }: Pick<Line, 'places'>, place: number): number {
  let [low, high] = [0, places.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the highest reading, the earliest of equals. @param readings at least one */
export const highest = (readings: readonly Reading[]): number =>
  readings.reduce(
    (best, { member_count }, index) => (member_count > (readings[best]?.member_count ?? 0) ? index : best),
    0,
  );

/** How much higher and lower than the readings a chart is, as a share of what lies between them. */
const MARGIN = 0.08;

/** The lowest and highest value of an axis, whole numbers: never below 0, and never of no height. */
export function axisRange(low: number, high: number): [number, number] {
  const margin = high === low ? Math.max(1, high * MARGIN) : (high - low) * MARGIN;
  return [Math.max(0, Math.floor(low - margin)), Math.ceil(high + margin)];
}

const DAY_SECONDS = 86_400;

/** The ranges that a chart offers, by their length in days. */
const RANGES = [
  { name: '1 year', days: 365 },
  { name: '90 days', days: 90 },
] as const;

/** The ranges that show less than all readings, and at least two of them. @param times in seconds */
export function usefulRanges(times: readonly number[]): readonly (typeof RANGES)[number][] {
  const last = times.at(-1) ?? 0;
  return RANGES.filter(({ days }) => {
    const start = last - days * DAY_SECONDS;
    return (times[0] ?? last) < start && (times.at(-2) ?? 0) >= start;
  });
}
