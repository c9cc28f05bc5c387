import { ipKeyGenerator } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

import { rateLimitedLog, type Dependencies } from '../log.js';

/** Clients by their addresses: trusted proxies, X-Forwarded-For, and the keys of buckets. */

/** RFC 1122 §3.2.1.3 and RFC 4291 §2.5.3; RFC 3927 and RFC 4291 §2.5.6; RFC 1918 and RFC 4193. */
const NAMED_RANGES = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

/** Of 10.0.0.0/8 and fc00::/7. Wider ranges are no network of proxies: two make the whole Internet. */
const WIDEST_PREFIX = { ipv4: 8, ipv6: 7 } as const;

/** The number of addresses of which the matcher remembers whether they are inside. */
const REMEMBERED = 1_000;

/**
 * IPv4 in IPv6, as WHATWG's URL writes it: mapped (RFC 4291 §2.5.5.2), or translated by NAT64 (RFC
 * 6052 §2.1). Where other prefixes of NAT64 have the IPv4 address, only their operators know.
 */
const IPV4_WITHIN = /^\[(?:::ffff:(?=[^\]]*:)|64:ff9b::)(?:([0-9a-f]+):)?([0-9a-f]*)\]$/;

/**
 * The one spelling of an address: IPv4 for IPv4 within IPv6, otherwise as in RFC 5952, without a zone;
 * undefined if the text is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  // A zone (RFC 4007 §11.2) belongs to this machine.
  const { hostname } = new URL(`http://[${text.replace(/%.*$/, '')}]`);
  const [isWithin, high = '', low = ''] = IPV4_WITHIN.exec(hostname) ?? [];
  if (isWithin === undefined) return hostname.slice(1, -1);
  const value = Number(`0x0${high}`) * 0x1_0000 + Number(`0x0${low}`);
  return [24, 16, 8, 0].map((bits) => (value >>> bits) & 255).join('.');
}

/**
 * The key of a client's bucket: its IPv4 address, or the /56 of its IPv6 address, which access providers
 * commonly assign to one customer. Not by ipKeyGenerator, which takes 7 us, a fifth of a request.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  if (!address.includes(':')) return address;
  const zeros = '0:'.repeat(9 - address.split(':').length);
  const [a, b, c, d = ''] = address.replace('::', `:${zeros}`).split(':');
  return `${a}:${b}:${c}:${d.slice(0, -2)}00::/56`;
}

/**
 * The network of an address, for logs: /24 of IPv4; /48 of IPv6 (a site, RFC 6177); /40 of 6to4 (RFC
 * 3056), which is the /24 of the embedded IPv4 address. `unknown` if it is not an address.
 */
export function anonymize(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) return 'unknown';
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24');
  return ipKeyGenerator(address, address.startsWith('2002:') ? 40 : 48);
}

/** Whether an address, in any notation and with a port or not, is in one of some ranges. */
export type RangeMatcher = (address: string) => boolean;

/**
 * Reads a list of ranges such as `loopback, 10.0.0.0/8`; a single address is a range of one. All of
 * it is checked here, since Express takes `true` and `1` as well, and the text `1` for 0.0.0.1. IPv4
 * addresses match only IPv4 ranges: `::/8` does not contain all of IPv4.
 *
 * @throws Error for the first invalid range, with what was expected and why
 */
export function createRangeMatcher(list: string): RangeMatcher {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const item of list.split(',')) {
    const text = item.trim();
    for (const range of NAMED_RANGES.get(text) ?? [text]) {
      const { address, prefix, family } = parseRange(range);
      lists[family].addSubnet(address, prefix, family);
    }
  }
  const known = new LRUCache<string, boolean>({ max: REMEMBERED });
  return (text) => {
    let isInside = known.get(text);
    if (isInside === undefined) {
      const address = forwardedAddress(text);
      const family = address?.includes(':') === true ? 'ipv6' : 'ipv4';
      isInside = address !== undefined && lists[family].check(address, family);
      known.set(copyText(text), isInside);
    }
    return isInside;
  };
}

function parseRange(text: string) {
  const [address = '', prefixText, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) throw new Error(expectation(text));
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (family === 'ipv6' && canonicalAddress(address)?.includes(':') === false)
    throw new Error(`ranges of IPv4 written as IPv4, not as "${text}"`);
  const longest = family === 'ipv4' ? 32 : 128;
  if (!/^\d{1,3}$/.test(prefixText ?? '0')) throw new Error(expectation(text));
  const prefix = Number(prefixText ?? longest);
  if (prefix > longest) throw new Error(`a prefix of 1 to ${longest} bits in "${text}"`);
  if (prefix < WIDEST_PREFIX[family]) throw new Error(`narrower ranges than "${text}": ${ANYONE}`);
  return { address, prefix, family } as const;
}

const ANYONE = 'anybody could choose the address they are limited by';

function expectation(text: string): string {
  const names = [...NAMED_RANGES.keys()].join(', ');
  const expected = `ranges in CIDR notation or ${names}, separated by commas`;
  if (text === 'true' || text === '*') return `${expected}; with "${text}", ${ANYONE}`;
  if (/^\d+$/.test(text))
    return `${expected}; a count of hops trusts anyone who reaches this port by a shorter way`;
  if (/^[a-z]/i.test(text)) return `${expected}; the name "${text}" is not looked up`;
  return `${expected}, not "${text}"`;
}

/** A text may be a slice of a header of 16 KiB, which V8 would keep in memory with it. */
export function copyText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Some load balancers add the client's port: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;

/** The address in an element of X-Forwarded-For; undefined if it has none. */
export function forwardedAddress(element: string): string | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(element) ?? [];
  return canonicalAddress(bracketed ?? plain ?? element);
}

const WARNING_INTERVAL_MS = 60_000;

/**
 * Finds the client of a request by X-Forwarded-For, read from the right for as long as trusted proxies
 * vouch for it. The client is the first address that is not trusted, since anything further left may be
 * forged; or the peer, if there is no address in that place. The log warns, at most once a minute, of a
 * header from an untrusted peer.
 *
 * @returns a function for the address of a request's client; undefined if the connection is closed
 */
export function createClientAddress(
  isTrusted: RangeMatcher,
  dependencies: Dependencies,
): (request: IncomingMessage) => string | undefined {
  const warn = rateLimitedLog(dependencies, WARNING_INTERVAL_MS);
  return ({ socket: { remoteAddress }, headers }) => {
    if (remoteAddress === undefined) return undefined;
    const peer = canonicalAddress(remoteAddress) ?? remoteAddress;
    const header = headers['x-forwarded-for'];
    if (header === undefined) return peer;
    const text = String(header);
    // Only then all of it is read, which takes 0.3 ms if it is long.
    if (isTrusted(peer)) {
      const elements = text.split(',').map((element) => element.trim());
      const named = elements.filter((element) => element !== '');
      return forwardedAddress(named.findLast((element) => !isTrusted(element)) ?? named[0] ?? '') ?? peer;
    }
    const claimed = forwardedAddress(text.slice(text.lastIndexOf(',') + 1).trim());
    if (claimed !== undefined && claimed !== peer) {
      warn(
        `X-Forwarded-For comes from ${anonymize(peer)}, which --trust-proxy does not cover, and is ignored: ` +
          'if that is a proxy of yours, all its clients share one limit',
      );
    }
    return peer;
  };
}
