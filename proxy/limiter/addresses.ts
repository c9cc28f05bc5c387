import { BlockList, isIP, SocketAddress } from 'node:net';

/** IP addresses and ranges of them, as operators and forwarding proxies write them. Pure. */

/** A range of addresses, as CIDR: `10.0.0.0/8`. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Ranges that have a name. */
export const NAMED_RANGES = {
  /** This machine (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
  loopback: ['127.0.0.0/8', '::1/128'],
  /** The same link (RFC 3927, RFC 4291 §2.5.6). */
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  /** Networks of one's own (RFC 1918, RFC 4193). */
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
} as const;

const MAPPED_IPV4 = '::ffff:';
/** Some balancers send the client's port as well: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
const IPV4_AND_PORT = /^([\d.]+):\d{1,5}$/;
const IPV6_IN_BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;

/**
 * An address in the one way this proxy writes it: IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) as IPv4, IPv6 as
 * RFC 5952 has it, without a zone ("%eth0" names an interface of some machine, not a client). Undefined for
 * what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const [address = ''] = text.split('%', 1);
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return canonical.startsWith(MAPPED_IPV4) && canonical.includes('.')
    ? canonical.slice(MAPPED_IPV4.length)
    : canonical;
}

/** The address in one element of X-Forwarded-For, with or without port or brackets. Undefined if it has none. */
export function forwardedAddress(element: string): string | undefined {
  const [, address = element] = IPV4_AND_PORT.exec(element) ?? IPV6_IN_BRACKETS.exec(element) ?? [];
  return canonicalAddress(address);
}

/**
 * The ranges in a list such as `loopback, 10.0.0.0/8`; an address alone is a range of one.
 *
 * @throws Error for the first that can't be used; its message says what was expected, and why
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
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) throw new Error(expectation(text));
  if (version === 6 && canonicalAddress(address)?.includes('.')) {
    throw new Error(`ranges of IPv4 written as IPv4, not as "${text}"`);
  }
  const longest = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? longest : Number(prefixText);
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) throw new Error(expectation(text));
  if (prefix > longest) throw new Error(`a prefix of 1 to ${longest} bits in "${text}"`);
  if (prefix === 0) throw new Error(`narrower ranges than "${text}": ${ANYONE}`);
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

const ANYONE = 'anybody could choose the address they are limited by';

function expectation(text: string): string {
  const names = Object.keys(NAMED_RANGES).join(', ');
  const expected = `ranges in CIDR notation or ${names}, separated by commas`;
  if (text === 'true' || text === '*') return `${expected}; with "${text}", ${ANYONE}`;
  if (/^\d+$/.test(text)) {
    return `${expected}; a count of hops believes whoever reaches this port by a shorter way`;
  }
  return /^[a-z]/i.test(text)
    ? `${expected}; the name "${text}" is not looked up`
    : `${expected}, not "${text}"`;
}

/** Whether an address (as canonicalAddress writes it) is in one of the ranges. */
export type Covers = (address: string) => boolean;

export function coverage(ranges: readonly AddressRange[]): Covers {
  if (ranges.length === 0) return () => false;
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family);
  return (address) => list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
