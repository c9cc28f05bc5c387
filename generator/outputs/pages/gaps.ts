/** Where a series of readings has gaps. Runs in the generator and, compiled, in the browser. */

/** A reading that came later than this many usual intervals after the one before has a gap before it. */
const GAP_INTERVALS = 1.5;

/** What is usual is said by so many intervals on each side, since a register may come to read more often. */
const NEIGHBOURS = 7;

/** Which of these times, in ascending order, have a gap before them, by index. */
export function gapsBefore(times: readonly number[]): ReadonlySet<number> {
  const intervals = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const found = new Set<number>();
  for (const [index, interval] of intervals.entries()) {
    const near = intervals
      .slice(Math.max(0, index - NEIGHBOURS), index + NEIGHBOURS + 1)
      .toSorted((a, b) => a - b);
    const usual = near[Math.floor((near.length - 1) / 2)] ?? interval;
    if (interval > GAP_INTERVALS * usual) found.add(index + 1);
  }
  return found;
}
