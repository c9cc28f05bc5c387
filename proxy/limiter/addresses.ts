/**
 * IP addresses and ranges of them. node:net's SocketAddress and BlockList cost microseconds per request behind a
 * trusted proxy, so this file parses addresses itself; the tests compare it with node:net and URL.
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
 * A customer of an access provider commonly holds a whole /56, so a limit per IPv6 address would be
 * no limit.
 */
const CLIENT_PREFIX = 56;

const DOT = 46;
const COLON = 58;

type Family = AddressRange['family'];

/** What parse() read last, IPv4 as IPv4-mapped IPv6. One for all: it saves an object per request. */
const bits = new DataView(new ArrayBuffer(16));

const group = (index: number): number => bits.getUint16(2 * index);

/** Reads an address into `bits`. IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) is IPv4. */
function parse(text: string): Family | undefined {
  if (text.includes(':')) {
    if (!parseIPv6(text)) return undefined;
    const isMapped = bits.getUint32(0) === 0 && bits.getUint32(4) === 0 && bits.getUint32(8) === 0xffff;
    return isMapped ? 'ipv4' : 'ipv6';
  }
  const value = parseIPv4(text, 0, text.length);
  if (value < 0) return undefined;
  bits.setUint32(0, 0);
  bits.setUint32(4, 0);
  bits.setUint32(8, 0xffff);
  bits.setUint32(12, value);
  return 'ipv4';
}

/** @returns 32 bits, or -1 for anything but four decimal numbers without leading zeros */
function parseIPv4(text: string, start: number, end: number): number {
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit === DOT - 48) {
      dots += 1;
      if (octet < 0 || dots > 3) return -1;
      value = value * 256 + octet;
      octet = -1;
    } else {
      if (digit < 0 || digit > 9 || octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : -1;
}

/** RFC 4291 §2.2. A zone (RFC 4007 §11) is dropped. */
function parseIPv6(text: string): boolean {
  const zone = text.indexOf('%');
  if (zone >= 0 && !/^[\w.:~-]+$/.test(text.slice(zone + 1))) return false;
  const end = zone < 0 ? text.length : zone;
  let gap = text.startsWith('::') ? 0 : -1;
  let at = gap < 0 ? 0 : 2;
  let count = 0;
  while (at < end) {
    const start = at;
    let value = 0;
    for (let digit; at < end && (digit = hexDigit(text.charCodeAt(at))) >= 0; at += 1)
      value = value * 16 + digit;
    if (at < end && text.charCodeAt(at) === DOT) {
      const ipv4 = parseIPv4(text, start, end);
      if (ipv4 < 0 || count > 6) return false;
      bits.setUint32(2 * count, ipv4);
      count += 2;
      break;
    }
    if (at === start || at - start > 4 || count === 8) return false;
    bits.setUint16(2 * count, value);
    count += 1;
    if (at === end) break;
    at += 1;
    if (text.charCodeAt(at - 1) !== COLON || at === end) return false;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      at += 1;
    }
  }
  if (gap < 0 || count === 8) return gap < 0 && count === 8;
  // The groups after "::" belong at the end.
  for (let to = 7, from = count - 1; to >= gap; to -= 1, from -= 1) {
    bits.setUint16(2 * to, from >= gap ? group(from) : 0);
  }
  return true;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** RFC 5952 §4: hexadecimal throughout, with "::" for the first of the longest runs of zero groups. */
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

/** The network that the address in `bits` is in. @param prefix a multiple of 8 */
function formatNetwork(prefix: number): string {
  for (let at = prefix / 8; at < 16; at += 1) bits.setUint8(at, 0);
  return `${formatIPv6()}/${prefix}`;
}

/**
 * An address in one spelling: IPv6 as in RFC 5952 and without its zone, IPv4-mapped IPv6 as IPv4.
 * Undefined for anything else.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = parse(text);
  if (family === 'ipv6') return formatIPv6();
  if (family === undefined || !text.includes(':')) return family && text;
  return `${bits.getUint8(12)}.${bits.getUint8(13)}.${bits.getUint8(14)}.${bits.getUint8(15)}`;
}

/**
 * The name of a client's bucket: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address canonical; undefined if the client is gone
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  return address.includes(':') && parse(address) === 'ipv6' ? formatNetwork(CLIENT_PREFIX) : address;
}

/**
 * The network of an address, for logs: /24 of IPv4, /48 of IPv6 (a site, RFC 6177), /40 of 6to4
 * (RFC 3056), which is the /24 of the IPv4 address in it. `unknown` for anything but an address.
 */
export function anonymize(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  return formatNetwork(group(0) === 0x2002 ? 40 : 48);
}

/**
 * The ranges in a list such as `loopback, 10.0.0.0/8`; an address alone is a range of one.
 *
 * @throws Error for the first that is refused; its message says what was expected, and why
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
  if (prefix === 0) throw new Error(`narrower ranges than "${text}": ${ANYONE}`);
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

/** Whether an address, in any spelling, is in one of the ranges. */
export type RangeMatcher = (address: string) => boolean;

/** An IPv4 address is in ranges of IPv4 only, however it is spelled: `::/8` is not every IPv4 client. */
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
