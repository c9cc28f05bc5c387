import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { createAccessLog, shortenAddress } from '../../proxy/access-log.js';
import { createApp } from '../../proxy/app.js';
import { resolveConfig } from '../../proxy/config.js';
import { SnapshotFollower } from '../../proxy/follower.js';
import { createHttpServer } from '../../proxy/server.js';
import { ask, askRaw, problemOf, publish, tree } from './support.js';

interface Logged {
  readonly port: number;
  /** The lines so far. */
  readonly lines: () => Record<string, unknown>[];
}

async function logging(hasFullAddresses = false): Promise<Logged> {
  const root = await tree();
  await publish(root, 'downloads/groups.csv', Buffer.alloc(30_000_000, 'x'));
  const effects = { clock: () => Date.UTC(2100, 0, 1), log: () => undefined };
  const follower = new SnapshotFollower(root, effects);
  await follower.start();
  const written: string[] = [];
  const accessLog = createAccessLog({ write: (line: string) => void written.push(line) }, hasFullAddresses);
  const config = resolveConfig({ dist: root, trustProxy: 'loopback' }, {});
  const { server } = createHttpServer(createApp(config, follower, effects), { accessLog });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { port, lines: () => written.map((line) => problemOf({ text: line })) };
}

describe('createAccessLog', () => {
  it('writes one line for each answer, without the query, the address shortened', async () => {
    const { port, lines } = await logging();
    const from = { 'X-Forwarded-For': '203.0.113.77' };
    await ask(port, '/api/v1/group/8?token=secret', { headers: from });
    await ask(port, '/api/v1/group/8', { headers: { 'X-Forwarded-For': '2001:db8:1:2::3' } });
    await ask(port, '/nothing/at/all', { method: 'HEAD' });
    await ask(port, '/', { method: 'POST' });
    await expect.poll(() => lines().length).toBe(4);
    const [first, second, third, fourth] = lines();
    expect(Object.keys(first ?? {})).toEqual([
      'level',
      'time',
      'method',
      'path',
      'status',
      'bytes',
      'duration_ms',
      'class',
      'cache',
      'address',
      'aborted',
    ]);
    expect(first).toMatchObject({
      level: 'info',
      aborted: false,
      method: 'GET',
      path: '/api/v1/group/8',
      status: 200,
      bytes: 8,
      class: 'record',
      cache: 'miss',
      address: '203.0.113.0/24',
    });
    expect(second).toMatchObject({ cache: 'hit', address: '2001:db8:1::/48' });
    expect(third).toMatchObject({ method: 'HEAD', status: 404, bytes: 0, class: 'unrouted', cache: null });
    expect(fourth).toMatchObject({ method: 'POST', status: 405, class: 'page' });
    expect(JSON.stringify(lines())).not.toContain('secret');
    expect(Number(first?.['duration_ms'])).toBeGreaterThan(0);
    expect(String(first?.['time'])).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('writes whole addresses if asked to', async () => {
    const { port, lines } = await logging(true);
    await ask(port, '/', { headers: { 'X-Forwarded-For': '203.0.113.77' } });
    await expect.poll(lines).toMatchObject([{ address: '203.0.113.77' }]);
  });

  it('writes a line for a client that left in the middle, with what it had got', async () => {
    const { port, lines } = await logging();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((heard) => {
      socket.once('data', heard);
    });
    socket.pause();
    await pause(100);
    socket.resetAndDestroy();
    await expect.poll(lines).toMatchObject([{ status: 200, aborted: true, class: 'download' }]);
    const bytes = Number(lines()[0]?.['bytes']);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(30_000_000);
  });

  it('writes a line for what never became a request', async () => {
    const { port, lines } = await logging();
    await askRaw(port, 'GARBAGE\r\n\r\n');
    await askRaw(port, 'GET / HTTP/1.1\r\n\r\n');
    expect(lines()).toMatchObject([
      { method: null, path: null, status: 400, address: '127.0.0.0/24' },
      { method: 'GET', path: '/', status: 400, address: '127.0.0.0/24' },
    ]);
  });

  it('lets nobody write lines of their own', async () => {
    const { port, lines } = await logging();
    await ask(port, `/%0a{"level":"info"}%22\\"${'a'.repeat(1_000)}`);
    await expect.poll(() => lines().length).toBe(1);
    expect(String(lines()[0]?.['path']).length).toBe(256);
  });
});

describe('shortenAddress', () => {
  it.each([
    ['192.0.2.255', '192.0.2.0/24'],
    ['::ffff:192.0.2.9', '192.0.2.0/24'],
    ['2001:db8:1:ffff:ffff:ffff:ffff:ffff', '2001:db8:1::/48'],
    ['::1', '::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
    ['nonsense', 'unknown'],
  ])('of %s is %s', (address, network) => {
    expect(shortenAddress(address)).toBe(network);
  });
});
