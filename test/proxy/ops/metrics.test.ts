import { describe, expect, it } from 'vitest';

import { Metrics, type MetricSources } from '../../../proxy/ops/metrics.js';

const BUILT = '2026-11-20T09:00:00Z';
const READ = '2026-11-20T08:00:00Z';
const SNAPSHOT = { sequence: 3, as_of: READ, built_at: BUILT };

function sources(changes: Partial<MetricSources> = {}): MetricSources {
  const local = { size: 2, evictions: 1 };
  return {
    watcher: { active: { snapshot: SNAPSHOT }, isReadable: true },
    files: { bytes: 4_096 },
    limiter: { local: { api: local, download: local, page: local } },
    connections: () => 5,
    redis: undefined,
    build: { version: '1.2.3', node: '20.0.0' },
    ...changes,
  };
}

/** The samples of a scrape, by name and labels as printed. */
async function scrape(metrics: Metrics, changes?: Partial<MetricSources>): Promise<Map<string, string>> {
  metrics.watch(sources(changes));
  return samplesOf(await metrics.read());
}

function samplesOf(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
  );
}

const ours = (samples: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...samples].filter(([name]) => name.startsWith('register_proxy_')));

describe('Metrics', () => {
  it('counts what is recorded', async () => {
    const metrics = new Metrics();
    metrics.responded('record', 200, 0.0004, 100);
    metrics.responded('record', 200, 0.002, 50);
    metrics.responded('record', 304, 0.0005, 0);
    metrics.responded('unrouted', 404, 100, 7);
    metrics.refused('download');
    metrics.cacheHit();
    metrics.cacheHit();
    metrics.cacheMiss();
    metrics.connectionDropped('client');
    expect(ours(await scrape(metrics))).toMatchObject({
      'register_proxy_requests_total{class="record",status="200"}': '2',
      'register_proxy_requests_total{class="record",status="304"}': '1',
      'register_proxy_requests_total{class="unrouted",status="404"}': '1',
      'register_proxy_response_bytes_total{class="record"}': '150',
      'register_proxy_response_bytes_total{class="unrouted"}': '7',
      'register_proxy_limiter_refusals_total{limiter="api"}': '0',
      'register_proxy_limiter_refusals_total{limiter="download"}': '1',
      register_proxy_cache_hits_total: '2',
      register_proxy_cache_misses_total: '1',
      'register_proxy_connections_dropped_total{reason="total"}': '0',
      'register_proxy_connections_dropped_total{reason="client"}': '1',
    });
  });

  it('has a histogram of durations whose buckets are cumulative and include their bound', async () => {
    const metrics = new Metrics();
    metrics.watch(sources());
    for (const seconds of [0.0001, 0.0005, 0.0006, 61]) metrics.responded('page', 200, seconds, 0);
    const samples = samplesOf(await metrics.read());
    const bucket = (bound: string): string | undefined =>
      samples.get(`register_proxy_request_duration_seconds_bucket{le="${bound}"}`);
    expect(['0.0005', '0.001', '60', '+Inf'].map(bucket)).toEqual(['2', '3', '3', '4']);
    expect(samples.get('register_proxy_request_duration_seconds_count')).toBe('4');
    expect(Number(samples.get('register_proxy_request_duration_seconds_sum'))).toBeCloseTo(61.0012);
  });

  it('reads the rest where it is kept, at each scrape', async () => {
    let open = 0;
    const connections = (): number => (open += 1);
    const metrics = new Metrics();
    metrics.watch(sources({ connections }));
    expect(await metrics.read()).toContain('\nregister_proxy_connections 1\n');
    expect(await metrics.read()).toContain('\nregister_proxy_connections 2\n');
    expect(ours(await scrape(new Metrics()))).toMatchObject({
      register_proxy_cache_bytes: '4096',
      'register_proxy_limiter_entries{limiter="page"}': '2',
      'register_proxy_limiter_evictions_total{limiter="api"}': '1',
      register_proxy_snapshot_sequence: '3',
      register_proxy_snapshot_as_of_timestamp_seconds: String(Date.parse(READ) / 1000),
      register_proxy_snapshot_built_timestamp_seconds: String(Date.parse(BUILT) / 1000),
      register_proxy_snapshot_readable: '1',
      'register_proxy_build_info{version="1.2.3",node="20.0.0"}': '1',
    });
  });

  it('says NaN where there is no value, and nothing of Redis where there is none', async () => {
    const none = await scrape(new Metrics(), {
      watcher: { active: { snapshot: undefined }, isReadable: false },
    });
    for (const name of ['snapshot_sequence', 'snapshot_built_timestamp_seconds']) {
      expect(none.get(`register_proxy_${name}`)).toBe('Nan');
    }
    expect(none.has('register_proxy_redis_up')).toBe(false);
    expect(none.get('register_proxy_snapshot_readable')).toBe('0');
    const empty = { active: { snapshot: { ...SNAPSHOT, as_of: null } }, isReadable: true };
    const samples = await scrape(new Metrics(), { watcher: empty });
    expect(samples.get('register_proxy_snapshot_as_of_timestamp_seconds')).toBe('Nan');
  });

  it('says whether Redis keeps the limits, and how often it did not', async () => {
    const samples = await scrape(new Metrics(), { redis: { isUp: false, fallbacks: 12 } });
    expect(samples.get('register_proxy_redis_up')).toBe('0');
    expect(samples.get('register_proxy_redis_fallbacks_total')).toBe('12');
  });

  it('follows the conventions that promtool checks', async () => {
    const metrics = new Metrics();
    metrics.responded('record', 200, 0.1, 1);
    metrics.watch(sources({ redis: { isUp: true, fallbacks: 0 } }));
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await metrics.read();
    expect(text).not.toMatch(/\n\n\n|[^\n]$/);
    const families = [...text.matchAll(/^# HELP (register_proxy_\S+) (.+)\n# TYPE (\S+) (\S+)$/gm)];
    expect(families.length).toBe(18);
    expect(new Set(families.map(([, name]) => name)).size).toBe(18);
    for (const [, name = '', help, again, type] of families) {
      expect(again).toBe(name);
      expect(help?.length).toBeGreaterThan(10);
      expect(`${name} ${type}`).toMatch(/_total counter$|_seconds histogram$|gauge$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(name).not.toMatch(/_(count|sum|bucket|ms|milliseconds|kb|counter|gauge|histogram)$|[A-Z]/);
    }
    for (const line of text.split('\n').filter((line) => line.startsWith('register_proxy_'))) {
      expect(line).toMatch(/^[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? [\d.e+-]+$/);
    }
  });
});
