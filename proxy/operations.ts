import express, { type Response } from 'express';
import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { Limits } from './limiter/buckets.js';
import { BUCKETS, type BucketName } from './limiter/gcra.js';
import type { RedisBuckets } from './limiter/redis.js';
import type { Files } from './tree/files.js';
import type { Snapshots } from './tree/snapshot.js';

/** The operations port: liveness, readiness, and metrics for Prometheus. */

/** What other parts of the proxy count; read on each scrape. */
export interface MetricSources {
  readonly snapshots: Pick<Snapshots, 'current' | 'isCurrent'>;
  readonly files: Pick<Files, 'bytes'>;
  readonly limits: Pick<Limits, 'local'>;
  readonly connections: () => number;
  /** Undefined without --redis. */
  readonly redis: Pick<RedisBuckets, 'isUp' | 'fallbacks'> | undefined;
  readonly build: { readonly version: string; readonly node: string };
}

/** A value with its labels; undefined is exposed as NaN. */
type Sample = readonly [labels: Record<string, string>, value: number | undefined];

/** Upper bounds of the duration histogram: from memory, from disk, downloads. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const PREFIX = 'register_proxy_';

/** Counts what the proxy does. */
export class Metrics {
  readonly registry = new Registry();
  /** By the name of the bucket. */
  readonly refusals = this.#counter('limiter_refusals_total', 'Requests refused by a limit', 'limiter');
  readonly lookups = {
    hit: this.#counter('cache_hits_total', 'Files served from memory'),
    miss: this.#counter('cache_misses_total', 'Files that the disk was asked for'),
  };
  /** By the limit: --max-connections or --max-connections-per-client. */
  readonly drops = this.#counter(
    'connections_dropped_total',
    'Connections closed without a response: too many in total, or of one client',
    'reason',
  );
  readonly #requests = this.#counter(
    'requests_total',
    'Responses by class of route and status',
    'class',
    'status',
  );
  readonly #bytes = this.#counter('response_bytes_total', 'Content handed to connections', 'class');
  readonly #durations = new Histogram({
    name: `${PREFIX}request_duration_seconds`,
    help: 'Time to the end of a response',
    buckets: DURATION_BUCKETS,
    registers: [this.registry],
  });

  constructor() {
    for (const limiter of BUCKETS) this.refusals.inc({ limiter }, 0);
    for (const reason of ['total', 'client']) this.drops.inc({ reason }, 0);
  }

  /** Counts a response. @param status null if the client left before @param bytes content that was sent */
  responded(routeClass: string, status: number | null, seconds: number, bytes: number): void {
    this.#requests.inc({ class: routeClass, status: status ?? 'none' });
    if (bytes > 0) this.#bytes.inc({ class: routeClass }, bytes);
    this.#durations.observe(seconds);
  }

  /** Adds metrics of Node and of other parts of the proxy. */
  watch({ snapshots, files, limits: { local }, connections, redis, build }: MetricSources): void {
    // CPU, memory, descriptors, garbage collection, event-loop delay (nodejs_eventloop_lag_…).
    collectDefaultMetrics({ register: this.registry });
    const add = (name: string, help: string, read: () => number | undefined): void =>
      this.#add(name, help, () => [[{}, read()]]);
    const addByBucket = (name: string, help: string, read: (name: BucketName) => number): void =>
      this.#add(name, help, () => BUCKETS.map((limiter) => [{ limiter }, read(limiter)]));
    const snapshot = () => snapshots.current?.snapshot;

    add('cache_bytes', 'Memory that the file cache takes', () => files.bytes);
    addByBucket('limiter_entries', 'Clients in the local store of a limit', (name) => local[name].size);
    const evicted = 'Clients evicted although their bucket was not full';
    addByBucket('limiter_evictions_total', evicted, (name) => local[name].evictions);
    add('connections', 'Open connections', connections);
    add('snapshot_sequence', 'Sequence of the snapshot in service', () => snapshot()?.sequence);
    const asOf = 'Time of the newest measurement in the snapshot in service';
    add('snapshot_as_of_timestamp_seconds', asOf, () => toSeconds(snapshot()?.as_of));
    const builtAt = 'Time at which the snapshot in service was built';
    add('snapshot_built_timestamp_seconds', builtAt, () => toSeconds(snapshot()?.built_at));
    const isReadable = '0 if snapshot.json was missing or refused at the last look';
    add('snapshot_readable', isReadable, () => Number(snapshots.isCurrent));
    this.#add('build_info', 'Versions of the proxy and of Node', () => [[build, 1]]);
    if (redis === undefined) return;
    add('redis_up', '1 if Redis keeps the limits, 0 if this process does', () => Number(redis.isUp));
    add('redis_fallbacks_total', 'Requests decided without Redis', () => redis.fallbacks);
  }

  #counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  /** A counter if it is a total, otherwise a gauge. */
  #add(name: string, help: string, read: () => Sample[]): void {
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name: PREFIX + name,
      help,
      labelNames: Object.keys(read()[0]?.[0] ?? {}),
      registers: [this.registry],
      collect: () => {
        metric.reset();
        for (const [labels, value = Number.NaN] of read()) metric.inc(labels, value);
      },
    });
  }
}

const toSeconds = (time: string | null | undefined): number | undefined =>
  typeof time === 'string' ? Date.parse(time) / 1000 : undefined;

const MAX_CONNECTIONS = 100;
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

function sendJson(response: Response, status: number, body: object): void {
  response
    .status(status)
    .set(NO_STORE)
    .type('json')
    .send(`${JSON.stringify(body)}\n`);
}

/** The server of the operations port, not listening yet. It has no access control: it must not be public. */
export function createAdminServer(
  { registry }: Pick<Metrics, 'registry'>,
  readiness: () => ReturnType<typeof describeReadiness>,
): Server {
  const app = express().disable('x-powered-by').disable('etag').set('env', 'production');
  app.get('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  app.get('/readyz', (_request, response) => {
    const body = readiness();
    sendJson(response, body.ready ? 200 : 503, body);
  });
  app.get('/metrics', async (_request, response) => {
    response
      .set(NO_STORE)
      .set('Content-Type', registry.contentType)
      .send(await registry.metrics());
  });
  const server = createServer(app);
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Whether this process should receive requests, and why not. */
export function describeReadiness(
  { current, isCurrent }: MetricSources['snapshots'],
  isStopping: boolean,
  maxAgeSeconds = Number.POSITIVE_INFINITY,
) {
  if (current === undefined) return { ready: false, reason: isStopping ? 'stopping' : 'no snapshot yet' };
  const { sequence, as_of, built_at } = current.snapshot;
  // Not below 0 if the builder's clock is ahead.
  const ageSeconds = Math.max(0, (Date.now() - Date.parse(built_at)) / 1000);
  let reason: string | undefined;
  if (isStopping) reason = 'stopping';
  else if (!isCurrent) reason = 'snapshot.json is missing or was refused; the log says why';
  else if (ageSeconds > maxAgeSeconds) reason = `the snapshot was built more than ${maxAgeSeconds} s ago`;
  const about = { sequence, as_of, built_at, age_seconds: Math.floor(ageSeconds) };
  return { ready: reason === undefined, reason, ...about };
}
