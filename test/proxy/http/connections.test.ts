import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import {
  controlledDisk,
  gate,
  GET,
  INLINE_DISK,
  open,
  publish,
  serving,
  startProxy,
  tree,
  UNLIMITED,
} from '../support.js';

/** As many as a connection may have without a finished response. */
const BOUND = 4;
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
  { request: GET(GROUP, 'Connection: Upgrade', 'Upgrade: h2c'), expected: '200 8' },
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

describe('pipelined requests', () => {
  it.each([1, 2, 3])(
    'get the responses of single ones, in order, however they are cut: seed %i',
    async (seed) => {
      const next = random(seed);
      const files = { 'downloads/groups.csv': Buffer.alloc(LARGE, 'x') };
      const { port, connections } = await serving(files, { quotas: UNLIMITED });
      const cases = Array.from({ length: 150 }, () => {
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

  it(`are not looked at beyond ${BOUND} without a response`, async () => {
    const { disk, reads, interfere } = controlledDisk();
    const root = await tree();
    for (let id = 100; id < 200; id += 1) await publish(root, `api/v1/group/${id}.json`, `{"id":${id}}`);
    const { port } = await startProxy(root, { disk, quotas: UNLIMITED });
    const { passed, letGo } = gate();
    interfere(async (request) => {
      if (request.path.includes('group')) await passed;
      return INLINE_DISK.read(request);
    });
    const { socket, heard } = await open(port);
    socket.write(Array.from({ length: 100 }, (_, index) => GET(`/api/v1/group/${100 + index}`)).join(''));
    const asked = (): number => reads.filter((path) => path.includes('group')).length;
    await expect.poll(asked).toBe(BOUND);
    await pause(50);
    expect(asked()).toBe(BOUND);
    letGo();
    await expect.poll(() => [...heard().matchAll(/HTTP\/1\.1 200/g)].length).toBe(100);
    expect([...heard().matchAll(/\{"id":(\d+)\}/g)].map(([, id]) => Number(id))).toEqual(
      Array.from({ length: 100 }, (_, index) => 100 + index),
    );
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
