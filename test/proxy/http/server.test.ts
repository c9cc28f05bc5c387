import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { askRaw, GET, open, problemOf, serving, stalled, startProxy, tree, UNLIMITED } from '../support.js';

/** As long as request line and headers together may be: 16 KiB. */
const LONG = 'a'.repeat(16 * 1024);
const GROUP_PATH = '/api/v1/group/8';
const GROUP = GET(GROUP_PATH);

const statusesIn = (heard: string): string =>
  [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).join(' ');

describe('createHttpServer', () => {
  it('responds to what is no request with a bare status, and closes', async () => {
    const { port } = await startProxy(await tree());
    for (const [bytes, statusLine] of [
      ['GARBAGE\r\n\r\n', '400 Bad Request'],
      [GET('/', `X: ${LONG}`), '431 Request Header Fields Too Large'],
      [GET(`/${LONG}`), '431 Request Header Fields Too Large'],
    ] as const)
      expect(await askRaw(port, bytes, 3_000)).toBe(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\n\r\n`);
  });

  it.each([
    ['a Host that is none', 'GET /api/v1 HTTP/1.1\r\nHost: x/y\r\n\r\n', 400, 'invalid_request'],
    ['HTTP/2.0', 'GET /api/v1 HTTP/2.0\r\nHost: x\r\n\r\n', 505, 'version_not_supported'],
  ])('responds to %s with a problem, counts it, and closes', async (_name, bytes, status, error) => {
    const { port } = await startProxy(await tree(), { tokens: { api: 1 } });
    const heard = await askRaw(port, bytes, 3_000);
    const [head = '', text = ''] = heard.split('\r\n\r\n');
    expect(statusesIn(heard)).toBe(String(status));
    for (const field of [`Content-Length: ${text.length}`, 'Connection: close', 'RateLimit: "api";r=0;t=1'])
      expect(head.split('\r\n')).toContain(field);
    expect(problemOf({ text })).toMatchObject({ status, error, instance: '/api/v1' });
    expect(statusesIn(await askRaw(port, bytes))).toBe('429');
  });

  it('refuses a Host that is none, at once, and any coding of a body but chunked', async () => {
    const { port } = await startProxy(await tree(), { tokens: UNLIMITED });
    const refused = async (name: string, values: readonly string[]): Promise<string[]> => {
      const host = name === 'Host' ? '' : 'Host: x\r\n';
      const statuses = values.map(async (value) => {
        const heard = await askRaw(port, `GET /api/v1 HTTP/1.0\r\n${host}${name}: ${value}\r\n\r\n`, 3_000);
        return statusesIn(heard) === '400' ? [value] : [];
      });
      return (await Promise.all(statuses)).flat();
    };
    const hosts = 'a b|a/b|a?b|a#b|user@a|a:b|a:80:80|[::1|::1|[zz]|a%|a%2|a\\b|<a>|\xe9'.split('|');
    // A long one must not take longer than others.
    hosts.push(...['%', '%2', '[', 'a:', '[v1.'].map((part) => part.repeat(4_000)));
    const others =
      'register.example REGISTER.example:8080 register.example: 127.0.0.1:80 [::1]:8080 [2001:db8::7] [v1.a:b] ' +
      'a_b.example a%20b ';
    expect(await refused('Host', [...hosts, ...others.split(' ')])).toEqual(hosts);
    const codings = ['gzip', 'gzip, chunked', 'chunked, gzip', 'xchunked', 'chunked;q=1', ''];
    expect(await refused('Transfer-Encoding', ['chunked', 'Chunked', ...codings])).toEqual(codings);
  });

  it.each([
    ['a long body', GET(GROUP_PATH, 'Content-Length: 10000000') + 'x'.repeat(300_000)],
    ['a body that waits to be asked for', GET(GROUP_PATH, 'Content-Length: 5', 'Expect: 100-continue')],
    ['HTTP/1.0 and another expectation', 'GET /api/v1/group/8 HTTP/1.0\r\nExpect: miracles\r\n\r\n'],
    ['a body of unknown length', GET(GROUP_PATH, 'Transfer-Encoding: chunked')],
    ['Upgrade and a body', GET(GROUP_PATH, 'Connection: Upgrade', 'Upgrade: x', 'Content-Length: 3') + 'abc'],
  ])('responds to a GET with %s, and reads no more', async (_name, bytes) => {
    const { port } = await startProxy(await tree());
    const heard = await askRaw(port, GROUP + bytes);
    expect(statusesIn(heard)).toBe('200 200');
    expect(heard).toContain('Connection: close');
    expect(heard.endsWith('{"id":8}')).toBe(true);
  });

  it('says that it keeps idle connections for longer than load balancers do, and waits for no request for good', async () => {
    const { server } = await startProxy(await tree());
    expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
    expect(server.headersTimeout).toBeGreaterThan(0);
    expect(server.headersTimeout).toBeLessThanOrEqual(server.requestTimeout);
  });
});

it('CONNECT ends the connection, without a response of its own', async () => {
  const { port, connections } = await startProxy(await tree());
  const connect = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
  expect(await askRaw(port, `${connect}\x16\x03\x01hello`, 3_000)).toBe('');
  await expect.poll(connections).toBe(0);
});

describe('what the parser refuses', () => {
  it('gets one response in many packets, too, and its connection is closed if the client does not', async () => {
    const { port, connections } = await startProxy(await tree());
    const { socket, heard } = await open(port, { allowHalfOpen: true });
    for (let count = 0; count < 10; count += 1) {
      socket.write('GARBAGE\r\n\r\n');
      await pause(5);
    }
    await expect.poll(connections).toBe(0);
    expect(statusesIn(heard())).toBe('400');
  });

  it('leaves a download that is under way whole, however much garbage follows', async () => {
    // More than the system's buffers take, so that it is under way until it is read.
    const large = Buffer.alloc(40_000_000, 'x');
    const { port, connections } = await serving({ 'downloads/groups.csv': large });
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const { socket, heard, closed } = await stalled(port, GET('/downloads/groups.csv'));
    for (let count = 0; count < 20; count += 1) {
      socket.write('GARBAGE\r\n\r\n');
      await pause(5);
    }
    socket.resume();
    await closed;
    expect(statusesIn(heard().slice(0, 1_000))).toBe('200');
    const [, body = '', ...rest] = heard()
      .split(/\r\n\r\n|(?=HTTP)/)
      .filter((part) => part !== '');
    expect(body.length).toBe(large.length);
    expect(rest).toEqual([]);
    await expect.poll(connections).toBe(0);
    expect(warnings).toEqual([]);
  });
});

it.each([
  ['Connection: close', 'Connection: close'],
  ['a body of unknown length', 'Transfer-Encoding: chunked'],
  ['Upgrade', 'Connection: Upgrade\r\nUpgrade: x'],
])(
  'the last response of a connection is read to its end, and what a client sends after it is not answered: %s',
  async (_name, field) => {
    const large = Buffer.alloc(200_000, 'x');
    const { port, connections } = await serving({ 'downloads/groups.csv': large }, { tokens: { api: 2 } });
    const { socket, heard, closed } = await open(port);
    socket.pause();
    for (const bytes of [GET('/downloads/groups.csv', field), GROUP, GROUP]) {
      socket.write(bytes);
      await pause(60);
    }
    socket.resume();
    await closed;
    expect(statusesIn(heard())).toBe('200');
    expect(heard().split('\r\n\r\n')[1]?.length).toBe(large.length);
    await expect.poll(connections).toBe(0);
    expect(statusesIn(await askRaw(port, GROUP))).toBe('200');
  },
);

describe('connections', () => {
  it.each([
    ['total', { maxConnections: 3 }, undefined],
    ['client', { maxConnectionsPerClient: 3 }, 200],
  ])('are bounded (%s): those beyond have no response until one is closed', async (reason, server, other) => {
    const { port, ask, connections, metrics } = await startProxy(await tree(), { server });
    const held = await Promise.all(Array.from({ length: 3 }, () => open(port)));
    await expect.poll(connections).toBe(3);
    await expect(ask('/api/v1')).rejects.toThrow(/ECONNRESET|socket hang up/);
    expect(await metrics.registry.metrics()).toContain(`connections_dropped_total{reason="${reason}"} 1\n`);
    const answer = await ask('/api/v1', { from: '127.0.0.2' }).catch(() => undefined);
    expect(answer?.status).toBe(other);
    held[0]?.socket.destroy();
    await expect.poll(connections).toBe(2);
    expect((await ask('/api/v1')).status).toBe(200);
  });

  it('are not bounded for a trusted peer', async () => {
    const { port, connections } = await startProxy(await tree(), {
      server: { maxConnectionsPerClient: 2, isTrusted: (address) => address.endsWith('127.0.0.2') },
    });
    for (const [from, left] of [
      ['127.0.0.2', 6],
      ['127.0.0.1', 8],
    ] as const) {
      await Promise.all(Array.from({ length: 6 }, () => open(port, { from })));
      await expect.poll(connections).toBe(left);
    }
  });
});

describe('stop', () => {
  it('closes connections that idle or were never used, and waits for nothing', async () => {
    const { port, stop } = await startProxy(await tree());
    await open(port);
    const { socket, heard, closed } = await open(port);
    socket.write(GET('/api/v1'));
    await expect.poll(heard).toContain('\r\n\r\n');
    expect(await stop(60_000)).toBe(true);
    await closed;
  });

  it('responds to a request that was on its way when it began, and then closes the connection', async () => {
    const { port, stop } = await startProxy(await tree());
    const [unused, used] = [await open(port), await open(port)];
    used.socket.write(GET('/api/v1/group/7'));
    await expect.poll(used.heard).toContain('\r\n\r\n');
    const stopped = stop(5_000);
    await pause(200);
    for (const { socket } of [unused, used]) socket.write(GROUP);
    expect(await stopped).toBe(true);
    await Promise.all([unused.closed, used.closed]);
    expect([unused, used].map(({ heard }) => statusesIn(heard()))).toEqual(['200', '200 200']);
    expect(used.heard()).toContain('Connection: close');
  });

  it('lets a client read responses from memory that wait to be sent', async () => {
    const [count, bytes] = [12, 1_000_000];
    const { port, stop } = await serving({ 'api/v1/group/8.json': Buffer.alloc(bytes, 'x') });
    const { socket, heard, closed } = await stalled(port, GROUP.repeat(count));
    const stopped = stop(5_000);
    // Longer than an idle connection is kept then.
    await pause(700);
    socket.resume();
    expect(await stopped).toBe(true);
    // The last of it may still be in the system's buffers when the server is done.
    await closed;
    expect(heard().length).toBeGreaterThan(count * bytes);
  });
});
