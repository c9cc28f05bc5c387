import {
  array,
  assert as check,
  bigInt,
  boolean,
  constantFrom,
  integer,
  ipV4,
  ipV6,
  property,
} from 'fast-check';
import { SocketAddress } from 'node:net';
import { describe, expect, it } from 'vitest';

import {
  canonicalAddress,
  coverage,
  forwardedAddress,
  NAMED_RANGES,
  parseRanges,
} from '../../../proxy/limiter/addresses.js';

describe('parseRanges', () => {
  it.each([
    ['true', 'anybody could choose the address they are limited by'],
    ['*', 'anybody could choose the address they are limited by'],
    ['0.0.0.0/0', 'anybody could choose the address they are limited by'],
    ['10.0.0.0/8,::/0', 'anybody could choose the address they are limited by'],
    ['1', 'a count of hops believes whoever reaches this port by a shorter way'],
    ['2', 'a count of hops'],
    ['proxy.example', 'the name "proxy.example" is not looked up'],
    ['localhost', 'the name "localhost" is not looked up'],
    ['Loopback', 'the name "Loopback" is not looked up'],
    ['uniquelocal', 'ranges in CIDR notation or loopback, linklocal, private, separated by commas'],
    ['', 'not ""'],
    ['10.0.0.0/8,', 'not ""'],
    ['10.0.0.0/8 192.0.2.1', 'not "10.0.0.0/8 192.0.2.1"'],
    ['10.0.0.0/33', 'a prefix of 1 to 32 bits in "10.0.0.0/33"'],
    ['fc00::/129', 'a prefix of 1 to 128 bits in "fc00::/129"'],
    ['10.0.0.0/', 'not "10.0.0.0/"'],
    ['10.0.0.0/-8', 'not "10.0.0.0/-8"'],
    ['10.0.0.0/8/8', 'not "10.0.0.0/8/8"'],
    ['10.0.0.0/255.0.0.0', 'not "10.0.0.0/255.0.0.0"'],
    ['10/8', 'not "10/8"'],
    ['010.0.0.0/8', 'not "010.0.0.0/8"'],
    ['fe80::1%eth0', 'the name "fe80::1%eth0" is not looked up'],
    ['::ffff:10.0.0.0/104', 'ranges of IPv4 written as IPv4, not as "::ffff:10.0.0.0/104"'],
  ])('refuses "%s" with the reason', (list, reason) => {
    expect(() => parseRanges(list)).toThrow(reason);
  });

  it('reads ranges, addresses and names, with spaces around the commas', () => {
    expect(parseRanges(' 10.0.0.0/8, 192.0.2.7 ,2001:db8::/32')).toEqual([
      { address: '10.0.0.0', prefix: 8, family: 'ipv4' },
      { address: '192.0.2.7', prefix: 32, family: 'ipv4' },
      { address: '2001:db8::', prefix: 32, family: 'ipv6' },
    ]);
    for (const [name, ranges] of Object.entries(NAMED_RANGES)) {
      expect(parseRanges(name)).toEqual(parseRanges(ranges.join(',')));
    }
  });
});

describe('coverage', () => {
  it('of nothing is nobody', () => {
    expect(coverage([])('127.0.0.1')).toBe(false);
  });

  it.each([
    ['loopback', ['127.0.0.1', '127.255.0.1', '::1'], ['128.0.0.1', '::2', '10.0.0.1']],
    ['linklocal', ['169.254.0.1', 'fe80::1', 'febf::1'], ['169.255.0.1', 'fec0::1', '192.168.0.1']],
    [
      'private',
      ['10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fdff::1'],
      [
        '11.0.0.0',
        '172.15.255.255',
        '172.32.0.0',
        '192.169.0.0',
        'fe00::1',
        '127.0.0.1',
        '::1',
        '100.64.0.1',
      ],
    ],
  ])('of %s is what its documents say', (name, inside, outside) => {
    const covers = coverage(parseRanges(name));
    expect(inside.filter((address) => !covers(address))).toEqual([]);
    expect(outside.filter((address) => covers(address))).toEqual([]);
  });

  it('agrees with integers compared bit by bit', () => {
    const bits = { ipv4: 32, ipv6: 128 } as const;
    const family = constantFrom<'ipv4' | 'ipv6'>('ipv4', 'ipv6');
    const near = bigInt({ min: 0n, max: (1n << 128n) - 1n });
    check(
      property(
        family,
        near,
        integer({ min: 1, max: 128 }),
        integer({ min: 0, max: 127 }),
        boolean(),
        (kind, base, length, flip, isNear) => {
          const width = BigInt(bits[kind]);
          const prefix = Math.min(length, bits[kind]);
          const range = base & ((1n << width) - 1n);
          // One bit away, or none: around the edge of the range.
          const candidate = isNear ? range ^ (1n << (BigInt(flip) % width)) : range;
          const shift = width - BigInt(prefix);
          const covers = coverage([{ address: written(range, kind), prefix, family: kind }]);
          const address = canonicalAddress(written(candidate, kind));
          // What is mapped counts as IPv4, and no range of IPv6 covers it.
          if (address === undefined || (kind === 'ipv6' && address.includes('.'))) return;
          expect(covers(address)).toBe(range >> shift === candidate >> shift);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

function written(value: bigint, family: 'ipv4' | 'ipv6'): string {
  const [groups, size] = family === 'ipv4' ? [4, 8n] : [8, 16n];
  const parts = Array.from({ length: groups }, (_, index) => {
    const part = (value >> (size * BigInt(groups - 1 - index))) & ((1n << size) - 1n);
    return part.toString(family === 'ipv4' ? 10 : 16);
  });
  return parts.join(family === 'ipv4' ? '.' : ':');
}

describe('canonicalAddress', () => {
  it('writes each address in one way', () => {
    const same = [
      '2001:db8::7',
      '2001:DB8:0:0::7',
      '2001:0db8:0000:0000:0000:0000:0000:0007',
      '2001:db8::7%eth0',
    ];
    expect(new Set(same.map(canonicalAddress))).toEqual(new Set(['2001:db8::7']));
    const mapped = ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7'];
    expect(new Set(mapped.map(canonicalAddress))).toEqual(new Set(['192.0.2.7']));
  });

  it('is undefined for what only looks like an address', () => {
    for (const text of [
      '',
      '1.2.3',
      '1.2.3.4.5',
      '1.2.3.256',
      '01.2.3.4',
      '0x7f.1',
      '2130706433',
      ':::',
      'unknown',
      '_hidden',
    ]) {
      expect(`${text}: ${canonicalAddress(text)}`).toBe(`${text}: undefined`);
    }
  });
});

describe('forwardedAddress', () => {
  it('takes the port off that some balancers send, and brackets', () => {
    check(
      property(ipV4(), integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(forwardedAddress(`${address}:${port}`)).toBe(address);
      }),
    );
    check(
      property(ipV6(), integer({ min: 0, max: 65_535 }), (address, port) => {
        const canonical = canonicalAddress(address);
        expect([`[${address}]:${port}`, `[${address}]`, address].map(forwardedAddress)).toEqual([
          canonical,
          canonical,
          canonical,
        ]);
      }),
    );
  });

  it('is undefined for anything else', () => {
    const texts = [
      '1.2.3.4:',
      '1.2.3.4:x',
      '1.2.3.4:123456',
      '[1.2.3.4',
      '[]',
      '[::1]x',
      '::1]:80',
      'for=1.2.3.4',
      '"1.2.3.4"',
      '-',
    ];
    expect(texts.filter((text) => forwardedAddress(text) !== undefined)).toEqual([]);
  });

  it('never throws, whatever the bytes', () => {
    check(
      property(
        array(constantFrom(...'0123456789abcdef:.[]%, x'.split('')), { maxLength: 40 }),
        (characters) => {
          const address = forwardedAddress(characters.join(''));
          if (address === undefined) return;
          expect(
            () => new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }),
          ).not.toThrow();
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
