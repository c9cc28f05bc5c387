/** Clients that take little or nothing, and never fall silent, against a process and in real time. */
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { UNLIMITED } from '../support/proxy.js';
import { GET, ask, listening, open, publish, tree } from './support.js';

const DOWNLOAD = GET('/downloads/groups.csv');
/** From memory. */
const LISTED = GET('/api/v1/group/7');
/** 60 s: twice what a response may stand still, with all that the system's buffers take before. */
const READING_MS = 60_000;
/** The longest bound is 75 s. */
const GONE_MS = 120_000;

type Client = Awaited<ReturnType<typeof open>>;

/** Reads at a rate in bytes a second, on a busy machine at less, until the time is over or the connection is. */
async function readSlowly({ socket }: Client, rate: number): Promise<{ bytes: number; isCut: boolean }> {
  // Without a listener, it reads when it is told to.
  socket.removeAllListeners('data').pause();
  let bytes = 0;
  const startedMs = performance.now();
  while (!socket.closed && performance.now() - startedMs < READING_MS) {
    const due = Math.floor(((performance.now() - startedMs) * rate) / 1_000) - bytes;
    const chunk: unknown = socket.read(Math.min(due, socket.readableLength)) ?? socket.read(0);
    if (Buffer.isBuffer(chunk)) bytes += chunk.length;
    await pause(20);
  }
  const isCut = socket.closed;
  socket.destroy();
  return { bytes, isCut };
}

describe.runIf(process.platform === 'linux')('clients of a process', () => {
  it('that take nothing hold nothing in the end, whatever they send; those that read slowly are served', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', Buffer.alloc(40_000_000, 'x'));
    await publish(root, 'api/v1/group/7.json', Buffer.alloc(1_000_000, 'x'));
    const { child, port } = await listening(['--dist', root, ...UNLIMITED]);
    await ask(port, '/downloads/groups.csv', { method: 'HEAD' });
    await ask(port, '/api/v1/group/7', { method: 'HEAD' });
    const descriptors = (): number => readdirSync(`/proc/${child.pid}/fd`).length;
    const before = descriptors();

    const kinds = [
      [DOWNLOAD, '\r\n'],
      [DOWNLOAD, '\0'],
      [DOWNLOAD.repeat(4), 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
      [GET('/downloads/groups.csv', 'Content-Length: 60000'), 'x'],
      [LISTED.repeat(60), '\r\n'],
      [GET('/api/v1'), '\r\n'],
    ] as const;
    const clients = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const [first, drip] = kinds[index % kinds.length] ?? kinds[0];
        const { socket } = await open(port, { from: '127.0.0.2' });
        socket.pause().write(first);
        const timer = setInterval(() => socket.write(drip), 1_000);
        socket.once('close', () => clearInterval(timer));
        return socket;
      }),
    );
    const readers = await Promise.all(
      [DOWNLOAD, LISTED.repeat(60)].map(async (request) => {
        const client = await open(port);
        client.socket.write(request);
        return readSlowly(client, 50_000);
      }),
    );
    for (const { bytes, isCut } of readers) {
      expect(isCut).toBe(false);
      // Half of it at least, so it was read steadily to the end.
      expect(bytes).toBeGreaterThan((READING_MS / 1_000) * 25_000);
    }
    await expect
      .poll(() => clients.filter(({ closed }) => !closed).length, { timeout: GONE_MS - READING_MS })
      .toBe(0);
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
    expect((await ask(port, '/api/v1')).status).toBe(200);
  });
});
