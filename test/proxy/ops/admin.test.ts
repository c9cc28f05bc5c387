import type { Server } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createAdminServer, describeReadiness } from '../../../proxy/ops/admin.js';
import { listenOn } from '../support.js';

const BUILT_MS = Date.UTC(2026, 10, 20, 9, 0, 0);
const FACTS = { sequence: 3, as_of: '2026-11-20T08:00:00Z', built_at: '2026-11-20T09:00:00Z' };
const READY = {
  snapshot: FACTS,
  isReadable: true,
  isStopping: false,
  nowMs: BUILT_MS,
  maxAgeMs: undefined,
};

const READY_NOW = describeReadiness(READY);

const listen = async (server: Server): Promise<string> => `http://127.0.0.1:${await listenOn(server)}`;

describe('createAdminServer', () => {
  const metrics = {
    contentType: 'text/plain; charset=utf-8',
    read: async () => 'register_proxy_connections 0\n',
  };

  it('has pages for liveness, readiness and metrics, also for HEAD, and nothing else', async () => {
    const stopping = { status: 503, body: { ready: false, reason: 'stopping' } } as const;
    const base = await listen(createAdminServer(metrics, () => stopping));
    const health = await fetch(`${base}/healthz`);
    expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}\n']);
    const ready = await fetch(`${base}/readyz?x=y`);
    expect([ready.status, ready.headers.get('cache-control')]).toEqual([503, 'no-store']);
    expect(await ready.json()).toEqual(stopping.body);
    const scraped = await fetch(`${base}/metrics`);
    expect(scraped.headers.get('content-type')).toBe(metrics.contentType);
    expect(await scraped.text()).toBe('register_proxy_connections 0\n');
    const head = await fetch(`${base}/metrics`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '29', '']);
    for (const path of ['/', '/__proto__']) expect((await fetch(base + path)).status).toBe(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  it('responds 500 without a stack trace if the metrics can not be read', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    const failing = { ...metrics, read: () => Promise.reject(new Error('no metrics')) };
    const failed = await fetch(`${await listen(createAdminServer(failing, () => READY_NOW))}/metrics`);
    expect([failed.status, (await failed.text()).includes('no metrics')]).toEqual([500, false]);
    await expect.poll(() => String(logged.mock.calls)).toContain('no metrics');
  });
});

describe('describeReadiness', () => {
  const unreadable = 'snapshot.json is missing or was refused; the log says why';
  const old = 'the snapshot was built more than 60 s ago';
  it.each<[string, Partial<Parameters<typeof describeReadiness>[0]>, object]>([
    [
      'while snapshot.json is refused',
      { isReadable: false },
      { reason: unreadable, ...FACTS, age_seconds: 0 },
    ],
    [
      'of a snapshot older than allowed',
      { nowMs: BUILT_MS + 60_001, maxAgeMs: 60_000 },
      { reason: old, ...FACTS, age_seconds: 60 },
    ],
    ['while stopping without a snapshot', { isStopping: true, snapshot: undefined }, { reason: 'stopping' }],
    ['up to that age', { nowMs: BUILT_MS + 60_000, maxAgeMs: 60_000 }, { ...FACTS, age_seconds: 60 }],
    ['at any age if none is set', { nowMs: BUILT_MS + 86_400_000 }, { ...FACTS, age_seconds: 86_400 }],
    ['if our clock is behind', { nowMs: BUILT_MS - 5_000, maxAgeMs: 60_000 }, { ...FACTS, age_seconds: 0 }],
  ])('%s', (_, facts, body) => {
    const ready = !('reason' in body);
    expect(describeReadiness({ ...READY, ...facts })).toEqual({
      status: ready ? 200 : 503,
      body: { ready, ...body },
    });
  });
});
