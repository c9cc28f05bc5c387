/** Numbers and times in words. Without Intl, whose data differ between builds of Node. */

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `1,290`, with a minus sign instead of a hyphen. */
export const integer = (value: number): string =>
  `${value < 0 ? '−' : ''}${String(Math.abs(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',')}`;

/** A difference, with its sign. */
export const signed = (value: number): string => (value > 0 ? `+${integer(value)}` : integer(value));

/** A difference in a sentence: `+5 since yesterday`, `unchanged since yesterday`. */
export const difference = (value: number): string => (value === 0 ? 'unchanged' : signed(value));

/** Longer texts are cut where they name something. */
const MOST_CHARACTERS = 300;

/** The beginning of a text, with an ellipsis if that is not all. No character is split. */
export function cut(text: string, most = MOST_CHARACTERS): string {
  // A text has at most as many characters as code units, and at least half as many.
  if (text.length <= most) return text;
  const all = Array.from(text.slice(0, 2 * most));
  return all.length <= most && text.length <= 2 * most ? text : `${all.slice(0, most).join('')}…`;
}

/** A name that has a character which is neither a space nor invisible; null for any other, and for none. */
export const visible = (name: string | null): string | null =>
  name !== null && /[^\p{Z}\p{Cc}\p{Cf}\p{DI}]/u.test(name) ? name : null;

/** `2 readings`, `1 reading`. */
export const amount = (count: number, thing: string): string =>
  `${integer(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A time, or a day. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d):\d\dZ)?$/;

/** `2026-11-20T08:00:00Z` -> `20 November 2026`. */
export function day(time: string): string {
  const [, year = '', month = '', dayOfMonth = ''] = TIME.exec(time) ?? [];
  return `${Number(dayOfMonth)} ${MONTHS[Number(month) - 1] ?? ''} ${year}`;
}

/** `2026-11-20T08:00:00Z` -> `Nov 2026`. Three letters tell all months apart. */
export function monthOf(time: string): string {
  const [, name = '', year = ''] = day(time).split(' ');
  return `${name.slice(0, 3)} ${year}`;
}

/** `2026-11-20T08:00:00Z` -> `20 Nov 2026`. */
export const shortDay = (time: string): string => `${day(time).split(' ')[0]} ${monthOf(time)}`;

/** `03:10`. */
export const clock = (time: string): string => TIME.exec(time)?.[4] ?? '';

/** `2026-11-20T08:00:00Z` -> `20 November 2026, 08:00 UTC`; a day is one in words. */
export const moment = (time: string): string =>
  clock(time) === '' ? day(time) : `${day(time)}, ${clock(time)} UTC`;

/** A size to three digits in powers of 1,000: `12.3 MB`. */
export const size = (bytes: number): string => scaled(bytes, ['bytes', 'kB', 'MB', 'GB', 'TB'], ' ');

/** A count to three digits: `12.3 M`, in one piece. */
export const short = (count: number): string => scaled(count, ['', 'k', 'M', 'bn', 'tn'], '\u00a0').trim();

/** Labels of an axis: short ones unless two would be the same. */
export function countLabels(counts: readonly number[]): readonly string[] {
  const labels = counts.map((count) =>
    short(count).replace(/\.?0+(?=\u00a0)/, (end) => (end.startsWith('.') ? '' : end)),
  );
  return new Set(labels).size === labels.length ? labels : counts.map(integer);
}

function scaled(amountOf: number, units: readonly string[], space: string): string {
  let value = amountOf;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit += 1) value /= 1000;
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)}${space}${units[unit]}`;
}

/** The words after "every": `second`, `5 seconds`, `minute`. */
export const interval = (seconds: number): string => span(seconds).replace(/^1 /, '');

/** A number of seconds in the largest unit that is exact. */
export function span(seconds: number): string {
  if (seconds % 86_400 === 0) return amount(seconds / 86_400, 'day');
  if (seconds % 3600 === 0) return amount(seconds / 3600, 'hour');
  return seconds % 60 === 0 ? amount(seconds / 60, 'minute') : amount(seconds, 'second');
}
