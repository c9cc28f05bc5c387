/** The metrics that the alerts and the dashboard of deploy/ read, compared with those of the proxy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../proxy/ops/metrics.js';
import { PROJECT } from '../support/folder.js';

const read = (file: string): string => readFileSync(join(PROJECT, 'deploy', file), 'utf8');

/** The names that a text has, of metrics of the proxy and of its process. */
function namesIn(text: string): ReadonlySet<string> {
  const names = text.match(/\b(?:register_proxy|process|nodejs)_[a-z0-9_]+/g) ?? [];
  // A histogram has three series for its name.
  return new Set(names.map((name) => name.replace(/_bucket$/, '')));
}

/** The names of all that the proxy exposes, with Redis. */
async function exposed(): Promise<ReadonlySet<string>> {
  const local = { size: 0, evictions: 0 };
  const metrics = new Metrics();
  metrics.watch({
    watcher: { active: { snapshot: undefined }, isReadable: true },
    files: { bytes: 0 },
    limiter: { local: { api: local, download: local, page: local } },
    connections: () => 0,
    redis: { isUp: true, fallbacks: 0 },
    build: { version: '1.2.3', node: '20.0.0' },
  });
  const families = (await metrics.read()).matchAll(/^# TYPE (\S+) /gm);
  return new Set([...families].map(([, name = '']) => name));
}

describe('The alerts and the dashboard', () => {
  it.each(['prometheus-alerts.yml', 'grafana-dashboard.json'])(
    '%s names metrics that exist',
    async (file) => {
      const real = await exposed();
      const used = namesIn(read(file));
      expect([...used].filter((name) => !real.has(name))).toEqual([]);
      expect(used.size).toBeGreaterThan(5);
    },
  );

  it('show every metric of the proxy on the dashboard', async () => {
    const used = namesIn(read('grafana-dashboard.json'));
    const ours = [...(await exposed())].filter((name) => name.startsWith('register_proxy_'));
    expect(ours.filter((name) => !used.has(name))).toEqual([]);
  });
});
