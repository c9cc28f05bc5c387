import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { Metrics, type MetricSources } from '../../../proxy/ops/metrics.js';
import { PROJECT } from '../../support/project.js';

const BUILT = '2026-11-20T09:00:00Z';
const READ = '2026-11-20T08:00:00Z';
const SNAPSHOT = { sequence: 3, as_of: READ, built_at: BUILT };

function sources(changes: Partial<MetricSources> = {}): MetricSources {
  const local = { size: 2, evictions: 1 };
  return {
    watcher: { active: { snapshot: SNAPSHOT }, isReadable: true },
    files: { bytes: 4_096 },
    limits: { local: { api: local, download: local, page: local } },
    connections: () => 5,
    redis: undefined,
    build: { version: '1.2.3', node: '20.0.0' },
    ...changes,
  };
}

/** Our samples of a scrape, by name without the prefix and labels as printed. */
async function scrape(metrics: Metrics, changes?: Partial<MetricSources>) {
  metrics.watch(sources(changes));
  const samples = (await metrics.read()).matchAll(/^register_proxy_(\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name = '', value]) => [name, value]));
}

describe('Metrics', () => {
  it('has a histogram of durations whose buckets are cumulative and include their bound', async () => {
    const metrics = new Metrics();
    for (const seconds of [0.0001, 0.0005, 0.0006, 61]) metrics.responded('page', 200, seconds, 0);
    const samples = await scrape(metrics);
    const bounds = ['0.0005', '0.001', '60', '+Inf'];
    const counts = bounds.map((bound) => samples[`request_duration_seconds_bucket{le="${bound}"}`]);
    expect(counts.join(' ')).toBe('2 3 3 4');
    expect(samples['request_duration_seconds_count']).toBe('4');
    expect(Number(samples['request_duration_seconds_sum'])).toBeCloseTo(61.0012);
  });

  it('says NaN where there is no value, and of Redis only if there is one', async () => {
    const watcher = { active: undefined, isReadable: false };
    const none = await scrape(new Metrics(), { watcher });
    expect(none).toMatchObject({
      snapshot_sequence: 'Nan',
      snapshot_built_timestamp_seconds: 'Nan',
      snapshot_readable: '0',
    });
    expect(none).not.toHaveProperty('redis_up');
    const empty = { active: { snapshot: { ...SNAPSHOT, as_of: null } }, isReadable: true };
    const samples = await scrape(new Metrics(), { watcher: empty, redis: { isUp: false, fallbacks: 12 } });
    expect(samples).toMatchObject({
      snapshot_as_of_timestamp_seconds: 'Nan',
      redis_up: '0',
      redis_fallbacks_total: '12',
    });
  });
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
  metrics.watch(sources({ redis: { isUp: true, fallbacks: 0 } }));
  return [...(await metrics.read()).matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
};

describe('the alerts and the dashboard of deploy/', () => {
  it.each(['prometheus-alerts.yml', 'grafana-dashboard.json'])(
    'name metrics that exist: %s',
    async (file) => {
      const used = namesIn(file);
      expect(await exposed()).toEqual(expect.arrayContaining(used));
      expect(used.length).toBeGreaterThan(5);
    },
  );

  it('show every metric of the proxy on the dashboard', async () => {
    const ours = (await exposed()).filter((name) => name.startsWith('register_proxy_'));
    expect(namesIn('grafana-dashboard.json')).toEqual(expect.arrayContaining(ours));
  });
});
