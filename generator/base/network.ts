/** What every request to another machine needs. */
import type { IncomingHttpHeaders } from 'node:http';
import { EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { Failure } from './errors.js';

/**
 * Connects to each machine once: through the proxy that the variable HTTP_PROXY names, or for https
 * HTTPS_PROXY, but directly to the hosts of NO_PROXY. Close it after use.
 * @param timeoutMs how long connecting may take
 * @throws Failure usage: a variable is no URL of a proxy
 */
export function connections(timeoutMs: number): Dispatcher {
  try {
    // Many proxies have tunnels for https alone.
    return new EnvHttpProxyAgent({ connections: 1, proxyTunnel: false, connect: { timeout: timeoutMs } });
  } catch {
    // The URL is not quoted: it may hold a password.
    throw Failure.usage('HTTP_PROXY or HTTPS_PROXY is no URL of a proxy, expected http://HOST:PORT');
  }
}

/**
 * How long a response asks to wait, in ms, by its `Retry-After` (RFC 9110, section 10.2.3): seconds,
 * or the time until a date. That is counted from the response's own date, so clocks may differ.
 * @param now counts where it has none
 * @returns undefined if it names no time to come
 */
export function retryAfterMs(
  { 'retry-after': after = '', date = '' }: IncomingHttpHeaders,
  now: Date,
): number | undefined {
  const ms = /^\d+$/.test(after)
    ? 1000 * Number(after)
    : parseDate(after) - (parseDate(date) || now.getTime());
  return ms > 0 ? ms : undefined;
}

/**
 * The time of an HTTP date (RFC 9110, section 5.6.7), in ms: NaN if a text is none. Of its three
 * forms, all of which are in GMT, one does not say so.
 */
const parseDate = (text: string): number =>
  /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN;
