import type { ResponseClass } from '../http/headers.js';
import type { BucketName } from '../limiter/middleware.js';
import type { Snapshot } from '../tree/snapshot.js';

/** What the proxy counts, and its exposition for Prometheus. */

/** Why a connection was closed unanswered: --max-connections or --max-connections-per-client. */
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

/** Where values are kept that are not counted here. They are read when somebody scrapes. */
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
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** Statuses are three digits (RFC 9110 §15). */
const STATUSES = 1_000;
const PREFIX = 'register_proxy_';

class ClassCounts {
  readonly statuses = new Float64Array(STATUSES);
  /** Responses by the first bound that their duration does not exceed; the last is beyond all. */
  readonly durations = new Float64Array(BOUNDS.length + 1);
  seconds = 0;
  bytes = 0;
}

/**
 * Counts in plain numbers and typed arrays. To record a response by prom-client's counter and histogram
 * takes 2 µs (measured), 8 % of a request from memory.
 */
export function createMetrics(): Metrics {
  const byClass: Readonly<Record<ResponseClass, ClassCounts>> = {
    record: new ClassCounts(),
    summary: new ClassCounts(),
    download: new ClassCounts(),
    feed: new ClassCounts(),
    page: new ClassCounts(),
    asset: new ClassCounts(),
    unrouted: new ClassCounts(),
  };
  const refusals: Record<BucketName, number> = { api: 0, download: 0, page: 0 };
  const drops: Record<DropReason, number> = { total: 0, client: 0 };
  const lookups = { hits: 0, misses: 0 };

  const families = ({ watcher, files, limiter, connections, redis, build }: MetricSources): string[] => {
    const { snapshot } = watcher.active;
    const { local } = limiter;
    const classes = Object.entries(byClass).filter(([, { durations }]) => durations.some(Boolean));
    const bytes = classes.map(([name, counts]): Sample => [counts.bytes, { class: name }]);
    return [
      family('requests_total', 'Responses by class of route and status', classes.flatMap(statusSamples)),
      family('request_duration_seconds', 'Time to the end of a response', classes.flatMap(histogramSamples)),
      family('response_bytes_total', 'Content handed to connections', bytes),
      family('cache_hits_total', 'Files served from memory', lookups.hits),
      family('cache_misses_total', 'Files for which the file system was asked', lookups.misses),
      family('cache_bytes', 'Memory the file cache takes', files.bytes),
      family('limiter_refusals_total', 'Requests refused', labelled('limiter', refusals, Number)),
      family(
        'limiter_evictions_total',
        'Clients evicted from the local store although their bucket was not full',
        labelled('limiter', local, ({ evictions }) => evictions),
      ),
      family(
        'limiter_entries',
        'Clients in the local store',
        labelled('limiter', local, ({ size }) => size),
      ),
      family('redis_up', '1 if Redis keeps the limits, 0 if this process does', redis && Number(redis.isUp)),
      family('redis_fallbacks_total', 'Requests decided without Redis', redis?.fallbacks),
      family('connections', 'Open connections', connections()),
      family(
        'connections_dropped_total',
        'Connections closed unanswered: too many in total, or of one client',
        labelled('reason', drops, Number),
      ),
      family('snapshot_sequence', 'Sequence of the snapshot in service', snapshot?.sequence),
      family('snapshot_as_of_timestamp_seconds', 'Newest reading in service', secondsOf(snapshot?.as_of)),
      family(
        'snapshot_built_timestamp_seconds',
        'Build of what is in service',
        secondsOf(snapshot?.built_at),
      ),
      family('snapshot_readable', '0 if snapshot.json is missing or refused', Number(watcher.isReadable)),
      family('build_info', 'Versions of the proxy and of Node', [[1, build]]),
    ];
  };

  return {
    responded(responseClass, status, seconds, bytes) {
      const counts = byClass[responseClass];
      counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
      let bound = 0;
      while (seconds > (BOUNDS[bound] ?? Number.POSITIVE_INFINITY)) bound += 1;
      counts.durations[bound] = (counts.durations[bound] ?? 0) + 1;
      counts.seconds += seconds;
      counts.bytes += bytes;
    },
    refused(bucket) {
      refusals[bucket] += 1;
    },
    cacheHit() {
      lookups.hits += 1;
    },
    cacheMiss() {
      lookups.misses += 1;
    },
    connectionDropped(reason) {
      drops[reason] += 1;
    },
    async watch(sources) {
      const { collectDefaultMetrics, Registry } = await import('prom-client');
      const registry = new Registry();
      // CPU, memory, file descriptors, garbage collection, event-loop delay (nodejs_eventloop_lag_…).
      collectDefaultMetrics({ register: registry });
      return {
        contentType: registry.contentType,
        read: async () => [...families(sources), await registry.metrics()].join('\n'),
      };
    },
  };
}

type Sample = readonly [value: number, labels: Readonly<Record<string, string | number>>, suffix?: string];

/**
 * A metric in Prometheus' text format. Its name says its type, as the conventions have it. One without a
 * value has no samples.
 */
function family(name: string, help: string, value: readonly Sample[] | number | undefined): string {
  const samples: readonly Sample[] = typeof value === 'number' ? [[value, {}]] : (value ?? []);
  const type = name.endsWith('_total')
    ? 'counter'
    : name.endsWith('_duration_seconds')
      ? 'histogram'
      : 'gauge';
  const lines = samples.map(([sample, labels, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(String(text))}`);
    return `${PREFIX}${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${sample}`;
  });
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`, ...lines, ''].join('\n');
}

function labelled<T>(
  label: string,
  record: Readonly<Record<string, T>>,
  read: (value: T) => number,
): Sample[] {
  return Object.entries(record).map(([name, value]) => [read(value), { [label]: name }]);
}

function statusSamples([name, { statuses }]: [string, ClassCounts]): Sample[] {
  const counted = [...statuses.entries()].filter(([, count]) => count > 0);
  return counted.map(([status, count]) => [count, { class: name, status }]);
}

/** Buckets are cumulative. */
function histogramSamples([name, { durations, seconds }]: [string, ClassCounts]): Sample[] {
  let total = 0;
  const buckets = [...durations.entries()].map(([index, count]): Sample => {
    total += count;
    return [total, { class: name, le: BOUNDS[index] ?? '+Inf' }, '_bucket'];
  });
  return [...buckets, [seconds, { class: name }, '_sum'], [total, { class: name }, '_count']];
}

function secondsOf(time: string | null | undefined): number | undefined {
  return typeof time === 'string' ? Date.parse(time) / 1000 : undefined;
}
