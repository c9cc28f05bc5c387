import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { createAccessLog } from '../../../proxy/log.js';
import { temporary } from '../../support/folder.js';
import {
  askRaw,
  GET,
  open,
  openFiles,
  problemOf,
  publish,
  stalled,
  startProxy,
  tree,
  UNLIMITED,
  type TestOptions,
} from '../support.js';

const GROUP = '/api/v1/group/8';
const FILE = 'downloads/groups.csv';
const DOWNLOAD = GET(`/${FILE}`);
/** More than the system's buffers take. */
const ENDLESS = Buffer.alloc(40_000_000, 'x');

const root = temporary()('tree');
beforeAll(async () => {
  await tree({}, root);
  await publish(root, FILE, ENDLESS);
});

/** A proxy with a large download, and what it logs and counts. */
async function accounted(options: TestOptions = {}) {
  const lines: string[] = [];
  const output = { writableLength: 0, write: (line: string) => void lines.push(line) };
  const server = { accessLog: createAccessLog(output, () => undefined) };
  const proxy = await startProxy(root, { tokens: UNLIMITED, server, ...options });
  return {
    ...proxy,
    logged: () => lines.map((text) => problemOf({ text })),
    counted: async () =>
      Object.fromEntries(
        [
          ...(await proxy.metrics.registry.metrics()).matchAll(/_requests_total\{.*status="(\w+)"\} (\d+)/g),
        ].map(([, status = '', count]) => [status, Number(count)] as const),
      ),
  };
}

type Accounted = Awaited<ReturnType<typeof accounted>>;
type Client = Awaited<ReturnType<typeof open>>;

const reset = ({ socket }: Client): void => void socket.resetAndDestroy();

describe('pipelined requests', () => {
  it('beyond sixteen end the connection, and only those whose turn came are counted', async () => {
    const { port, connections, logged } = await accounted();
    const heard = await askRaw(port, GET(GROUP).repeat(2_000), 3_000);
    await expect.poll(connections).toBe(0);
    // The first ones may have arrived by themselves.
    const answered = heard.split('{"id":8}').length - 1;
    expect(answered).toBeLessThanOrEqual(logged().length);
    expect(logged().length).toBeLessThan(100);
  });

  it('have nothing done for them before their turn', async () => {
    const { port, ask } = await startProxy(root, { tokens: { ...UNLIMITED, api: 2 } });
    const { socket } = await stalled(port, DOWNLOAD + GET(GROUP).repeat(10));
    await pause(50);
    socket.destroy();
    // The download took one token, and the others none.
    for (const status of [200, 429]) expect((await ask('/api/v1')).status).toBe(status);
  });

  it('behind one that ends the connection are neither answered nor counted', async () => {
    for (const last of [GET(GROUP, 'Connection: close'), GET(GROUP).replace('Host: x', 'Host: a@b')]) {
      const { port, ask } = await startProxy(await tree(), { tokens: { api: 2 } });
      const { socket, heard, closed } = await open(port);
      socket.write(last + GET(GROUP).repeat(5));
      await closed;
      expect([...heard().matchAll(/HTTP\/1\.1 \d/g)]).toHaveLength(1);
      for (const status of [200, 429]) expect((await ask('/api/v1')).status).toBe(status);
    }
  });
});

describe('a connection with requests that wait behind a download has one open file, and none when', () => {
  it.each<readonly [string, string, (client: Client, proxy: Accounted) => unknown]>([
    ['it is reset', DOWNLOAD, reset],
    [
      'the client ends its side, and then goes',
      DOWNLOAD,
      async ({ socket }) => {
        socket.end();
        await pause(20);
        socket.destroy();
      },
    ],
    ['it is reset with garbage behind', 'GARBAGE\r\n\r\n', reset],
    ['too many requests follow', DOWNLOAD.repeat(20), () => undefined],
    [
      'the server stops',
      DOWNLOAD,
      async (_client, { stop, logged }) => {
        expect(await stop(50)).toBe(false);
        // By then, and not a while later.
        expect(logged()).toHaveLength(1);
      },
    ],
    [
      'the file becomes a byte shorter',
      DOWNLOAD,
      // As by somebody who writes into the tree.
      async ({ socket }) => {
        onTestFinished(() => publish(root, FILE, ENDLESS));
        await truncate(join(root, FILE), ENDLESS.length - 1);
        socket.resume();
      },
    ],
  ])('%s', async (_name, last, end) => {
    const proxy = await accounted();
    const { port, connections, logged, counted } = proxy;
    const client = await stalled(port, DOWNLOAD);
    await pause(20);
    expect(openFiles(root)).toEqual([FILE]);
    client.socket.write(DOWNLOAD.repeat(2) + last);
    await pause(20);
    await end(client, proxy);
    await expect.poll(() => openFiles(root)).toEqual([]);
    await expect.poll(connections).toBe(0);
    // Those that waited are as if they had never been sent.
    await expect.poll(logged).toMatchObject([{ path: `/${FILE}`, status: 200, aborted: true }]);
    expect(await counted()).toEqual({ 200: 1 });
  });
});

describe('the access log', () => {
  it('has a line for each response, without the query, with the network of the client', async () => {
    const { port, ask, logged } = await accounted();
    await ask(`${GROUP}?token=secret`);
    await ask(GROUP);
    await ask(GROUP);
    await ask(`/${'a'.repeat(1_000)}%0a{"level":"info"}?q`);
    await askRaw(port, 'GARBAGE\r\n\r\n');
    const record = { level: 'info', method: 'GET', path: GROUP, status: 200, bytes: 8, class: 'record' };
    const client = { address: '127.0.0.0/24', aborted: false };
    await expect.poll(logged).toMatchObject([
      { ...record, ...client, cache: 'miss' },
      { ...record, ...client, cache: 'miss' },
      { ...record, ...client, cache: 'hit' },
      { path: `/${'a'.repeat(255)}`, status: 400, class: 'unrouted', cache: null, ...client },
      { method: null, path: null, status: 400, class: 'unrouted', ...client },
    ]);
    const [{ time, duration_ms: duration } = {}] = logged();
    expect([String(time), Number(duration) > 0]).toEqual([expect.stringMatching(/^[\d-]+T[\d:.]+Z$/), true]);
  });

  it('loses lines that its reader is too slow for, and says so once', () => {
    const [lines, said]: string[][] = [[], []];
    const output = { writableLength: 9 * 1024 * 1024, write: (line: string) => void lines?.push(line) };
    const write = createAccessLog(output, (line) => void said?.push(line));
    const [entry] = [{ method: 'GET', path: '/', status: 200, bytes: 0, duration_ms: 1, class: 'page' }];
    for (let count = 0; count < 3; count += 1)
      write({ ...entry, cache: null, address: null, aborted: false });
    expect([lines?.length, said?.length]).toEqual([0, 1]);
    expect(said?.[0]).toContain('lines are lost');
  });
});

describe('the deadline of a response', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  });
  /** 30 s, and its length at 50 kB/s. */
  const DEADLINE_MS = 30_000 + ENDLESS.length / 50;

  it.each([
    ['nothing', DOWNLOAD, ''],
    ['a head that never ends', DOWNLOAD, 'G'],
  ])('cuts the connection, whatever the client sends: %s', async (_name, request, drip) => {
    const { port, connections, logged } = await accounted();
    const client = await stalled(port, request);
    client.socket.write(drip);
    await pause(20);
    vi.advanceTimersByTime(DEADLINE_MS - 1_000);
    await pause(20);
    expect(connections()).toBe(1);
    vi.advanceTimersByTime(1_000);
    await expect.poll(connections).toBe(0);
    await expect.poll(() => openFiles(root)).toEqual([]);
    expect(logged()).toMatchObject([{ path: `/${FILE}`, status: 200, aborted: true }]);
  });

  it('is that of a small one too, if the client does not read', async () => {
    const { port, connections, logged } = await accounted();
    await publish(root, 'api/v1/group/9.json', Buffer.alloc(1_000_000, 'x'));
    await stalled(port, GET('/api/v1/group/9').repeat(16));
    // Each response has a deadline of its own, and the kernel's buffers take the first ones.
    for (let answered = -1; answered !== logged().length; await pause(250)) answered = logged().length;
    vi.advanceTimersByTime(49_000);
    await pause(20);
    expect(connections()).toBe(1);
    vi.advanceTimersByTime(1_000);
    await expect.poll(connections).toBe(0);
  });

  it('is over with the response', async () => {
    const { port, connections } = await accounted();
    const client = await open(port);
    client.socket.write(GET(`/${FILE}`));
    await expect.poll(() => client.heard().length).toBeGreaterThan(ENDLESS.length);
    await pause(20);
    vi.advanceTimersByTime(10 * DEADLINE_MS);
    expect(connections()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
