/** What every request to another machine needs. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * How long a response asks to wait, in ms, by its `Retry-After` (RFC 9110, section 10.2.3): seconds,
 * or the time until a date. That is counted from the response's own date, so clocks may differ.
 * @param now where it has none
 * @returns undefined if it names no time to come
 */
export function retryAfterMs(
  { 'retry-after': after = '', date = '' }: IncomingHttpHeaders,
  now = Date.now(),
): number | undefined {
  const ms = /^\d+$/.test(after) ? 1000 * Number(after) : parseDate(after) - (parseDate(date) || now);
  return ms > 0 ? ms : undefined;
}

/**
 * The time of an HTTP date (RFC 9110, section 5.6.7), in ms: NaN if a text is none. Of its three
 * forms, all of which are in GMT, one does not say so.
 */
const parseDate = (text: string): number =>
  /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN;
