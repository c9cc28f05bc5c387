import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { createAccessLog } from '../../../proxy/http/access-log.js';
import { Metrics } from '../../../proxy/ops/metrics.js';
import {
  askRaw,
  controlledDisk,
  gate,
  GET,
  INLINE_DISK,
  open,
  openFiles,
  problemOf,
  serving,
  stalled,
  startProxy,
  tree,
  type TestOptions,
  UNLIMITED,
} from '../support.js';

const LARGE = 3 * 1024 * 1024;

/** Numbers from 0 to below 1, the same for each seed (Lehmer). */
function random(seed: number): () => number {
  let state = seed * 7919 + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

interface Case {
  readonly request: string;
  /** The status and the length of the body. */
  readonly expected: string;
}

const GROUP = '/api/v1/group/8';
const CASES: readonly Case[] = [
  { request: GET(GROUP), expected: '200 8' },
  { request: GET(GROUP).replace('GET', 'HEAD'), expected: '200 0' },
  { request: GET(GROUP).replace('GET', 'OPTIONS'), expected: '204 0' },
  { request: GET(GROUP, 'Content-Length: 5') + 'GET /', expected: '200 8' },
  { request: GET(GROUP, 'Range: bytes=1-4'), expected: '206 4' },
  { request: GET('/downloads/groups.csv', 'X: '.padEnd(3_000, 'y')), expected: `200 ${LARGE}` },
];

/** What the responses in a stream of bytes are; heads have no body. */
function read(heard: Buffer, cases: readonly Case[]): string[] {
  const found: string[] = [];
  let at = 0;
  for (const { request } of cases) {
    const end = heard.indexOf('\r\n\r\n', at);
    if (end < 0) return found;
    const head = heard.toString('latin1', at, end);
    const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1] ?? 0);
    const body = request.startsWith('HEAD') ? 0 : length;
    at = end + 4 + body;
    if (at > heard.length) return found;
    found.push(`${head.slice(9, 12)} ${body}`);
  }
  return at === heard.length ? found : [...found, `and ${heard.length - at} bytes more`];
}

const FILE = 'downloads/groups.csv';
const DOWNLOAD = GET(`/${FILE}`);
/** More than the system's buffers take. */
const ENDLESS = Buffer.alloc(40_000_000, 'x');

describe('pipelined requests', () => {
  it.each([1, 2, 3])(
    'get the responses of single ones, in order, however they are cut: seed %i',
    async (seed) => {
      const next = random(seed);
      const files = { 'downloads/groups.csv': Buffer.alloc(LARGE, 'x') };
      const { port, connections } = await serving(files, { quotas: UNLIMITED });
      const cases = Array.from({ length: 15 }, () => {
        const index = Math.floor(next() ** 2 * CASES.length);
        return CASES[index] ?? CASES[0];
      }).filter((each) => each !== undefined);
      const bytes = Buffer.from(cases.map(({ request }) => request).join(''));
      const { socket, heard, closed } = await open(port);
      for (let at = 0; at < bytes.length;) {
        const size = seed === 1 ? bytes.length : 1 + Math.floor(next() ** 4 * 20_000);
        socket.write(bytes.subarray(at, at + size));
        at += size;
        if (next() < 0.3) await pause(next() * 5);
        if (next() < 0.1) socket.pause();
        else socket.resume();
      }
      socket.resume();
      // Half-closed: the last responses come all the same.
      socket.end();
      await closed;
      expect(read(Buffer.from(heard(), 'latin1'), cases)).toEqual(cases.map(({ expected }) => expected));
      await expect.poll(connections).toBe(0);
    },
  );

  it('are answered up to the sixteenth, which ends the connection: what follows is dropped', async () => {
    const { port, ask, connections, logged } = await accounted({ quotas: { api: { burst: 18 } } });
    const before = logged().length;
    const heard = await askRaw(port, GET(GROUP).repeat(2_000), 3_000);
    const heads = heard.split('{"id":8}');
    expect(heads).toHaveLength(17);
    expect(heads.map((head) => head.includes('Connection: close'))).toEqual([
      ...Array.from({ length: 15 }, () => false),
      true,
      false,
    ]);
    expect(heads.at(-1)).toBe('');
    await expect.poll(connections).toBe(0);
    expect(logged().length - before).toBe(16);
    // Nor counted: a token was taken by the download before, and sixteen by these.
    for (const status of [200, 429]) expect((await ask('/api/v1')).status).toBe(status);
  });

  it('are served for as long as their client reads, if no more than fifteen are under way', async () => {
    const { port } = await startProxy(await tree(), { quotas: UNLIMITED });
    const { socket, heard } = await open(port);
    for (let round = 1; round <= 20; round += 1) {
      socket.write(GET(GROUP).repeat(15));
      await expect.poll(() => heard().split('{"id":8}').length, { interval: 2 }).toBe(15 * round + 1);
    }
    expect(heard()).not.toContain('Connection: close');
  });

  it('behind one that ends the connection are neither answered nor counted', async () => {
    for (const last of [
      GET('/api/v1', 'Connection: close'),
      GET('/api/v1').replace('Host: x', 'Host: a@b'),
    ]) {
      const { port, ask } = await startProxy(await tree(), { quotas: { api: { burst: 3 } } });
      const { socket, heard, closed } = await open(port);
      socket.write(last + GET('/api/v1').repeat(50));
      await closed;
      expect([...heard().matchAll(/HTTP\/1\.1 \d/g)]).toHaveLength(1);
      for (const status of [200, 200, 429]) expect((await ask('/api/v1')).status).toBe(status);
    }
  });
});

/** A proxy with a large download, and what it logs and counts. */
async function accounted(options: TestOptions = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const accessLog = createAccessLog(destination, { hasFullAddresses: false, hasDetails: false });
  const metrics = new Metrics();
  const server = { metrics, accessLog };
  const proxy = await serving({ [FILE]: ENDLESS }, { quotas: UNLIMITED, server, ...options });
  // Its digest is computed once, for which it is read.
  await proxy.ask(`/${FILE}`, { method: 'HEAD' });
  await expect.poll(() => lines.length).toBe(1);
  return {
    ...proxy,
    /** Apart from that. */
    logged: () => lines.slice(1).map((text) => problemOf({ text })),
    /** How many of each status, with that one. */
    counted: async () =>
      Object.fromEntries(
        [...(await metrics.read()).matchAll(/_requests_total\{.*status="(\w+)"\} (\d+)/g)].map(
          ([, status = '', count]) => [status, Number(count)] as const,
        ),
      ),
  };
}

type Accounted = Awaited<ReturnType<typeof accounted>>;
type Client = Awaited<ReturnType<typeof open>>;

const reset = ({ socket }: Client): void => void socket.resetAndDestroy();

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
    ['it is reset with a CONNECT behind', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', reset],
    ['it is reset with an Upgrade behind', GET(`/${FILE}`, 'Connection: Upgrade', 'Upgrade: x'), reset],
    ['it is reset with garbage behind', 'GARBAGE\r\n\r\n', reset],
    ['the server stops', DOWNLOAD, (_client, { stop }) => stop(50)],
    [
      'the file becomes shorter',
      DOWNLOAD,
      ({ socket }, { root }) => cutFile(root).then(() => socket.resume()),
    ],
  ])('%s', async (_name, last, end) => {
    const proxy = await accounted();
    const { root, port, connections, logged, counted } = proxy;
    const client = await stalled(port, DOWNLOAD.repeat(3) + last);
    await pause(50);
    expect(openFiles(root)).toEqual([FILE]);
    await end(client, proxy);
    await expect.poll(() => openFiles(root)).toEqual([]);
    await expect.poll(connections).toBe(0);
    // Those that waited had no response, and Node tells nobody that they never will.
    await expect.poll(() => logged().length).toBeGreaterThan(2);
    const [first, ...others] = logged().toSorted((a, b) => Number(b['status']) - Number(a['status']));
    expect(first).toMatchObject({ path: `/${FILE}`, status: 200, aborted: true });
    for (const other of others) expect(other).toMatchObject({ status: null, aborted: true });
    expect(await counted()).toEqual({ 200: 2, none: others.length });
  });

  it('the client asks and resets it at once', async () => {
    const { root, port, connections, logged, counted } = await accounted();
    const range = GET(`/${FILE}`, 'Range: bytes=0-99999');
    for (let count = 0; count < 15; count += 1) {
      const client = await open(port);
      client.socket.write(range.repeat(4), () => reset(client));
    }
    await expect.poll(connections).toBe(0);
    await expect.poll(() => openFiles(root)).toEqual([]);
    const total = Object.values(await counted()).reduce((sum, count) => sum + count, 0);
    expect(logged().length).toBe(total - 1);
  });
});

it('A download that is cut when the server stops is in the log and in the metrics by then', async () => {
  const { port, stop, logged, counted } = await accounted();
  await stalled(port, DOWNLOAD);
  expect(await stop(50)).toBe(false);
  expect(logged()).toMatchObject([{ path: `/${FILE}`, status: 200, aborted: true }]);
  expect(await counted()).toEqual({ 200: 2 });
});

/** As somebody would who writes into the tree. */
const cutFile = (root: string): Promise<void> => truncate(join(root, FILE), 1_000_000);

it('A client that leaves before its response is logged and counted once, without a status', async () => {
  const { disk, interfere } = controlledDisk();
  const { port, connections, logged, counted } = await accounted({ disk });
  const { passed, letGo } = gate();
  interfere(async (request) => {
    await passed;
    return INLINE_DISK.read(request);
  });
  const client = await open(port);
  client.socket.write(GET(GROUP));
  await expect.poll(connections).toBe(1);
  await pause(50);
  reset(client);
  await expect.poll(connections).toBe(0);
  letGo();
  await pause(50);
  expect(logged()).toMatchObject([{ path: GROUP, status: null, bytes: 0, aborted: true }]);
  expect(await counted()).toEqual({ 200: 1, none: 1 });
});

/** Sends something each second; after how many seconds the connection is closed. */
const secondsOf = async ({ socket }: Client, drip: string): Promise<number> => {
  for (let seconds = 1; seconds < 200; seconds += 1) {
    socket.write(drip);
    await pause(5);
    vi.advanceTimersByTime(1_000);
    await pause(5);
    if (socket.closed) return seconds;
  }
  return Number.POSITIVE_INFINITY;
};

describe('a connection that is quiet', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  it.each([
    ['nothing', DOWNLOAD, ''],
    ['empty lines', DOWNLOAD, '\r\n'],
    ['what is no request', DOWNLOAD, '\0'],
    ['a head that never ends', DOWNLOAD, 'G'],
    ['a body', GET(`/${FILE}`, 'Content-Length: 60000'), 'x'],
    ['other requests', DOWNLOAD, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])(
    'is cut when 30 s have passed without a byte taken, whatever it sends: %s',
    async (_name, request, drip) => {
      const { root, port, connections, logged } = await accounted();
      const client = await stalled(port, request);
      const seconds = await secondsOf(client, drip);
      expect(seconds).toBeGreaterThan(30);
      // The system still took bytes in the first.
      expect(seconds).toBeLessThan(60);
      await expect.poll(connections).toBe(0);
      await expect.poll(() => openFiles(root)).toEqual([]);
      const downloads = logged().filter((line) => line['path'] === `/${FILE}`);
      expect(downloads).toMatchObject([{ status: 200, aborted: true }]);
    },
  );

  it.each([
    ['nothing', '', ''],
    ['empty lines', '', '\r\n'],
    ['a head that never ends', 'GET / HTTP/1.1\r\nX: ', 'y'],
    ['a body that never ends', GET(GROUP, 'Content-Length: 60000'), 'y'],
  ])('is closed after 75 s without a request, whatever it sends: %s', async (_name, first, drip) => {
    const { port, connections } = await accounted();
    const client = await open(port);
    client.socket.write(GET(GROUP));
    await expect.poll(client.heard).toContain('{"id":8}');
    // The last request is what counts.
    vi.advanceTimersByTime(70_000);
    client.socket.write(GET(GROUP) + first);
    const last = first.includes('Content-Length') ? 4 : 3;
    await expect.poll(() => client.heard().split('{"id":8}').length).toBe(last);
    expect(await secondsOf(client, drip)).toBe(76);
    await expect.poll(connections).toBe(0);
  });
});
