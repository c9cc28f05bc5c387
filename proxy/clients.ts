import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';

import { rateLimitedLog, type Dependencies } from './log.js';

/** Clients by their addresses: notations, ranges, X-Forwarded-For, and the keys of their buckets. */

/** A range of addresses in CIDR notation: `10.0.0.0/8`. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

export const NAMED_RANGES = {
  /** RFC 1122 §3.2.1.3, RFC 4291 §2.5.3. */
  loopback: ['127.0.0.0/8', '::1/128'],
  /** RFC 3927, RFC 4291 §2.5.6. */
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  /** RFC 1918, RFC 4193. */
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
} as const;

/**
 * Access providers commonly assign a whole /56 to a customer, so a limit per IPv6 address would be
 * no limit.
 */
const CLIENT_PREFIX = 56;

/**
 * Wider ranges are no network of proxies: two of them make the whole Internet. The widest in use
 * are 10.0.0.0/8 and fc00::/7.
 */
const WIDEST_PREFIX = { ipv4: 8, ipv6: 7 } as const;

/** A zone (RFC 4007 §11.2), which is dropped. */
const ZONE = /%.*$/;
/** The last two groups of an IPv6 address as IPv4 (RFC 4291 §2.2). */
const DOTTED = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

/** The eight groups of a valid IPv6 address without a zone. */
function parseGroups(address: string): number[] {
  const hexadecimal = address.replace(DOTTED, (_, a: string, b: string, c: string, d: string) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [left = [], right = []] = hexadecimal
    .split('::')
    .map((half) => half.split(':').flatMap((group) => (group === '' ? [] : [Number.parseInt(group, 16)])));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...zeros, ...right];
}

/**
 * The IPv4 address of an IPv6 address that is an IPv4 client: mapped (RFC 4291 §2.5.5.2), or
 * translated by NAT64 (RFC 6052 §2.1). Of other prefixes of NAT64, only their operators know where
 * the IPv4 address is. 6to4, Teredo and ISATAP have that of a router or server, behind which are
 * others; the rest is out of use.
 */
function embeddedIPv4([a, b, c, d, e, f, high = 0, low = 0]: readonly number[]): string | undefined {
  const isMapped = a === 0 && b === 0 && f === 0xffff;
  const isTranslated = a === 0x64 && b === 0xff9b && f === 0;
  if (c !== 0 || d !== 0 || e !== 0 || !(isMapped || isTranslated)) return undefined;
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** A network of at most 64 bits, as RFC 5952 §4 writes it: the last zeros are the longest run. */
function formatNetwork(groups: readonly number[], prefix: number): string {
  const kept = groups
    .slice(0, Math.ceil(prefix / 16))
    .map((group, index) => group & (0xffff << Math.max(0, 16 * (index + 1) - prefix)));
  while (kept.at(-1) === 0) kept.pop();
  return `${kept.map((group) => group.toString(16)).join(':')}::/${prefix}`;
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without its zone, and as IPv4 if it is that
 * of an IPv4 client. Undefined if it is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const address = text.replace(ZONE, '');
  return embeddedIPv4(parseGroups(address)) ?? new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/**
 * The key of a client's bucket: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  return isIPv6(address) ? formatNetwork(parseGroups(address), CLIENT_PREFIX) : address;
}

/**
 * The network of an address, for logs: /24 of IPv4; /48 of IPv6 (a site, RFC 6177); /40 of 6to4
 * (RFC 3056), which is the /24 of the embedded IPv4 address. `unknown` if it is not an address.
 */
export function anonymize(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return `${address.replace(/\d+$/, '0')}/24`;
  const groups = parseGroups(address);
  return formatNetwork(groups, groups[0] === 0x2002 ? 40 : 48);
}

/**
 * Parses a list of ranges such as `loopback, 10.0.0.0/8`; a single address is a range of one.
 *
 * @throws Error for the first invalid range, with what was expected and why
 */
export function parseRanges(list: string): AddressRange[] {
  return list.split(',').flatMap((item) => {
    const text = item.trim();
    const named = Object.entries(NAMED_RANGES).find(([name]) => name === text)?.[1];
    return (named ?? [text]).map(parseRange);
  });
}

function parseRange(text: string): AddressRange {
  const [address = '', prefixText, ...rest] = text.split('/');
  const canonical = canonicalAddress(address);
  if (canonical === undefined || address.includes('%') || rest.length > 0) throw new Error(expectation(text));
  const family = canonical.includes(':') ? 'ipv6' : 'ipv4';
  if (family === 'ipv4' && address.includes(':')) {
    throw new Error(`ranges of IPv4 written as IPv4, not as "${text}"`);
  }
  const longest = family === 'ipv4' ? 32 : 128;
  const prefix = prefixText === undefined ? longest : Number(prefixText);
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) throw new Error(expectation(text));
  if (prefix > longest) throw new Error(`a prefix of 1 to ${longest} bits in "${text}"`);
  if (prefix < WIDEST_PREFIX[family]) throw new Error(`narrower ranges than "${text}": ${ANYONE}`);
  return { address, prefix, family };
}

const ANYONE = 'anybody could choose the address they are limited by';

function expectation(text: string): string {
  const names = Object.keys(NAMED_RANGES).join(', ');
  const expected = `ranges in CIDR notation or ${names}, separated by commas`;
  if (text === 'true' || text === '*') return `${expected}; with "${text}", ${ANYONE}`;
  if (/^\d+$/.test(text)) {
    return `${expected}; a count of hops trusts anyone who reaches this port by a shorter way`;
  }
  return /^[a-z]/i.test(text)
    ? `${expected}; the name "${text}" is not looked up`
    : `${expected}, not "${text}"`;
}

/** Whether an address, in any notation, is in one of the ranges. */
export type RangeMatcher = (address: string) => boolean;

/** Addresses whose match is remembered: proxies stay the same. */
const MAX_MATCHES = 100;

export function createRangeMatcher(ranges: readonly AddressRange[]): RangeMatcher {
  if (ranges.length === 0) return () => false;
  // Two lists: a BlockList would match ::/8 with every IPv4 address.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, prefix, family } of ranges) lists[family].addSubnet(address, prefix, family);
  const matches = new LRUCache<string, boolean>({
    max: MAX_MATCHES,
    memoMethod: (text) => {
      const address = canonicalAddress(text);
      const family = address?.includes(':') === true ? 'ipv6' : 'ipv4';
      return address !== undefined && lists[family].check(address, family);
    },
  });
  return (text) => matches.memo(text);
}

const WARNING_INTERVAL_MS = 60_000;

/** Some load balancers add the client's port: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
const PORT = /^:\d{1,5}$/;

/** The address in an element of X-Forwarded-For; undefined if it has none. */
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
 * The address of a request's client, for limits and logs. Undefined if the connection was already
 * closed.
 */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * Each proxy appends its peer's address to X-Forwarded-For, so the list is read from the right, for
 * as long as trusted proxies vouch for it: the client is the first address that is not trusted.
 * Anything further left may be forged. If an element on the way is not an address, the whole header
 * is ignored.
 *
 * @param isTrusted matches trusted proxies; without any, the client is always the socket's peer
 * @param dependencies the log warns, at most once a minute, of a header from an untrusted peer
 */
export function createClientAddress(isTrusted: RangeMatcher, dependencies: Dependencies): ClientAddress {
  const warn = rateLimitedLog(dependencies, WARNING_INTERVAL_MS);
  return ({ socket: { remoteAddress }, headers }) => {
    if (remoteAddress === undefined) return undefined;
    const peer = canonicalAddress(remoteAddress) ?? remoteAddress;
    // Node joins repeated fields with commas, in order.
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

/** The rightmost address that is not trusted, or the leftmost one if all are. */
function firstUntrusted(list: string, isTrusted: RangeMatcher): string | undefined {
  let address: string | undefined;
  for (let end = list.length; end >= 0;) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    const element = list.slice(comma + 1, end).trim();
    end = comma;
    // Empty elements are ignored (RFC 9110 §5.6.1.2).
    if (element === '') continue;
    address = forwardedAddress(element);
    if (address === undefined || !isTrusted(address)) return address;
  }
  return address;
}
