import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createAdminServer, describeReadiness, Metrics, type MetricSources } from '../../proxy/operations.js';
import { PROJECT } from '../support/project.js';
import { emptyFolder, listenOn, startProxy, tree } from './support.js';

const FACTS = { sequence: 3, as_of: '2026-11-20T08:00:00Z', built_at: '2026-11-20T09:00:00Z' };

const listen = async (server: Server): Promise<string> => `http://127.0.0.1:${await listenOn(server)}`;

it('createAdminServer has pages for liveness, readiness and metrics, also for HEAD, and nothing else', async () => {
  const stopping = { ready: false, reason: 'stopping' };
  const metrics = new Metrics();
  const base = await listen(createAdminServer(metrics, () => stopping));
  const health = await fetch(`${base}/healthz`);
  expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}\n']);
  const ready = await fetch(`${base}/readyz?x=y`);
  expect([ready.status, ready.headers.get('cache-control')]).toEqual([503, 'no-store']);
  expect(await ready.json()).toEqual(stopping);
  const scraped = await fetch(`${base}/metrics`);
  expect(scraped.headers.get('content-type')).toBe(metrics.registry.contentType);
  const text = await scraped.text();
  expect(text).toContain('register_proxy_response_bytes_total');
  const head = await fetch(`${base}/metrics`, { method: 'HEAD' });
  const length = String(Buffer.byteLength(text));
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, length, '']);
  for (const path of ['/', '/__proto__']) expect((await fetch(base + path)).status).toBe(404);
  expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
});

const refused = 'snapshot.json is missing or was refused; the log says why';
const old = 'the snapshot was built more than 60 s ago';
it.each<[string, isCurrent: boolean, age: number, maxAge?: number | undefined, reason?: string]>([
  ['while snapshot.json is refused', false, 0, undefined, refused],
  ['of a snapshot older than allowed', true, 60.001, 60, old],
  ['up to that age', true, 60, 60],
  ['at any age if none is set', true, 86_400],
  ['if our clock is behind', true, -5, 60],
])('describeReadiness %s', async (_, isCurrent, age, maxAge, reason) => {
  const { snapshots } = await sources(await tree(FACTS));
  vi.useFakeTimers({ now: Date.parse(FACTS.built_at) + age * 1000, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const found = describeReadiness({ current: snapshots.current, isCurrent }, false, maxAge);
  const age_seconds = Math.max(0, Math.floor(age));
  expect(found).toEqual({ ready: reason === undefined, reason, ...FACTS, age_seconds });
});

const REDIS = { isUp: false, fallbacks: 12 };

async function sources(root: string, redis?: MetricSources['redis']): Promise<MetricSources> {
  const { snapshots, files, limits, connections } = await startProxy(root);
  return { snapshots, files, limits, connections, redis, build: { version: '1.2.3', node: '20.0.0' } };
}

/** Our samples of a scrape, by name without the prefix and labels as printed. */
async function scrape(metrics: Metrics, watched: MetricSources) {
  metrics.watch(watched);
  const samples = (await metrics.registry.metrics()).matchAll(/^register_proxy_(\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name = '', value]) => [name, value]));
}

it('Metrics says NaN where there is no value, and of Redis only if there is one', async () => {
  const none = await scrape(new Metrics(), await sources(await emptyFolder()));
  const nan = { snapshot_sequence: 'Nan', snapshot_built_timestamp_seconds: 'Nan' };
  expect(none).toMatchObject({ ...nan, snapshot_readable: '0' });
  expect(none).not.toHaveProperty('redis_up');
  const empty = await tree({ as_of: null });
  const samples = await scrape(new Metrics(), await sources(empty, REDIS));
  const redis = { redis_up: '0', redis_fallbacks_total: '12' };
  expect(samples).toMatchObject({ ...redis, snapshot_as_of_timestamp_seconds: 'Nan' });
});

/** The names that a file has, of metrics of the proxy and of its process. */
const namesIn = (file: string): string[] => {
  const text = readFileSync(join(PROJECT, 'deploy', file), 'utf8');
  const names = text.match(/\b(?:register_proxy|process|nodejs)_[a-z0-9_]+/g) ?? [];
  // A histogram has three series for its name.
  return [...new Set(names.map((name) => name.replace(/_bucket$/, '')))];
};
const exposed = async (): Promise<string[]> => {
  const metrics = new Metrics();
  metrics.watch(await sources(await tree(), REDIS));
  return [...(await metrics.registry.metrics()).matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
};

describe('the alerts and the dashboard of deploy/', () => {
  it.each(['prometheus-alerts.yml', 'grafana-dashboard.json'])('name real metrics: %s', async (file) => {
    const used = namesIn(file);
    expect(await exposed()).toEqual(expect.arrayContaining(used));
    expect(used.length).toBeGreaterThan(5);
  });

  it('show every metric of the proxy on the dashboard', async () => {
    const ours = (await exposed()).filter((name) => name.startsWith('register_proxy_'));
    expect(namesIn('grafana-dashboard.json')).toEqual(expect.arrayContaining(ours));
  });
});
