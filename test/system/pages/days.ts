/** Times of a register in which something is read once a day. */

const DAY_MS = 86_400_000;

/** @param first the time of day 0 */
export function daysFrom(first: string) {
  const at = (day: number): string =>
    `${new Date(Date.parse(first) + day * DAY_MS).toISOString().slice(0, 19)}Z`;
  /** The days on which something was first and last read. */
  const between = (firstDay: number, lastDay: number) => ({
    first_measured_at: at(firstDay),
    last_measured_at: at(lastDay),
  });
  return { at, between };
}
