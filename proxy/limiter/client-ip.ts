import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

import { rateLimitedLog, type Dependencies } from '../log.js';

/** Client addresses: IP addresses, ranges, and X-Forwarded-For. */

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

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A zone (RFC 4007 §11.2), which is dropped. */
const ZONED = /^([^%]*:[^%]*)%[\w.:~-]+$/;
/** The last two groups of an IPv6 address as IPv4 (RFC 4291 §2.2). */
const DOTTED = /(?<=:)\d+\.\d+\.\d+\.\d+$/;
/**
 * IPv6 that is an IPv4 client: mapped (RFC 4291 §2.5.5.2), or translated by NAT64 (RFC 6052 §2.1).
 * Of other prefixes of NAT64, only their operators know where the IPv4 address is. 6to4, Teredo and
 * ISATAP have that of a router or server, behind which are others; the rest is out of use.
 */
const IPV4_CLIENTS = ['::ffff:0:0/96', '64:ff9b::/96'].map((range) => ipaddr.IPv6.parseCIDR(range));

/** Proxies stay the same, and the client of a request is compared, written and keyed. */
const recent = new LRUCache<string, Address | false>({ max: 100, memoMethod: (text) => read(text) ?? false });

const parse = (text: string): Address | undefined => recent.memo(text) || undefined;

/**
 * What is an address is up to node:net: ipaddr.js takes "127.1" and octal numbers too, but IPv4 in
 * few IPv6 addresses.
 */
function read(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  const address = ZONED.exec(text)?.[1] ?? text;
  if (!isIPv6(address)) return undefined;
  const ipv6 = ipaddr.IPv6.parse(address.replace(DOTTED, groupsOf));
  const isIPv4Client = IPV4_CLIENTS.some((range) => ipv6.match(range));
  return isIPv4Client ? new ipaddr.IPv4(ipv6.toByteArray().slice(-4)) : ipv6;
}

/** `192.0.2.7` as `c000:207`. */
function groupsOf(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(dotted).octets;
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** RFC 5952 §4: all hexadecimal, with "::" for the first of the longest runs of zero groups. */
function format(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const text = address.toNormalizedString();
  let [start, length] = [0, 0];
  for (const { 0: zeros, index } of text.matchAll(/\b0(?::0)+\b/g)) {
    if (zeros.length > length) [start, length] = [index, zeros.length];
  }
  if (length === 0) return text;
  return `${text.slice(0, Math.max(0, start - 1))}::${text.slice(start + length + 1)}`;
}

/** @param prefix a multiple of 8 */
function networkOf(address: ipaddr.IPv6, prefix: number): string {
  return `${format(ipaddr.fromByteArray(address.toByteArray().fill(0, prefix / 8)))}/${prefix}`;
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without its zone, and as IPv4 if it is that
 * of an IPv4 client. Undefined if it is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const address = parse(text);
  return address && format(address);
}

/**
 * The key of a client's bucket: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  const ipv6 = address.includes(':') ? parse(address) : undefined;
  return ipv6 instanceof ipaddr.IPv6 ? networkOf(ipv6, CLIENT_PREFIX) : address;
}

/**
 * The network of an address, for logs: /24 of IPv4; /48 of IPv6 (a site, RFC 6177); /40 of 6to4
 * (RFC 3056), which is the /24 of the embedded IPv4 address. `unknown` if it is not an address.
 */
export function anonymize(text: string): string {
  const address = parse(text);
  if (address instanceof ipaddr.IPv6) return networkOf(address, address.parts[0] === 0x2002 ? 40 : 48);
  return address === undefined ? 'unknown' : `${address.toString().replace(/\d+$/, '0')}/24`;
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
  const family = parse(address)?.kind();
  if (family === undefined || address.includes('%') || rest.length > 0) throw new Error(expectation(text));
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
    return `${expected}; a count of hops trusts whoever reaches this port by a shorter way`;
  }
  return /^[a-z]/i.test(text)
    ? `${expected}; the name "${text}" is not looked up`
    : `${expected}, not "${text}"`;
}

/** Whether an address, in any notation, is in one of the ranges. */
export type RangeMatcher = (address: string) => boolean;

/** IPv4 addresses match only IPv4 ranges, in any notation: `::/8` does not contain all of IPv4. */
export function matcherOf(ranges: readonly AddressRange[]): RangeMatcher {
  const networks = ranges.map(({ address, prefix }) => ({ network: ipaddr.parse(address), prefix }));
  return (text) => {
    const address = networks.length === 0 ? undefined : parse(text);
    return networks.some(({ network, prefix }) =>
      network instanceof ipaddr.IPv4
        ? address instanceof ipaddr.IPv4 && address.match(network, prefix)
        : address instanceof ipaddr.IPv6 && address.match(network, prefix),
    );
  };
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
