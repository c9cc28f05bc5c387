import { ipKeyGenerator } from 'express-rate-limit';
import * as fc from 'fast-check';
import { IncomingMessage } from 'node:http';
import { BlockList, isIP, Socket, SocketAddress } from 'node:net';
import { describe, expect, it } from 'vitest';

import {
  anonymize,
  canonicalAddress,
  clientKey,
  createClientAddress,
  createRangeMatcher,
} from '../../../proxy/limiter/clients.js';

const RUNS = 2_000;

const groups = (group: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(group, { minLength: 8, maxLength: 8 }).map((all) => all.join(':'));
/** Half of them often with zeros, so that "::" stands in every place of what is canonical. */
const spelledOut = fc.oneof(
  groups(fc.constantFrom('0', '0', '0', '1', 'a', 'ffff', '2001')),
  groups(fc.nat(0xffff).map((value) => value.toString(16))),
);

const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(''));

/** Addresses in all spellings, and what is nearly one. */
const nearlyAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  spelledOut,
  joined(fc.ipV6(), fc.constantFrom('%eth0', '%', '%1', '%a.b-c', '%%', '%a b', '%[')),
  joined(
    fc.constantFrom(
      ...'::ffff: ::FFFF:0: :: 0:0:0:0:0:ffff: 64:ff9b:: 64:FF9B:1:: 64:ff9b::1: ::1:'.split(' '),
    ),
    fc.ipV4(),
  ),
  fc.string({ maxLength: 12 }),
);

/** As SocketAddress writes it, without the zone that it keeps in some versions of Node. */
function binary(text: string): string {
  const family = text.includes(':') ? 'ipv6' : 'ipv4';
  return new SocketAddress({ address: text.replace(/%.*/, ''), family }).address;
}

/** IPv4 within IPv6. */
const WITHIN = ['::ffff:', '64:ff9b::'];
const within = new BlockList();
for (const prefix of WITHIN) within.addSubnet(`${prefix}0.0.0.0`, 96, 'ipv6');

it(`canonicalAddress accepts what node:net does, and means the same address, in ${RUNS} texts`, () => {
  const counts = { 0: 0, 4: 0, 6: 0 };
  fc.assert(
    fc.property(nearlyAddress, (text) => {
      const version = isIP(text);
      const canonical = canonicalAddress(text);
      counts[version === 4 ? 4 : version === 6 ? 6 : 0] += 1;
      if (version === 0) return canonical === undefined;
      if (canonical === undefined) return false;
      const isIPv6 = canonical.includes(':');
      const spellings = isIPv6 ? [canonical] : ['', ...WITHIN].map((prefix) => prefix + canonical);
      return spellings.map(binary).includes(binary(text)) && !(isIPv6 && within.check(canonical, 'ipv6'));
    }),
    { numRuns: RUNS },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(RUNS / 20);
});

it(`clientKey is that of express-rate-limit for a /56, over ${RUNS} addresses`, () => {
  const isSame = fc.property(spelledOut, (text) => {
    const address = canonicalAddress(text) ?? '';
    const [network = '', prefix] = clientKey(address).replace(/^:/, '0:').split('/');
    if (!address.includes(':')) return network === address;
    return `${canonicalAddress(network)}/${prefix}` === ipKeyGenerator(address, 56);
  });
  expect(() => fc.assert(isSame, { numRuns: RUNS })).not.toThrow();
});

it('clientKey of a client that is gone is one key for all', () => expect(clientKey(undefined)).toBe('gone'));

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  // 6to4 has the IPv4 address in the 32 bits after the first 16.
  ['2002:c633:6401::1', '2002:c633:6400::/40'],
  // IPv4-compatible.
  ['::c633:6409', '::/48'],
  ['64:ff9b::198.51.100.9', '198.51.100.0/24'],
  ['64:ff9b:1::198.51.100.9', '64:ff9b:1::/48'],
  ['somebody', 'unknown'],
])('anonymize of %s is %s', (address, network) => {
  expect(anonymize(address)).toBe(network);
});

describe('createRangeMatcher', () => {
  const ANYBODY = 'anybody could choose the address';
  it.each([
    ['true', `${ANYBODY} they are limited by`],
    ['10.0.0.0/8,::/0', `${ANYBODY} they are limited by`],
    ['1', 'a count of hops trusts anyone who reaches this port by a shorter way'],
    ['proxy.example', 'the name "proxy.example" is not looked up'],
    ['uniquelocal', 'ranges in CIDR notation or loopback, linklocal, private, separated by commas'],
    ['10.0.0.0/8,', 'not ""'],
    ['0.0.0.0/1,128.0.0.0/1', `narrower ranges than "0.0.0.0/1": ${ANYBODY}`],
    ['fc00::/129', 'a prefix of 1 to 128 bits in "fc00::/129"'],
    ...'10.0.0.0/|10.0.0.0/-8|10.0.0.0/255.0.0.0|10/8|010.0.0.0/8|10.0.0.0/8 192.0.2.1|'
      .split('|')
      .map((list) => [list, `not "${list}"`]),
    ['64:ff9b::/96', 'ranges of IPv4 written as IPv4, not as "64:ff9b::/96"'],
  ])('refuses "%s" with the reason', (list = '', reason) => {
    expect(() => createRangeMatcher(list)).toThrow(reason);
  });

  it.each([
    ['loopback', '127.0.0.1 127.255.0.1 ::1 ::ffff:127.0.0.1', '128.0.0.1 ::2 10.0.0.1 ::127.0.0.1'],
    ['linklocal', '169.254.0.1 fe80::1%eth0 febf::1', '169.255.0.1 fec0::1 192.168.0.1'],
    ['private', '10.255.255.255 172.31.255.255 192.168.0.1 fdff::', '172.32.0.0 fe00:: 127.0.0.1 100.64.0.1'],
    [
      ' 10.0.0.0/8, 192.0.2.0/24 ,192.0.3.1',
      '10.1.1.1 192.0.3.1 192.0.2.7 ::ffff:192.0.2.7 64:ff9b::192.0.2.7',
      '192.0.3.2 64:ff9b:1::192.0.2.7 ::192.0.2.7',
    ],
    ['::/8', '::1 ff::', '1.2.3.4 ::ffff:1.2.3.4 64:ff9b::1.2.3.4 100::'],
  ])('of %s matches %s, and not %s', (list, inside, outside) => {
    const matched = `${inside} ${outside}`.split(' ').filter(createRangeMatcher(list));
    expect(matched.join(' ')).toBe(inside);
  });
});

/** What a proxy that trusts these ranges takes for the client, and what it logs. */
function reader(ranges?: string) {
  const log: string[] = [];
  let nowMs = 0;
  const isTrusted = ranges === undefined ? () => false : createRangeMatcher(ranges);
  const dependencies = { clock: () => nowMs, log: (line: string) => void log.push(line) };
  const clientAddress = createClientAddress(isTrusted, dependencies);
  return {
    log,
    advance: (ms: number) => void (nowMs += ms),
    read: (peer: string | undefined, header?: string) => {
      const socket = new Socket();
      Object.defineProperty(socket, 'remoteAddress', { value: peer });
      const request = new IncomingMessage(socket);
      if (header !== undefined) request.headers['x-forwarded-for'] = header;
      return clientAddress(request);
    },
  };
}

const WARNING =
  'which --trust-proxy does not cover, and is ignored: if that is a proxy of yours, all its clients share one limit';

describe('createClientAddress', () => {
  it('returns the peer if that is no trusted proxy, whatever a header claims', () => {
    for (const { read } of [reader(), reader('10.0.0.0/8')]) {
      for (const peer of ['192.0.2.7', '::ffff:192.0.2.7'])
        expect(read(peer, '198.51.100.1')).toBe('192.0.2.7');
      expect(read('a socket file')).toBe('a socket file');
      expect(read(undefined, '198.51.100.1')).toBeUndefined();
    }
  });

  it.each([
    // The proxy vouches for the last one only.
    ['198.51.100.1', '198.51.100.1'],
    ['203.0.113.9, 198.51.100.1', '198.51.100.1'],
    // The last is a proxy of ours, so the one before it counts.
    ['203.0.113.9, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    // All of them are ours: the first sent it.
    ['10.0.0.9, 10.0.0.2', '10.0.0.9'],
    // Nobody vouches for what is left of the client.
    ['unknown, <script>, 198.51.100.1', '198.51.100.1'],
    // Empty elements do not count.
    ['198.51.100.1, , 10.0.0.2,', '198.51.100.1'],
    // Other spellings.
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:DB8::7]:4711, ::ffff:10.0.0.2', '2001:db8::7'],
    ['[64:ff9b::198.51.100.1]:4711, 64:ff9b::10.0.0.2', '198.51.100.1'],
    // Nothing to trust: the socket's peer.
    ['unknown', '10.0.0.1'],
    ['198.51.100.1, unknown', '10.0.0.1'],
    ...'1.2.3.4:x [1.2.3.4 [::1]x [::1]: ::1]:80 - for=1.2.3.4'
      .split(' ')
      .map((element): [string, string] => [element, '10.0.0.1']),
    ['', '10.0.0.1'],
    [' , ,', '10.0.0.1'],
  ])('behind a trusted proxy that sends "%s" returns %s', (header, expected) => {
    const { read, log } = reader('10.0.0.0/8');
    expect(read('10.0.0.1', header)).toBe(expected);
    expect(read('::ffff:10.0.0.1', header)).toBe(expected);
    expect(log).toEqual([]);
  });

  it('warns at most once a minute of X-Forwarded-For from elsewhere, naming a network and no address', () => {
    const { read, log, advance } = reader('10.0.0.0/8');
    read('192.0.2.7', '198.51.100.1');
    read('192.0.2.7', '198.51.100.2');
    read('203.0.113.8', '198.51.100.3');
    advance(59_999);
    read('203.0.113.8', '198.51.100.3');
    expect(log).toEqual([`X-Forwarded-For comes from 192.0.2.0/24, ${WARNING}`]);
    advance(1);
    read('2001:db8:1:2::3', '198.51.100.3');
    expect(log.slice(1)).toEqual([
      `X-Forwarded-For comes from 2001:db8:1::/48, ${WARNING} (and 3 more since the last such line)`,
    ]);
    advance(60_000);
    read('203.0.113.8', '198.51.100.3');
    expect(log.slice(2)).toEqual([`X-Forwarded-For comes from 203.0.113.0/24, ${WARNING}`]);
  });

  it('does not warn where trusting it would change nothing', () => {
    const { read, log } = reader();
    for (const header of ['192.0.2.7', '::ffff:192.0.2.7', 'unknown', '', undefined])
      read('192.0.2.7', header);
    expect(log).toEqual([]);
  });
});
