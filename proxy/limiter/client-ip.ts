import type { IncomingMessage } from 'node:http';

import { rateLimitedLog, type Dependencies } from '../log.js';
import { anonymize, canonicalAddress, matcherOf, type AddressRange, type RangeMatcher } from './addresses.js';

/** Whose request it is. */

const WARNING_INTERVAL_MS = 60_000;

/** Some load balancers add the client's port: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
const PORT = /^:\d{1,5}$/;

/** The address in one element of X-Forwarded-For. Undefined if it has none. */
export function forwardedAddress(element: string): string | undefined {
  if (element.startsWith('[')) {
    const end = element.indexOf(']');
    const port = element.slice(end + 1);
    if (end < 0 || (port !== '' && !PORT.test(port))) return undefined;
    return canonicalAddress(element.slice(1, end));
  }
  const colon = element.indexOf(':');
  const hasPort = colon >= 0 && PORT.test(element.slice(colon));
  return canonicalAddress(hasPort ? element.slice(0, colon) : element);
}

/**
 * The address of the client that sent a request: what is limited and logged. Undefined if the
 * connection was gone before anybody asked.
 */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * Each proxy on the way appends its peer's address to X-Forwarded-For. So the list is read from the
 * right, for as long as trusted proxies vouch for it: the client is the first address that is not
 * one of theirs. Anybody can have written what is further left. If the search meets something that
 * is no address, the whole header is ignored.
 *
 * @param trusted the proxies to trust; with none, the client is always the socket's peer
 * @param dependencies the log is told, at most once a minute, if the header comes from elsewhere
 */
export function createClientAddress(
  trusted: readonly AddressRange[],
  dependencies: Dependencies,
): ClientAddress {
  const isTrusted = matcherOf(trusted);
  const warn = rateLimitedLog(dependencies, WARNING_INTERVAL_MS);
  return ({ socket: { remoteAddress }, headers }) => {
    if (remoteAddress === undefined) return undefined;
    const peer = canonicalAddress(remoteAddress) ?? remoteAddress;
    // Node joins repeated fields by commas, in their order.
    const header = headers['x-forwarded-for'];
    if (header === undefined || header.length === 0) return peer;
    const list = String(header);
    if (isTrusted(peer)) return firstUntrusted(list, isTrusted) ?? peer;
    const claimed = forwardedAddress(list.slice(list.lastIndexOf(',') + 1).trim());
    if (claimed !== undefined && claimed !== peer) {
      warn(
        `X-Forwarded-For comes from ${anonymize(peer)}, which --trust-proxy does not cover, and is ignored: ` +
          'if that is a proxy of yours, all its clients share one limit',
      );
    }
    return peer;
  };
}

/** From the right, the first address that is not trusted, or the leftmost one if all are. */
function firstUntrusted(list: string, isTrusted: RangeMatcher): string | undefined {
  let address: string | undefined;
  for (let end = list.length; end >= 0;) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    const element = list.slice(comma + 1, end).trim();
    end = comma;
    // Empty elements do not count (RFC 9110 §5.6.1.2).
    if (element === '') continue;
    address = forwardedAddress(element);
    if (address === undefined || !isTrusted(address)) return address;
  }
  return address;
}
