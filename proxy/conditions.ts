import type { IncomingHttpHeaders } from 'node:http';

/** Conditional requests (RFC 9110 §13): whether the client's copy is still good. */

/** What identifies one state of a resource. */
export interface Validators {
  /** Strong entity tag, in its quotes. */
  readonly etag: string;
  /** Whole seconds since 1970. */
  readonly modifiedSeconds: number;
}

/**
 * Whether a GET or HEAD is answered by 304. If-None-Match, when there is one, decides alone (RFC 9110
 * §13.2.2). A malformed field is ignored, and an If-None-Match that cannot be read still keeps
 * If-Modified-Since out: a needless 200 is better than a wrong 304.
 */
export function isNotModified(request: IncomingHttpHeaders, { etag, modifiedSeconds }: Validators): boolean {
  const tags = request['if-none-match'];
  if (tags !== undefined) return tags === etag || anyTagMatches(tags, etag);
  const since = request['if-modified-since'];
  if (since === undefined) return false;
  const sinceSeconds = parseHttpDate(since);
  return sinceSeconds !== undefined && modifiedSeconds <= sinceSeconds;
}

/**
 * Whether a Range counts beside this If-Range (RFC 9110 §13.1.5): strong comparison, so a weak tag never
 * matches. Nor does a date: Last-Modified is no strong validator here (§8.8.2.2), since two snapshots may be
 * published within its second, and since a file and its compressed forms share it.
 */
export function isRangeCurrent(request: IncomingHttpHeaders, { etag }: Validators): boolean {
  const validator = request['if-range'];
  return validator === undefined || validator === etag;
}

/**
 * One element of the list: an entity tag (RFC 9110 §8.8.3) or, as lists may have, nothing. The comma or the
 * end is part of it.
 */
const LIST_ELEMENT = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Weak comparison (RFC 9110 §8.8.3.2): W/ makes no difference. A list with anything else in it matches
 * nothing.
 */
function anyTagMatches(list: string, etag: string): boolean {
  if (list.trim() === '*') return true;
  let found = false;
  LIST_ELEMENT.lastIndex = 0;
  while (LIST_ELEMENT.lastIndex < list.length) {
    const element = LIST_ELEMENT.exec(list);
    if (element === null) return false;
    if (element[1] === etag) found = true;
  }
  return found;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY_NAME = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';

/** The three forms a recipient has to accept (RFC 9110 §5.6.7). */
const HTTP_DATES = [
  new RegExp(`^${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY_NAME}, (?<day>\\d\\d)-${MONTH}-(?<shortYear>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY_NAME} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Whole seconds since 1970, or undefined if the text is no HTTP-date. Date.parse would take "1" and "2026"
 * for dates.
 */
export function parseHttpDate(text: string): number | undefined {
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day, month = '', year, shortYear, hour, minute, second } = parts;
    const fullYear = year === undefined ? expandYear(Number(shortYear)) : Number(year);
    const date = Date.UTC(
      fullYear,
      MONTHS.indexOf(month),
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    );
    const isReal = new Date(date).getUTCDate() === Number(day) && Number(hour) < 24 && Number(minute) < 60;
    return isReal && Number(second) <= 60 ? date / 1000 : undefined;
  }
  return undefined;
}

/**
 * RFC 9110 §5.6.7 has two-digit years mean the past if they would be over 50 years ahead; a fixed turn of the
 * century does that until 2049.
 */
function expandYear(shortYear: number): number {
  return shortYear < 70 ? 2000 + shortYear : 1900 + shortYear;
}
