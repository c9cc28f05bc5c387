import type { IncomingHttpHeaders } from 'node:http';

/** Conditional requests (RFC 9110 §13). Pure. */

/** Identifies one state of a resource. */
export interface Validators {
  /** Strong entity tag, including its quotes. */
  readonly etag: string;
  /** Whole seconds since 1970. */
  readonly modifiedSeconds: number;
}

export type Outcome = 'proceed' | 'not_modified' | 'failed';

/**
 * The result of the preconditions of a GET or HEAD, in the order of RFC 9110 §13.2.2. Malformed
 * dates are ignored. A malformed list of entity tags matches nothing, but dates are then still
 * ignored: a needless 200 is better than a wrong 304.
 */
export function evaluatePreconditions(request: IncomingHttpHeaders, validators: Validators): Outcome {
  const { etag, modifiedSeconds } = validators;
  const match = request['if-match'];
  if (match !== undefined) {
    if (!anyTagMatches(match, etag, 'strong')) return 'failed';
  } else if (modifiedSeconds > (parseHttpDate(request['if-unmodified-since']) ?? Number.POSITIVE_INFINITY)) {
    return 'failed';
  }
  const noneMatch = request['if-none-match'];
  if (noneMatch !== undefined) {
    return anyTagMatches(noneMatch, etag, 'weak') ? 'not_modified' : 'proceed';
  }
  // Only an equal date matches, although any later one does in §13.1.3: a backup restores an
  // older date, and must not confirm the withdrawn version to clients that have it.
  return parseHttpDate(request['if-modified-since']) === modifiedSeconds ? 'not_modified' : 'proceed';
}

/**
 * Whether If-Range permits a range (RFC 9110 §13.1.5). Comparison is strong, so a weak tag never
 * matches. Neither does a date: Last-Modified is not a strong validator here (§8.8.2.2), since two
 * snapshots may be published within a second, and all forms of a file share it.
 */
export function isRangeCurrent(request: IncomingHttpHeaders, { etag }: Validators): boolean {
  const validator = request['if-range'];
  return validator === undefined || validator === etag;
}

/** A list element: an entity tag (RFC 9110 §8.8.3) or nothing, with the comma or the end. */
const LIST_ELEMENT = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Whether a list contains an entity tag (RFC 9110 §8.8.3.2). By strong comparison, a tag with W/
 * matches nothing; by weak comparison, W/ is ignored.
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

/** The three formats that a recipient must accept (RFC 9110 §5.6.7). */
const HTTP_DATES = [
  new RegExp(`^${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY_NAME}, (?<day>\\d\\d)-${MONTH}-(?<shortYear>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY_NAME} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Whole seconds since 1970; undefined if the text is missing or not an HTTP-date. Date.parse would
 * accept "1" and "2026".
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
    // Second 60 is a leap second.
    if (!isDay || hour > 23 || minute > 59 || second > 60) return undefined;
    return dayMs / 1000 + hour * 3600 + minute * 60 + second;
  }
  return undefined;
}

/**
 * Two-digit years more than 50 years ahead mean past ones (RFC 9110 §5.6.7). A fixed pivot
 * suffices, since files date from 1970 to 2069.
 */
function expandYear(shortYear: number): number {
  return shortYear < 70 ? 2000 + shortYear : 1900 + shortYear;
}
