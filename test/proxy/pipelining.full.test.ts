/** Clients that pipeline without reading, against a process with a small heap. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { limitedTo, UNLIMITED } from '../support/proxy.js';
import { GET, ask, listening, tree } from './support.js';

const CONNECTIONS = 250;
/** 4 MiB for each connection: more than the system holds for it, and four times the heap. */
const FLOOD_BYTES = CONNECTIONS * 4 * 1024 * 1024;
/** What docs/operating.md states for each connection: 1 MiB. */
const CONNECTION_MAX_KIB = 1024;
const RESIDENT_MAX_KIB = 400 * 1024;

function residentKiB(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

it.runIf(process.platform === 'linux')(
  'a process with a heap of 256 MB lives through connections that pipeline requests without reading, and serves others',
  async () => {
    const { child, port } = await listening(['--dist', await tree(), '--max-connections-per-client', '300'], {
      NODE_OPTIONS: `--max-old-space-size=256 ${limitedTo(UNLIMITED).NODE_OPTIONS}`,
    });
    const served = async () => (await ask(port, '/', { from: '127.0.0.9' })).status;
    expect(await served()).toBe(200);
    const idleKiB = residentKiB(child.pid);
    const floods = [GET('/api/v1').repeat(2_000), GET('/api/v1', `X: ${'x'.repeat(15_000)}`).repeat(20)];
    let written = 0;
    const sockets = new Set<Socket>();
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    // Until enough is written; a connection that the proxy ends is replaced by the next one.
    const flood = (requests: string): void => {
      const socket = connect(port, '127.0.0.1').pause();
      const write = (): void => {
        while (written < FLOOD_BYTES && socket.write(requests)) written += requests.length;
      };
      sockets.add(socket);
      socket
        .on('drain', write)
        .on('connect', write)
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          if (written < FLOOD_BYTES) flood(requests);
        });
    };
    for (let count = 0; count < CONNECTIONS; count += 1) flood(floods[count % 2] ?? '');
    let peakKiB = 0;
    const isOver = (): boolean => written >= FLOOD_BYTES;
    while (!isOver()) {
      expect(await served()).toBe(200);
      peakKiB = Math.max(peakKiB, residentKiB(child.pid));
      await pause(100);
    }
    expect(child.exitCode).toBeNull();
    expect(peakKiB).toBeLessThan(RESIDENT_MAX_KIB);
    expect(peakKiB - idleKiB).toBeLessThan(CONNECTIONS * CONNECTION_MAX_KIB);
  },
);
