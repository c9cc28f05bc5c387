import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import type { App } from './app.js';
import type { SnapshotFollower } from './follower.js';
import type { PolicyName } from './headers.js';
import { ageOf } from './readiness.js';
import type { HttpServer } from './server.js';

/** What is read when somebody scrapes. */
export interface MetricSources {
  readonly app: App;
  readonly follower: SnapshotFollower;
  readonly connections: HttpServer['connections'];
  /** Time of day, in milliseconds since 1970. */
  readonly now: () => number;
}

const PREFIX = 'register_proxy_';
const LIMITERS = ['api', 'download'] as const satisfies readonly PolicyName[];

/** All metrics. Nothing is counted here: every value is read from where it is kept anyway, at scrape time. */
export function createMetrics({ app, follower, connections, now }: MetricSources): Registry {
  const { tally, contents, limits } = app;
  const registry = new Registry();
  const registers = [registry];
  // CPU, memory, file descriptors, garbage collection, event-loop delay (nodejs_eventloop_lag_…).
  collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string, read: () => number): void => {
    const metric: Counter = new Counter({
      name: `${PREFIX}${name}`,
      help,
      registers,
      collect: (): void => {
        metric.reset();
        metric.inc(read());
      },
    });
  };
  const gauge = (name: string, help: string, read: () => number): void => {
    const metric: Gauge = new Gauge({
      name: `${PREFIX}${name}`,
      help,
      registers,
      collect: (): void => metric.set(read()),
    });
  };
  /** Totals by limit. */
  const limiterCounter = (name: string, help: string, read: (limiter: PolicyName) => number): void => {
    const metric: Counter<'limiter'> = new Counter({
      name: `${PREFIX}limiter_${name}`,
      help,
      labelNames: ['limiter'],
      registers,
      collect: (): void => {
        metric.reset();
        for (const limiter of LIMITERS) metric.inc({ limiter }, read(limiter));
      },
    });
  };

  const requests: Counter<'class' | 'status'> = new Counter({
    name: `${PREFIX}requests_total`,
    help: 'Requests answered, by class of route and by status',
    labelNames: ['class', 'status'],
    registers,
    collect: (): void => {
      requests.reset();
      for (const { answerClass, status, count } of tally.answers()) {
        requests.inc({ class: answerClass, status }, count);
      }
    },
  });
  limiterCounter('refusals_total', 'Requests refused by a limit', (limiter) => tally.refusals[limiter]);
  limiterCounter(
    'evictions_total',
    'Clients forgotten for want of room while tokens of theirs were in use',
    (limiter) => {
      return limits[limiter].evictions;
    },
  );
  const entries: Gauge<'limiter'> = new Gauge({
    name: `${PREFIX}limiter_entries`,
    help: 'Clients that a limit of this process remembers',
    labelNames: ['limiter'],
    registers,
    collect: (): void => {
      for (const limiter of LIMITERS) entries.set({ limiter }, limits[limiter].size);
    },
  });

  counter('cache_hits_total', 'Files answered from memory', () => tally.cache.hits);
  counter('cache_misses_total', 'Files for which the file system was asked', () => tally.cache.misses);
  gauge('cache_bytes', 'Memory the content cache takes', () => contents.bytes);
  gauge('connections', 'Open connections', connections);
  counter('connections_dropped_total', 'Connections closed unanswered since there were too many', () => {
    return tally.droppedConnections;
  });
  // NaN is how Prometheus says that there is no value.
  gauge('prototypes_kept', '1 if Express leaves requests their prototype, 0 if that slows it down', () => {
    return Number(app.keepsPrototypes() ?? Number.NaN);
  });
  gauge('snapshot_sequence', 'Sequence of the snapshot in service', () => {
    return follower.snapshot?.sequence ?? Number.NaN;
  });
  gauge('snapshot_age_seconds', 'Seconds since the snapshot in service was built', () => {
    return follower.snapshot === undefined ? Number.NaN : ageOf(follower.snapshot, now()) / 1000;
  });
  return registry;
}
