import type { IncomingHttpHeaders } from 'node:http';

/** Conditional requests (RFC 9110 §13). Pure. */

/** What identifies one state of a resource. */
export interface Validators {
  /** Strong entity tag, in its quotes. */
  readonly etag: string;
  /** Whole seconds since 1970. */
  readonly modifiedSeconds: number;
}

export type Outcome = 'proceed' | 'not_modified' | 'failed';

/**
 * What the preconditions of a GET or HEAD come to, in the order of RFC 9110 §13.2.2. A malformed date is ignored.
 * A list of entity tags that can't be read matches nothing, and still keeps the dates out: a needless 200 is better
 * than a wrong 304.
 */
export function evaluatePreconditions(request: IncomingHttpHeaders, validators: Validators): Outcome {
  const { etag, modifiedSeconds } = validators;
  const match = request['if-match'];
  if (match !== undefined) {
    if (!anyTagMatches(match, etag, 'strong')) return 'failed';
  } else {
    const since = parseHttpDate(request['if-unmodified-since']);
    if (since !== undefined && modifiedSeconds > since) return 'failed';
  }
  const noneMatch = request['if-none-match'];
  if (noneMatch !== undefined) {
    return noneMatch === etag || anyTagMatches(noneMatch, etag, 'weak') ? 'not_modified' : 'proceed';
  }
  // Exactly this date, although §13.1.3 has any later one match as well: after a rollback the date goes back, and a
  // client that has the withdrawn version must not be told that it is current.
  return parseHttpDate(request['if-modified-since']) === modifiedSeconds ? 'not_modified' : 'proceed';
}

/**
 * Whether Range counts under this If-Range (RFC 9110 §13.1.5): strong comparison, so a weak tag never matches. Nor
 * does a date: Last-Modified is no strong validator here (§8.8.2.2), since two snapshots may be published within its
 * second, and since a file and its compressed forms share it.
 */
export function isRangeCurrent(request: IncomingHttpHeaders, { etag }: Validators): boolean {
  const validator = request['if-range'];
  return validator === undefined || validator === etag;
}

/** One element of the list: an entity tag (RFC 9110 §8.8.3) or nothing. The comma or the end is part of it. */
const LIST_ELEMENT = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Whether a list of entity tags has this one (RFC 9110 §8.8.3.2): by strong comparison a tag with W/ matches nothing,
 * by weak comparison W/ makes no difference.
 */
function anyTagMatches(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  let isFound = false;
  LIST_ELEMENT.lastIndex = 0;
  while (LIST_ELEMENT.lastIndex < list.length) {
    const element = LIST_ELEMENT.exec(list);
    if (element === null) return false;
    const [, weak, tag] = element;
    if (tag === etag && (comparison === 'weak' || weak === undefined)) isFound = true;
  }
  return isFound;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY_NAME = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';

/** The three forms that a recipient has to accept (RFC 9110 §5.6.7). */
const HTTP_DATES = [
  new RegExp(`^${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY_NAME}, (?<day>\\d\\d)-${MONTH}-(?<shortYear>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY_NAME} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Whole seconds since 1970; undefined if the text is missing or no HTTP-date. Date.parse would take "1" and "2026"
 * for dates.
 */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day, month = '', year, shortYear } = parts;
    const [hour = 0, minute = 0, second = 0] = [parts.hour, parts.minute, parts.second].map(Number);
    const fullYear = year === undefined ? expandYear(Number(shortYear)) : Number(year);
    const dayMs = Date.UTC(fullYear, MONTHS.indexOf(month), Number(day));
    const isDay = new Date(dayMs).getUTCDate() === Number(day);
    // The 61st second of a minute is a leap second.
    if (!isDay || hour > 23 || minute > 59 || second > 60) return undefined;
    return dayMs / 1000 + hour * 3600 + minute * 60 + second;
  }
  return undefined;
}

/**
 * RFC 9110 §5.6.7 takes two-digit years for past ones if they would be more than 50 years ahead; a fixed turn of the
 * century does that until 2049.
 */
function expandYear(shortYear: number): number {
  return shortYear < 70 ? 2000 + shortYear : 1900 + shortYear;
}
