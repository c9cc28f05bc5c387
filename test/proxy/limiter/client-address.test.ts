import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { parseRanges } from '../../../proxy/limiter/addresses.js';
import { clientAddress, createClientAddress } from '../../../proxy/limiter/client-address.js';
import { startProxy, tree } from '../support.js';

/** What a proxy that trusts these ranges takes for the client, and what it logs. */
function reader(ranges?: string): {
  read: (peer: string | undefined, header?: string) => string | undefined;
  log: string[];
} {
  const log: string[] = [];
  const note = createClientAddress(
    ranges === undefined ? [] : parseRanges(ranges),
    (line) => void log.push(line),
  );
  return {
    log,
    read: (peer, header) => {
      const socket = new Socket();
      Object.defineProperty(socket, 'remoteAddress', { value: peer });
      const request = new IncomingMessage(socket);
      if (header !== undefined) request.headers['x-forwarded-for'] = header;
      note(request);
      return clientAddress(request);
    },
  };
}

describe('clientAddress', () => {
  it('is the socket’s peer without trusted proxies, whatever a header claims', () => {
    const { read } = reader();
    expect(read('192.0.2.7', '198.51.100.1')).toBe('192.0.2.7');
    expect(read('::ffff:192.0.2.7')).toBe('192.0.2.7');
    expect(read('2001:db8::7')).toBe('2001:db8::7');
    expect(read(undefined, '198.51.100.1')).toBeUndefined();
  });

  it('is the socket’s peer if that is none of the trusted proxies', () => {
    expect(reader('10.0.0.0/8').read('192.0.2.7', '198.51.100.1')).toBe('192.0.2.7');
  });

  it.each([
    // The proxy vouches for the last one only.
    ['198.51.100.1', '198.51.100.1'],
    ['203.0.113.9, 198.51.100.1', '198.51.100.1'],
    // The last is a proxy of ours, so the one before it counts.
    ['203.0.113.9, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['203.0.113.9,198.51.100.1,10.0.0.2,10.0.0.3', '198.51.100.1'],
    // All of them are ours: the first sent it.
    ['10.0.0.9, 10.0.0.2', '10.0.0.9'],
    // Nobody vouches for what stands left of the client.
    ['unknown, <script>, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1, 198.51.100.1', '198.51.100.1'],
    // Empty elements count for nothing.
    ['198.51.100.1, , 10.0.0.2,', '198.51.100.1'],
    // Other spellings.
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:DB8::7]:4711, ::ffff:10.0.0.2', '2001:db8::7'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    // Nothing to be believed: the socket's peer.
    ['unknown', '10.0.0.1'],
    ['198.51.100.1, unknown', '10.0.0.1'],
    ['198.51.100.1, unknown, 10.0.0.2', '10.0.0.1'],
    ['198.51.100.1 10.0.0.2', '10.0.0.1'],
    ['for=198.51.100.1', '10.0.0.1'],
    ['', '10.0.0.1'],
    [' , ,', '10.0.0.1'],
  ])('behind a trusted proxy that sends "%s" is %s', (header, expected) => {
    const { read, log } = reader('10.0.0.0/8');
    expect(read('10.0.0.1', header)).toBe(expected);
    expect(read('::ffff:10.0.0.1', header)).toBe(expected);
    expect(log).toEqual([]);
  });

  it('reads a header as long as Node lets through at once', () => {
    const { read } = reader('10.0.0.0/8');
    const header = Array.from({ length: 2_000 }, () => '10.0.0.1').join();
    const startedMs = performance.now();
    expect(read('10.0.0.1', `198.51.100.1,${header}`)).toBe('198.51.100.1');
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});

describe('createClientAddress', () => {
  it('says once that X-Forwarded-For comes from elsewhere', () => {
    const { read, log } = reader('10.0.0.0/8');
    read('192.0.2.7', '198.51.100.1');
    read('192.0.2.7', '198.51.100.2');
    read('192.0.2.8', '198.51.100.3');
    expect(log).toEqual([
      'X-Forwarded-For comes from 192.0.2.7, which --trust-proxy does not cover, and is not believed: if that is a proxy of yours, all its clients share one limit (said once)',
    ]);
  });

  it('says nothing where believing it would change nothing', () => {
    const { read, log } = reader();
    read('192.0.2.7', '192.0.2.7');
    read('192.0.2.7', '::ffff:192.0.2.7');
    read('192.0.2.7', 'unknown');
    read('192.0.2.7', '');
    read('192.0.2.7');
    expect(log).toEqual([]);
  });
});

describe('--trust-proxy over HTTP', () => {
  it('limits the clients behind a trusted proxy one by one, IPv6 by /56', async () => {
    const proxy = await startProxy(await tree(), { apiTokens: '1', trustProxy: 'loopback' });
    const ask = async (forwarded: string): Promise<number> =>
      (await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': forwarded } })).status;
    expect(await ask('198.51.100.1')).toBe(200);
    expect(await ask('198.51.100.2')).toBe(200);
    expect(await ask('198.51.100.1:4711')).toBe(429);
    expect(await ask('203.0.113.9, ::ffff:198.51.100.2')).toBe(429);
    expect(await ask('2001:db8:0:1200::1')).toBe(200);
    expect(await ask('[2001:db8:0:12ff::2]:443')).toBe(429);
    expect(await ask('2001:db8:0:1300::1')).toBe(200);
    // What is no address falls back to the proxy's own, and that has one bucket, too.
    expect(await ask('unknown')).toBe(200);
    expect(await ask('nonsense')).toBe(429);
    expect(proxy.log.filter((line) => line.includes('X-Forwarded-For'))).toEqual([]);
  });

  it('joins repeated lines of the header in their order', async () => {
    const proxy = await startProxy(await tree(), { apiTokens: '1', trustProxy: 'loopback' });
    const lines = { 'X-Forwarded-For': ['203.0.113.9', '198.51.100.1'] };
    expect((await proxy.ask('/api/v1', { headers: lines })).status).toBe(200);
    const one = { headers: { 'X-Forwarded-For': '198.51.100.1' } };
    expect((await proxy.ask('/api/v1', one)).status).toBe(429);
    const other = { headers: { 'X-Forwarded-For': '203.0.113.9' } };
    expect((await proxy.ask('/api/v1', other)).status).toBe(200);
  });

  it('believes nobody without the flag, and says so once', async () => {
    const proxy = await startProxy(await tree(), { apiTokens: '1' });
    const first = await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': '198.51.100.1' } });
    const second = await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': '198.51.100.2' } });
    expect([first.status, second.status]).toEqual([200, 429]);
    expect(proxy.log.filter((line) => line.includes('X-Forwarded-For'))).toHaveLength(1);
  });
});
