import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { createAccessLog } from '../../../proxy/http/access-log.js';
import { Metrics } from '../../../proxy/ops/metrics.js';
import { temporary } from '../../support/folder.js';
import {
  askRaw,
  controlledDisk,
  gate,
  GET,
  INLINE_DISK,
  open,
  openFiles,
  problemOf,
  publish,
  stalled,
  startProxy,
  tree,
  type TestOptions,
  UNLIMITED,
} from '../support.js';

const GROUP = '/api/v1/group/8';
const FILE = 'downloads/groups.csv';
const DOWNLOAD = GET(`/${FILE}`);
/** More than the system's buffers take. */
const ENDLESS = Buffer.alloc(40_000_000, 'x');

describe('pipelined requests', () => {
  it('are answered up to the sixteenth, which ends the connection: what follows is neither answered nor counted', async () => {
    const { port, ask, connections, logged } = await accounted({ quotas: { api: { burst: 17 } } });
    const heads = (await askRaw(port, GET(GROUP).repeat(2_000), 3_000)).split('{"id":8}');
    expect(heads.map((head) => head.includes('Connection: close')).lastIndexOf(true)).toBe(15);
    expect(heads.filter((head) => head.includes('Connection: close'))).toHaveLength(1);
    expect([heads.length, heads.at(-1)]).toEqual([17, '']);
    await expect.poll(connections).toBe(0);
    expect(logged()).toHaveLength(16);
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
    for (const last of [GET(GROUP, 'Connection: close'), GET(GROUP).replace('Host: x', 'Host: a@b')]) {
      const { port, ask } = await startProxy(await tree(), { quotas: { api: { burst: 2 } } });
      const { socket, heard, closed } = await open(port);
      socket.write(last + GET(GROUP).repeat(50));
      await closed;
      expect([...heard().matchAll(/HTTP\/1\.1 \d/g)]).toHaveLength(1);
      for (const status of [200, 429]) expect((await ask('/api/v1')).status).toBe(status);
    }
  });
});

const root = temporary()('tree');
beforeAll(async () => {
  await tree({}, root);
  await publish(root, FILE, ENDLESS);
});

/** A proxy with a large download, and what it logs and counts. */
async function accounted(options: TestOptions = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const accessLog = createAccessLog(destination, {});
  const metrics = new Metrics();
  const proxy = await startProxy(root, { quotas: UNLIMITED, server: { metrics, accessLog }, ...options });
  return {
    ...proxy,
    logged: () => lines.map((text) => problemOf({ text })),
    /** How many of each status. */
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
      // As by somebody who writes into the tree.
      async ({ socket }) => {
        onTestFinished(() => publish(root, FILE, ENDLESS));
        await truncate(join(root, FILE), 1_000_000);
        socket.resume();
      },
    ],
  ])('%s', async (_name, last, end) => {
    const proxy = await accounted();
    const { port, connections, logged, counted } = proxy;
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
    expect(await counted()).toEqual({ 200: 1, none: others.length });
  });

  it('the client asks and resets it at once, of which the operator hears nothing', async () => {
    const { port, connections, logged, counted, log } = await accounted();
    const before = log.length;
    const range = GET(`/${FILE}`, 'Range: bytes=0-99999');
    for (let count = 0; count < 15; count += 1) {
      const client = await open(port);
      client.socket.write(range.repeat(4), () => reset(client));
    }
    await expect.poll(connections).toBe(0);
    await expect.poll(() => openFiles(root)).toEqual([]);
    const total = Object.values(await counted()).reduce((sum, count) => sum + count, 0);
    expect(logged()).toHaveLength(total);
    expect(log.slice(before)).toEqual([]);
  });
});

it('A download that is cut when the server stops is in the log and in the metrics by then', async () => {
  const { port, stop, logged, counted } = await accounted();
  await stalled(port, DOWNLOAD);
  expect(await stop(50)).toBe(false);
  expect(logged()).toMatchObject([{ path: `/${FILE}`, status: 200, aborted: true }]);
  expect(await counted()).toEqual({ 200: 1 });
});

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
  expect(await counted()).toEqual({ none: 1 });
});

/** Does something each second, by the proxy's timer; after how many seconds the connection is closed. */
async function secondsOf({ socket }: Client, act: () => unknown, most = 200): Promise<number> {
  for (let seconds = 1; seconds < most; seconds += 1) {
    await act();
    await pause(1);
    vi.advanceTimersByTime(1_000);
    await pause(1);
    if (socket.closed) return seconds;
  }
  return Number.POSITIVE_INFINITY;
}

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
      const { port, connections, logged } = await accounted();
      const client = await stalled(port, request);
      const seconds = await secondsOf(client, () => client.socket.write(drip));
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
    expect(await secondsOf(client, () => client.socket.write(drip))).toBe(76);
    await expect.poll(connections).toBe(0);
  });

  it('is not while its client reads, however slowly', async () => {
    const { port } = await accounted();
    const client = await stalled(port, DOWNLOAD);
    client.socket.removeAllListeners('data');
    let seconds = 0;
    // 2 to 3 MB every ten seconds.
    const read = async (): Promise<void> => {
      seconds += 1;
      for (let left = seconds % 10 === 0 ? 40 : 0; left > 0; left -= 1) {
        client.socket.read();
        await pause(1);
      }
    };
    expect(await secondsOf(client, read, 100)).toBe(Number.POSITIVE_INFINITY);
  });
});
