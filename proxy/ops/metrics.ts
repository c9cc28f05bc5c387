import { byClass, type ResponseClass } from '../snapshot/headers.js';
import { BUCKETS, type BucketName } from '../limiter/gcra.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** Metrics of the proxy, and their exposition for Prometheus. */

/** The limit that closed a connection: --max-connections or --max-connections-per-client. */
export type DropReason = 'total' | 'client';

export interface Metrics {
  /**
   * @param seconds from the request's headers to the end of its response
   * @param bytes of content handed to the connection
   */
  responded(responseClass: ResponseClass, status: number, seconds: number, bytes: number): void;
  refused(bucket: BucketName): void;
  cacheHit(): void;
  cacheMiss(): void;
  connectionDropped(reason: DropReason): void;
  /** Loads prom-client, which only --admin-port needs. */
  watch(sources: MetricSources): Promise<Exposition>;
}

/** Sources of values that are not counted here; read on each scrape. */
export interface MetricSources {
  readonly watcher: {
    readonly active: {
      readonly snapshot: Pick<Snapshot, 'sequence' | 'as_of' | 'built_at'> | undefined;
    };
    readonly isReadable: boolean;
  };
  readonly files: { readonly bytes: number };
  readonly limiter: {
    readonly local: Readonly<Record<BucketName, { readonly size: number; readonly evictions: number }>>;
  };
  readonly connections: () => number;
  /** Undefined without --redis. */
  readonly redis: { readonly isUp: boolean; readonly fallbacks: number } | undefined;
  readonly build: { readonly version: string; readonly node: string };
}

/** The text that Prometheus scrapes. */
export interface Exposition {
  readonly contentType: string;
  readonly read: () => Promise<string>;
}

/** Upper bounds of the duration histogram: from memory, from disk, downloads. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** Statuses have three digits (RFC 9110 §15). */
const STATUSES = 1_000;
const PREFIX = 'register_proxy_';

/** Plain numbers per class, since finding labels in a counter of prom-client takes 1 us. */
class ClassCounts {
  readonly statuses = new Float64Array(STATUSES);
  bytes = 0;
}

export function createMetrics(): Metrics {
  const classes: Readonly<Record<ResponseClass, ClassCounts>> = {
    ...byClass(() => new ClassCounts()),
    unrouted: new ClassCounts(),
  };
  const refusals: Record<BucketName, number> = { api: 0, download: 0, page: 0 };
  const drops: Record<DropReason, number> = { total: 0, client: 0 };
  const cache = { hits: 0, misses: 0 };
  /** Undefined until `watch` is called. */
  let observeSeconds: ((seconds: number) => void) | undefined;

  return {
    responded(responseClass, status, seconds, bytes) {
      const counts = classes[responseClass];
      counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
      counts.bytes += bytes;
      observeSeconds?.(seconds);
    },
    refused(bucket) {
      refusals[bucket] += 1;
    },
    cacheHit() {
      cache.hits += 1;
    },
    cacheMiss() {
      cache.misses += 1;
    },
    connectionDropped(reason) {
      drops[reason] += 1;
    },
    async watch({ watcher, files, limiter, connections, redis, build }) {
      const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
      const registry = new Registry();
      const registers = [registry];
      // CPU, memory, descriptors, garbage collection, event-loop delay (nodejs_eventloop_lag_…).
      collectDefaultMetrics({ register: registry });

      /** Defines a metric whose samples are read on each scrape. NaN means no value. */
      const define = (
        Metric: typeof Counter | typeof Gauge,
        name: string,
        help: string,
        samples: () => Iterable<readonly [number | undefined, Record<string, string | number>?]>,
        labelNames: string[] = [],
      ): void => {
        const metric: InstanceType<typeof Metric> = new Metric({
          name: PREFIX + name,
          help,
          labelNames,
          registers,
          collect() {
            metric.reset();
            for (const [value = Number.NaN, labels = {}] of samples()) metric.inc(labels, value);
          },
        });
      };

      const durations = new Histogram({
        name: `${PREFIX}request_duration_seconds`,
        help: 'Time to the end of a response',
        buckets: DURATION_BUCKETS,
        registers,
      });
      observeSeconds = (seconds) => durations.observe(seconds);
      define(
        Counter,
        'requests_total',
        'Responses by class of route and status',
        function* () {
          for (const [name, { statuses }] of Object.entries(classes)) {
            for (const [status, count] of statuses.entries()) {
              if (count > 0) yield [count, { class: name, status }];
            }
          }
        },
        ['class', 'status'],
      );
      define(
        Counter,
        'response_bytes_total',
        'Content handed to connections',
        function* () {
          for (const [name, { bytes }] of Object.entries(classes)) yield [bytes, { class: name }];
        },
        ['class'],
      );
      define(Counter, 'cache_hits_total', 'Files served from memory', () => [[cache.hits]]);
      define(Counter, 'cache_misses_total', 'Files that the disk was asked for', () => [[cache.misses]]);
      define(Gauge, 'cache_bytes', 'Memory that the file cache takes', () => [[files.bytes]]);
      const limiterLabels = ['limiter'];
      define(
        Counter,
        'limiter_refusals_total',
        'Requests refused by a limit',
        byLimiter((name) => refusals[name]),
        limiterLabels,
      );
      define(
        Counter,
        'limiter_evictions_total',
        'Clients evicted although their bucket was not full',
        byLimiter((name) => limiter.local[name].evictions),
        limiterLabels,
      );
      define(
        Gauge,
        'limiter_entries',
        'Clients in the local store of a limit',
        byLimiter((name) => limiter.local[name].size),
        limiterLabels,
      );
      if (redis !== undefined) {
        define(Gauge, 'redis_up', '1 if Redis keeps the limits, 0 if this process does', () => [
          [Number(redis.isUp)],
        ]);
        define(Counter, 'redis_fallbacks_total', 'Requests decided without Redis', () => [[redis.fallbacks]]);
      }
      define(Gauge, 'connections', 'Open connections', () => [[connections()]]);
      define(
        Counter,
        'connections_dropped_total',
        'Connections closed without a response: too many in total, or of one client',
        () => [
          [drops.total, { reason: 'total' }],
          [drops.client, { reason: 'client' }],
        ],
        ['reason'],
      );
      const snapshot = (): MetricSources['watcher']['active']['snapshot'] => watcher.active.snapshot;
      define(Gauge, 'snapshot_sequence', 'Sequence of the snapshot in service', () => [
        [snapshot()?.sequence],
      ]);
      define(
        Gauge,
        'snapshot_as_of_timestamp_seconds',
        'Time of the newest measurement in the snapshot in service',
        () => [[secondsOf(snapshot()?.as_of)]],
      );
      define(
        Gauge,
        'snapshot_built_timestamp_seconds',
        'Time at which the snapshot in service was built',
        () => [[secondsOf(snapshot()?.built_at)]],
      );
      define(Gauge, 'snapshot_readable', '0 if snapshot.json was missing or refused at the last look', () => [
        [Number(watcher.isReadable)],
      ]);
      define(Gauge, 'build_info', 'Versions of the proxy and of Node', () => [[1, build]], [
        'version',
        'node',
      ]);

      return { contentType: registry.contentType, read: () => registry.metrics() };
    },
  };
}

/** One sample per limit. */
const byLimiter = (read: (name: BucketName) => number) => (): [number, Record<string, string>][] =>
  BUCKETS.map((name) => [read(name), { limiter: name }]);

function secondsOf(time: string | null | undefined): number | undefined {
  return typeof time === 'string' ? Date.parse(time) / 1000 : undefined;
}
