import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import { rateLimitedLog, type Dependencies } from '../log.js';

/**
 * Client addresses: IP addresses, ranges, and X-Forwarded-For. node:net's SocketAddress and
 * BlockList cost microseconds per request behind a trusted proxy, so addresses are parsed here; the
 * tests compare the results with node:net and URL.
 */

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

const COLON = 58;

type Family = AddressRange['family'];

/** The last address parsed, IPv4 as IPv4-mapped IPv6. Shared: it saves an object per request. */
const bits = new DataView(new ArrayBuffer(16));

const group = (index: number): number => bits.getUint16(2 * index);

/** RFC 4007 §11.2. Zones are dropped. */
const ZONE = /^%[\w.:~-]+$/;

/** Parses an address into `bits`. IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) is IPv4. */
function parse(text: string): Family | undefined {
  const mark = text.indexOf('%');
  const address = mark < 0 ? text : text.slice(0, mark);
  const version = isIP(address);
  if (version === 0 || (mark >= 0 && (version === 4 || !ZONE.test(text.slice(mark))))) return undefined;
  if (version === 4) {
    bits.setUint32(0, 0);
    bits.setUint32(4, 0);
    bits.setUint32(8, 0xffff);
    bits.setUint32(12, readIPv4(address));
    return 'ipv4';
  }
  readIPv6(address);
  const isMapped = bits.getUint32(0) === 0 && bits.getUint32(4) === 0 && bits.getUint32(8) === 0xffff;
  return isMapped ? 'ipv4' : 'ipv6';
}

/** @param address accepted by isIP() */
function readIPv4(address: string): number {
  let value = 0;
  let octet = 0;
  for (let at = 0; at < address.length; at += 1) {
    const digit = address.charCodeAt(at) - 48;
    if (digit >= 0) octet = octet * 10 + digit;
    else [value, octet] = [value * 256 + octet, 0];
  }
  return value * 256 + octet;
}

/** @param address accepted by isIP() (RFC 4291 §2.2) */
function readIPv6(address: string): void {
  if (address.includes('.')) {
    const dotted = address.lastIndexOf(':') + 1;
    const value = readIPv4(address.slice(dotted));
    address = `${address.slice(0, dotted)}${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
  }
  let count = 0;
  let gap = 8;
  let value = 0;
  const push = (): void => {
    bits.setUint16(2 * count, value);
    count += 1;
    value = 0;
  };
  for (let at = address.startsWith('::') ? 1 : 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at);
    if (code !== COLON) value = value * 16 + (code & 15) + (code > 57 ? 9 : 0);
    else if (address.charCodeAt(at - 1) === COLON) gap = count;
    else push();
  }
  if (address.charCodeAt(address.length - 1) !== COLON) push();
  // The groups after "::" belong at the end.
  for (let to = 7, from = count - 1; to >= gap; to -= 1, from -= 1) {
    bits.setUint16(2 * to, from >= gap ? group(from) : 0);
  }
}

/** RFC 5952 §4: all hexadecimal, with "::" for the first of the longest runs of zero groups. */
function formatIPv6(): string {
  let gap = -1;
  let length = 1;
  for (let index = 0, run = 0; index < 8; index += 1) {
    run = group(index) === 0 ? run + 1 : 0;
    if (run > length) [length, gap] = [run, index - run + 1];
  }
  let text = '';
  for (let index = 0; index < 8; index += index === gap ? length : 1) {
    if (index === gap) text += '::';
    else text += (index === 0 || index === gap + length ? '' : ':') + group(index).toString(16);
  }
  return text;
}

/** The network of the address in `bits`. @param prefix a multiple of 8 */
function formatNetwork(prefix: number): string {
  for (let at = prefix / 8; at < 16; at += 1) bits.setUint8(at, 0);
  return `${formatIPv6()}/${prefix}`;
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without its zone, IPv4-mapped IPv6 as IPv4.
 * Undefined if it is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = parse(text);
  if (family === 'ipv6') return formatIPv6();
  if (family === undefined || !text.includes(':')) return family && text;
  return `${bits.getUint8(12)}.${bits.getUint8(13)}.${bits.getUint8(14)}.${bits.getUint8(15)}`;
}

/**
 * The key of a client's bucket: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  return address.includes(':') && parse(address) === 'ipv6' ? formatNetwork(CLIENT_PREFIX) : address;
}

/**
 * The network of an address, for logs: /24 of IPv4; /48 of IPv6 (a site, RFC 6177); /40 of 6to4
 * (RFC 3056), which is the /24 of the embedded IPv4 address. `unknown` if it is not an address.
 */
export function anonymize(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  return formatNetwork(group(0) === 0x2002 ? 40 : 48);
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
  const family = parse(address);
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
  const masked = ranges.map(({ address, prefix, family }) => {
    parse(address);
    const length = family === 'ipv4' ? prefix + 96 : prefix;
    return [0, 1, 2, 3].map((word) => {
      const ones = Math.min(32, Math.max(0, length - 32 * word));
      const mask = ones === 0 ? 0 : -1 << (32 - ones);
      return { at: 4 * word, mask, network: bits.getInt32(4 * word) & mask };
    });
  });
  return (address) => {
    const family = ranges.length === 0 ? undefined : parse(address);
    return masked.some(
      (words, index) =>
        ranges[index]?.family === family &&
        words.every(({ at, mask, network }) => (bits.getInt32(at) & mask) === network),
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
