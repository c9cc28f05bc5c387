/** A member history as a word-sized line. A gap in the readings is a gap in the line. */
import { gapsBefore } from './gaps.js';
import type { Reading } from './series.js';

export const WIDTH = 120;
export const HEIGHT = 28;
/** Room for the line's width. */
const MARGIN = 2;

/**
 * The path of an SVG line, in a box of WIDTH and HEIGHT; undefined for fewer than two readings. In
 * each half unit of width only the last reading is drawn: a real one, never an average.
 */
export function sparkline(readings: readonly Reading[]): string | undefined {
  const times = readings.map(({ measured_at }) => Date.parse(measured_at));
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const counts = readings.map(({ member_count }) => member_count);
  const low = counts.reduce((a, b) => Math.min(a, b));
  const high = counts.reduce((a, b) => Math.max(a, b));
  const gaps = gapsBefore(times);
  const place = (time: number): number =>
    MARGIN + Math.round((2 * (WIDTH - 2 * MARGIN) * (time - first)) / (last - first)) / 2;
  const level = (count: number): number =>
    high === low
      ? HEIGHT / 2
      : Math.round(10 * (MARGIN + (HEIGHT - 2 * MARGIN) * (1 - (count - low) / (high - low)))) / 10;
  return linePath(times, counts, gaps, place, level);
}

/**
 * A line through readings, broken at gaps. Of readings at one place only the last is drawn, unless
 * the line begins or ends there.
 * @param gaps the indexes of readings that follow a gap
 * @param place the horizontal place of a time
 * @param level the vertical place of a count
 */
export function linePath(
  times: readonly number[],
  counts: readonly number[],
  gaps: ReadonlySet<number>,
  place: (time: number) => number,
  level: (count: number) => number,
): string {
  const parts: string[] = [];
  for (const [index, time] of times.entries()) {
    const next = times[index + 1];
    const begins = index === 0 || gaps.has(index);
    const ends = next === undefined || gaps.has(index + 1);
    if (!begins && !ends && place(next) === place(time)) continue;
    const point = `${place(time)} ${level(counts[index] ?? 0)}`;
    // A single reading between two gaps is a dot: a line of no length, with round ends.
    parts.push(begins ? (ends ? `M${point}h0` : `M${point}`) : `L${point}`);
  }
  return parts.join('');
}
