/** Times as the register writes them: RFC 3339, UTC, whole seconds, `2026-11-20T08:00:00Z`. */

const DAY_SECONDS = 86_400;

/** Days before the first of a month, counted in a year that begins with March, so that the leap day is its last. */
const DAYS_BEFORE = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];

/** From the first of March of the year 0 to 1970-01-01. */
const EPOCH_DAYS = 719_468;

/** Milliseconds since 1970. What Date.parse gives for such a time, in a tenth of its time. */
export function millisecondsOf(time: string): number {
  const month = pair(time, 5);
  // January and February belong to the year before.
  const year = 100 * pair(time, 0) + pair(time, 2) - (month < 3 ? 1 : 0);
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  const days =
    365 * year + leapDays + (DAYS_BEFORE[month - 1] ?? Number.NaN) + pair(time, 8) - 1 - EPOCH_DAYS;
  return 1000 * (days * DAY_SECONDS + 3600 * pair(time, 11) + 60 * pair(time, 14) + pair(time, 17));
}

const ZERO = 48;

/** The number that two digits write. */
const pair = (text: string, at: number): number =>
  10 * (text.charCodeAt(at) - ZERO) + text.charCodeAt(at + 1) - ZERO;
