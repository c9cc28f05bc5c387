/** Clients that pipeline without reading, against a process with a small heap. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UNLIMITED } from '../support/proxy.js';
import { ask, listening, tree } from './support.js';

const CONNECTIONS = 250;
/** 30 s. */
const DURATION_MS = 30_000;
/** What docs/operating.md states for each connection: 1 MiB. */
const CONNECTION_MAX_KIB = 1024;
const RESIDENT_MAX_KIB = 400 * 1024;

function residentKiB(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe.runIf(process.platform === 'linux')('a process with a heap of 256 MB', () => {
  it.each([
    ['short', ''],
    ['long', `X: ${'x'.repeat(15_000)}\r\n`],
  ])(
    'lives through connections that pipeline %s requests without reading, and serves others',
    async (_name, field) => {
      const { child, port } = await listening(
        ['--dist', await tree(), ...UNLIMITED, '--max-connections-per-client', '300'],
        { NODE_OPTIONS: '--max-old-space-size=256' },
      );
      await ask(port, '/', { from: '127.0.0.9' });
      const idleKiB = residentKiB(child.pid);
      const requests = Buffer.from(
        `GET /api/v1 HTTP/1.1\r\nHost: x\r\n${field}\r\n`.repeat(field === '' ? 2_000 : 20),
      );
      const endMs = Date.now() + DURATION_MS;
      let written = 0;
      const sockets = new Set<Socket>();
      // A connection that the proxy ends is replaced by the next one.
      const open = (): void => {
        const socket = connect(port, '127.0.0.1');
        const write = (): void => {
          while (Date.now() < endMs && socket.write(requests)) written += requests.length;
        };
        sockets.add(socket.pause());
        socket
          .on('drain', write)
          .on('connect', write)
          .on('error', () => undefined)
          .on('close', () => {
            sockets.delete(socket);
            if (Date.now() < endMs) open();
          });
      };
      for (let count = 0; count < CONNECTIONS; count += 1) open();
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
      });
      let peakKiB = 0;
      while (Date.now() < endMs) {
        expect((await ask(port, '/', { from: '127.0.0.9' })).status).toBe(200);
        peakKiB = Math.max(peakKiB, residentKiB(child.pid));
        await pause(100);
      }
      // The flood was one.
      expect(written).toBeGreaterThan(CONNECTIONS * 256 * 1024);
      expect(child.exitCode).toBeNull();
      expect(peakKiB).toBeLessThan(RESIDENT_MAX_KIB);
      expect(peakKiB - idleKiB).toBeLessThan(CONNECTIONS * CONNECTION_MAX_KIB);
    },
  );
});
