import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

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

/** An address in groups of 16 bits: two of IPv4, eight of IPv6. Undefined if it is none. */
type Groups = readonly number[] | undefined;

/** The client of a request is compared, written and keyed, one after the other. */
let last: { readonly text: string; readonly groups: Groups } = { text: '', groups: undefined };

function parseAddress(text: string): Groups {
  if (isIPv4(text)) return parseDotted(text);
  if (text !== last.text) last = { text, groups: isIPv6(text) ? parseIPv6(text) : undefined };
  return last.groups;
}

function parseIPv6(text: string): Groups {
  const halves = text.replace(ZONE, '').split('::');
  const [left = [], right = []] = halves.map((half) => half.split(':').flatMap(parsePart));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  const groups = [...left, ...zeros, ...right];
  return isIPv4Client(groups) ? groups.slice(6) : groups;
}

function parseDotted(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** What is between two colons; the last one may be IPv4 (RFC 4291 §2.2). */
function parsePart(part: string): number[] {
  if (part.includes('.')) return parseDotted(part);
  return part === '' ? [] : [Number.parseInt(part, 16)];
}

/**
 * Whether an IPv6 address is that of an IPv4 client: mapped (RFC 4291 §2.5.5.2), or translated by
 * NAT64 (RFC 6052 §2.1). Of other prefixes of NAT64, only their operators know where the IPv4
 * address is. 6to4, Teredo and ISATAP have that of a router or server, behind which are others; the
 * rest is out of use.
 */
function isIPv4Client([a, b, c, d, e, f]: readonly number[]): boolean {
  const isMapped = a === 0 && b === 0 && f === 0xffff;
  const isTranslated = a === 0x64 && b === 0xff9b && f === 0;
  return c === 0 && d === 0 && e === 0 && (isMapped || isTranslated);
}

/** IPv6 as RFC 5952 §4 has it: hexadecimal, with "::" for the first of the longest runs of zeros. */
function formatAddress(groups: readonly number[]): string {
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 255]).join('.');
  const text = groups.map((group) => group.toString(16)).join(':');
  const [longest] = (text.match(/\b0(?::0)+\b/g) ?? []).toSorted((a, b) => b.length - a.length);
  return longest === undefined
    ? text
    : `:${text}:`.replace(`:${longest}:`, '::').replace(/^:(?!:)|(?<!:):$/g, '');
}

/** The zeros after a prefix of at most 64 bits are the longest run. */
function formatNetwork(groups: readonly number[], prefix: number): string {
  const network = groups.map((group, index) => group & (0xffff << (16 - bitsIn(index, prefix))));
  if (groups.length === 2) return `${formatAddress(network)}/${prefix}`;
  while (network.at(-1) === 0) network.pop();
  return `${network.map((group) => group.toString(16)).join(':')}::/${prefix}`;
}

/** How many bits of a group belong to a prefix. */
function bitsIn(index: number, prefix: number): number {
  return Math.min(16, Math.max(0, prefix - 16 * index));
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without its zone, and as IPv4 if it is that
 * of an IPv4 client. Undefined if it is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const groups = parseAddress(text);
  return groups && formatAddress(groups);
}

/**
 * The key of a client's bucket: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  const groups = address.includes(':') ? parseAddress(address) : undefined;
  return groups === undefined ? address : formatNetwork(groups, CLIENT_PREFIX);
}

/**
 * The network of an address, for logs: /24 of IPv4; /48 of IPv6 (a site, RFC 6177); /40 of 6to4
 * (RFC 3056), which is the /24 of the embedded IPv4 address. `unknown` if it is not an address.
 */
export function anonymize(text: string): string {
  const groups = parseAddress(text);
  if (groups === undefined) return 'unknown';
  return formatNetwork(groups, groups.length === 2 ? 24 : groups[0] === 0x2002 ? 40 : 48);
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

/** IPv4 addresses match only IPv4 ranges: `::/8` does not contain all of IPv4. */
export function createRangeMatcher(ranges: readonly AddressRange[]): RangeMatcher {
  if (ranges.length === 0) return () => false;
  const networks = ranges.map(({ address, prefix }) => ({ network: parseAddress(address) ?? [], prefix }));
  return (text) => {
    const groups = parseAddress(text);
    // BlockList of node:net takes 2 us for each check.
    return networks.some(
      ({ network, prefix }) =>
        network.length === groups?.length &&
        network.every((group, index) => (group ^ (groups[index] ?? 0)) >> (16 - bitsIn(index, prefix)) === 0),
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
  for (const element of list.split(',').toReversed()) {
    const text = element.trim();
    // Empty elements are ignored (RFC 9110 §5.6.1.2).
    if (text === '') continue;
    address = forwardedAddress(text);
    if (address === undefined || !isTrusted(address)) return address;
  }
  return address;
}
