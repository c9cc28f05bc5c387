/** Finds gaps in a series of readings. Runs in the generator and, compiled, in the browser. */

/** A longer interval, in multiples of the usual one, is a gap. */
const GAP_INTERVALS = 1.5;

/** 31 days: an interval that is longer is a gap even if it is usual. */
const LONGEST_MS = 31 * 86_400_000;

/** The usual interval is the median of this many on each side, since the frequency may change. */
const NEIGHBOURS = 7;

/** The indexes of the times that follow a gap. @param times ascending, in milliseconds */
export function gapsBefore(times: readonly number[]): ReadonlySet<number> {
  const intervals = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const found = new Set<number>();
  for (const [index, interval] of intervals.entries()) {
    const near = intervals
      .slice(Math.max(0, index - NEIGHBOURS), index + NEIGHBOURS + 1)
      .toSorted((a, b) => a - b);
    const usual = near[Math.floor((near.length - 1) / 2)] ?? interval;
    if (interval > Math.min(GAP_INTERVALS * usual, LONGEST_MS)) found.add(index + 1);
  }
  return found;
}
