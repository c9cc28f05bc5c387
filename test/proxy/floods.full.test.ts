/** Clients that take what they can get, against the proxy as a process. */
import { readFileSync, readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { limitedTo, UNLIMITED } from '../support/proxy.js';
import { load, type Tally } from './load.js';
import { GET, ask, listening, publish, tree } from './support.js';

const CONNECTIONS = 250;
const FLOOD_MS = 10_000;
const RESIDENT_MAX_KIB = 400 * 1024;

const isLinux = process.platform === 'linux';
const residentKiB = (pid = 0): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
const descriptors = (pid = 0): number => readdirSync(`/proc/${pid}/fd`).length;

async function started(dist: string) {
  const { NODE_OPTIONS } = limitedTo(UNLIMITED);
  const environment = { NODE_OPTIONS: `--max-old-space-size=256 ${NODE_OPTIONS}` };
  const proxy = await listening(['--dist', dist, '--max-connections-per-client', '300'], environment);
  return {
    ...proxy,
    served: async () => (await ask(proxy.port, '/', { from: '127.0.0.9' })).status,
  };
}

/** A connection without a listener for what arrives, and without an error. */
const dumb = (port: number): Socket => connect(port, '127.0.0.1').on('error', () => undefined);

it.runIf(isLinux)('connections that pipeline and read nothing take 400 MB at most', async () => {
  const { child, port, served } = await started(await tree());
  const before = descriptors(child.pid);
  const floods: (readonly [first: string, then: string])[] = [
    ['', GET('/api/v1').repeat(2_000)],
    ['', GET('/api/v1', `X: ${'x'.repeat(15_000)}`).repeat(20)],
    ['', GET('/api/v1').repeat(16)],
    // It goes on after a response that ends its connection.
    ['GET / HTTP/1.1\r\n\r\n', GET('/api/v1').repeat(20_000)],
  ];
  const sockets = new Set<Socket>();
  let isOver = false;
  // A connection that the proxy ends is replaced by the next one.
  const flood = (first: string, requests: string): void => {
    if (isOver) return;
    const socket = dumb(port);
    const write = (): void => {
      // oxlint-disable-next-line no-unmodified-loop-condition
      while (!isOver && socket.writable && socket.write(requests));
    };
    sockets.add(socket);
    const begin = (): void => {
      socket.pause().on('drain', write);
      write();
    };
    if (first === '') socket.pause().on('connect', begin);
    else socket.once('data', begin).write(first);
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(flood, 5, first, requests);
    });
  };
  for (let count = 0; count < CONNECTIONS; count += 1) flood(...(floods[count % floods.length] ?? ['', '']));
  let peakKiB = 0;
  for (const endMs = performance.now() + FLOOD_MS; performance.now() < endMs; await pause(100)) {
    expect(await served()).toBe(200);
    peakKiB = Math.max(peakKiB, residentKiB(child.pid));
  }
  isOver = true;
  for (const socket of sockets) socket.destroy();
  expect(child.exitCode).toBeNull();
  expect(peakKiB).toBeLessThan(RESIDENT_MAX_KIB);
  await expect.poll(() => descriptors(child.pid)).toBeLessThanOrEqual(before);
});

it.runIf(isLinux)('connections that drip hold nothing, and half a request gets one response', async () => {
  const { child, port, served } = await started(await tree());
  const before = descriptors(child.pid);
  // Each begins with something, and goes on a byte at a time; to silence there is no response.
  const drips = [
    ['GET /api/v1 HTTP/1.1\r\nX: ', 'x', '408'],
    ['\r\n', '\r\n', '408'],
    ['', '', ''],
    [GET('/api/v1', 'Content-Length: 99'), 'x', '200'],
  ] as const;
  const clients = Array.from({ length: 200 }, (_, index) => {
    const [begin, drip, statuses] = drips[index % drips.length] ?? drips[0];
    let heard = '';
    const socket = dumb(port).on('data', (data) => (heard += data.toString()));
    socket.write(begin);
    const timer = setInterval(() => socket.write(drip), 1_000);
    socket.on('close', () => clearInterval(timer));
    onTestFinished(() => void socket.destroy());
    const found = () => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).join(' ');
    return { socket, found, statuses };
  });
  // The time-out of a head is 10 s, of a body 30 s, and looked at every 5 s.
  await expect.poll(() => clients.every(({ socket }) => socket.closed), { timeout: 45_000 }).toBe(true);
  expect(clients.filter(({ found, statuses }) => found() !== statuses).map(({ found }) => found())).toEqual(
    [],
  );
  expect(await served()).toBe(200);
  await expect.poll(() => descriptors(child.pid)).toBeLessThanOrEqual(before);
});

it('a restart under load resets nobody', async () => {
  const { child, port, ended } = await started(await tree());
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const over = new AbortController();
  const [kept, fresh]: [Tally, Tally] = [{}, {}];
  const lanes = Array.from({ length: 16 }, (_, index) =>
    index % 2 === 0
      ? load(port, kept, over.signal, { agent, gapMs: index % 4 })
      : load(port, fresh, over.signal, { agent: false, gapMs: index % 4 }),
  );
  await expect.poll(() => Math.min(kept[200] ?? 0, fresh[200] ?? 0)).toBeGreaterThan(200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  over.abort();
  await Promise.all(lanes);
  // Nobody listens any more, of which a client knows that nothing was done.
  const { 200: _kept, ECONNREFUSED: _refused, ...others } = kept;
  expect(others).toEqual({});
  // The system resets connections that it has accepted and the process has not.
  expect(Object.keys(fresh)).not.toContain('socket hang up');
});

it('a stop takes 25 s at most, whatever clients do', async () => {
  const dist = await tree();
  await publish(dist, 'downloads/groups.csv', Buffer.alloc(40_000_000, 'x'));
  const { child, port, ended, output } = await started(dist);
  const held = dumb(port);
  held.write(GET('/downloads/groups.csv'));
  held.once('data', () => held.pause());
  await pause(200);
  const startMs = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(performance.now() - startMs).toBeLessThan(27_000);
  expect(output.stderr).toContain('cut what was still open after 25 s');
});
