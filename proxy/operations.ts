import express, { type Response } from 'express';
import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { BUCKETS, type BucketName } from './limiter/gcra.js';
import type { CacheClass, Snapshot } from './tree/schema.js';

/** The operations port: liveness, readiness, and metrics for Prometheus. */

/** The limit that closed a connection: --max-connections or --max-connections-per-client. */
const DROP_REASONS = ['total', 'client'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Sources of values that are not counted here; read on each scrape. */
export interface MetricSources {
  readonly snapshots: {
    readonly current: { readonly snapshot: Pick<Snapshot, 'sequence' | 'as_of' | 'built_at'> } | undefined;
    readonly isCurrent: boolean;
  };
  readonly files: { readonly bytes: number };
  readonly limits: {
    readonly local: Readonly<Record<BucketName, { readonly size: number; readonly evictions: number }>>;
  };
  readonly connections: () => number;
  /** Undefined without --redis. */
  readonly redis: { readonly isUp: boolean; readonly fallbacks: number } | undefined;
  readonly build: { readonly version: string; readonly node: string };
}

/** Upper bounds of the duration histogram: from memory, from disk, downloads. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const PREFIX = 'register_proxy_';

export class Metrics {
  readonly #registry = new Registry();
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
    registers: [this.#registry],
  });
  readonly #refusals = this.#counter('limiter_refusals_total', 'Requests refused by a limit', 'limiter');
  readonly #hits = this.#counter('cache_hits_total', 'Files served from memory');
  readonly #misses = this.#counter('cache_misses_total', 'Files that the disk was asked for');
  readonly #drops = this.#counter(
    'connections_dropped_total',
    'Connections closed without a response: too many in total, or of one client',
    'reason',
  );

  constructor() {
    for (const limiter of BUCKETS) this.#refusals.inc({ limiter }, 0);
    for (const reason of DROP_REASONS) this.#drops.inc({ reason }, 0);
  }

  /**
   * @param status undefined if the client left before
   * @param seconds from the request's headers to the end of its response
   * @param bytes of content handed to the connection
   */
  responded(
    responseClass: CacheClass | 'unrouted',
    status: number | undefined,
    seconds: number,
    bytes: number,
  ): void {
    this.#requests.inc({ class: responseClass, status: status ?? 'none' });
    if (bytes > 0) this.#bytes.inc({ class: responseClass }, bytes);
    this.#durations.observe(seconds);
  }

  refused(limiter: BucketName): void {
    this.#refusals.inc({ limiter });
  }

  lookedUp(cache: 'hit' | 'miss'): void {
    (cache === 'hit' ? this.#hits : this.#misses).inc();
  }

  connectionDropped(reason: DropReason): void {
    this.#drops.inc({ reason });
  }

  /** Adds what Node and others count; it is read on each scrape. */
  watch({ snapshots, files, limits: { local }, connections, redis, build }: MetricSources): void {
    // CPU, memory, descriptors, garbage collection, event-loop delay (nodejs_eventloop_lag_…).
    collectDefaultMetrics({ register: this.#registry });
    const snapshot = () => snapshots.current?.snapshot;
    this.#read('cache_bytes', 'Memory that the file cache takes', () => files.bytes);
    this.#byLimiter('limiter_entries', 'Clients in the local store of a limit', (name) => local[name].size);
    this.#byLimiter(
      'limiter_evictions_total',
      'Clients evicted although their bucket was not full',
      (name) => local[name].evictions,
    );
    if (redis !== undefined) {
      this.#read('redis_up', '1 if Redis keeps the limits, 0 if this process does', () => Number(redis.isUp));
      this.#read('redis_fallbacks_total', 'Requests decided without Redis', () => redis.fallbacks);
    }
    this.#read('connections', 'Open connections', connections);
    this.#read('snapshot_sequence', 'Sequence of the snapshot in service', () => snapshot()?.sequence);
    this.#read(
      'snapshot_as_of_timestamp_seconds',
      'Time of the newest measurement in the snapshot in service',
      () => toSeconds(snapshot()?.as_of),
    );
    this.#read('snapshot_built_timestamp_seconds', 'Time at which the snapshot in service was built', () =>
      toSeconds(snapshot()?.built_at),
    );
    this.#read('snapshot_readable', '0 if snapshot.json was missing or refused at the last look', () =>
      Number(snapshots.isCurrent),
    );
    new Gauge({
      name: `${PREFIX}build_info`,
      help: 'Versions of the proxy and of Node',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    }).set({ ...build }, 1);
  }

  /** The text that Prometheus scrapes. */
  read(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.#registry] });
  }

  /** A counter if it is a total, otherwise a gauge. @param read undefined for no value, which is NaN */
  #read(name: string, help: string, read: () => number | undefined): void {
    this.#readEach(name, help, [[{}, read]]);
  }

  #byLimiter(name: string, help: string, read: (name: BucketName) => number): void {
    const values = BUCKETS.map((limiter) => [{ limiter }, () => read(limiter)] as const);
    this.#readEach(name, help, values);
  }

  #readEach(
    name: string,
    help: string,
    values: readonly (readonly [labels: Record<string, string>, read: () => number | undefined])[],
  ): void {
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name: PREFIX + name,
      help,
      labelNames: Object.keys(values[0]?.[0] ?? {}),
      registers: [this.#registry],
      collect: () => {
        metric.reset();
        for (const [labels, read] of values) metric.inc(labels, read() ?? Number.NaN);
      },
    });
  }
}

function toSeconds(time: string | null | undefined): number | undefined {
  return typeof time === 'string' ? Date.parse(time) / 1000 : undefined;
}

/** Of the port for operations. */
const MAX_CONNECTIONS = 100;
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/**
 * The server of the port for operations, not listening yet. It has no limits and no access control,
 * and must not be public.
 */
export function createAdminServer(
  metrics: Pick<Metrics, 'contentType' | 'read'>,
  readiness: () => Readiness,
): Server {
  const app = express().disable('x-powered-by').disable('etag').set('env', 'production');
  app.use((_request, response, next) => {
    response.set(NO_STORE);
    next();
  });
  app.get('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  app.get('/readyz', (_request, response) => {
    const { status, body } = readiness();
    sendJson(response, status, body);
  });
  app.get('/metrics', async (_request, response) => {
    response.set('Content-Type', metrics.contentType).send(await metrics.read());
  });
  const server = createServer(app);
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function sendJson(response: Response, status: number, body: object): void {
  response
    .status(status)
    .type('json')
    .send(`${JSON.stringify(body)}\n`);
}

/** The response of /readyz. */
export interface Readiness {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
}

export interface ReadinessFacts {
  /** In service. */
  readonly snapshot: Pick<Snapshot, 'sequence' | 'as_of' | 'built_at'> | undefined;
  /** Whether snapshot.json, at the last look, was the one in service. */
  readonly isCurrent: boolean;
  readonly isStopping: boolean;
  /** Time of day. */
  readonly nowMs: number;
  /** The maximum age of the snapshot; undefined for any. */
  readonly maxAgeMs: number | undefined;
}

/** Whether this process should receive requests, and why not. */
export function describeReadiness(facts: ReadinessFacts): Readiness {
  const { snapshot, isCurrent, isStopping, nowMs, maxAgeMs = Number.POSITIVE_INFINITY } = facts;
  if (snapshot === undefined) {
    return { status: 503, body: { ready: false, reason: isStopping ? 'stopping' : 'no snapshot yet' } };
  }
  const { sequence, as_of, built_at } = snapshot;
  // Not below 0 if the builder's clock is ahead.
  const ageMs = Math.max(0, nowMs - Date.parse(built_at));
  const body = { sequence, as_of, built_at, age_seconds: Math.floor(ageMs / 1000) };
  const unready = (reason: string): Readiness => ({ status: 503, body: { ready: false, reason, ...body } });
  if (isStopping) return unready('stopping');
  if (!isCurrent) return unready('snapshot.json is missing or was refused; the log says why');
  if (ageMs > maxAgeMs) return unready(`the snapshot was built more than ${maxAgeMs / 1000} s ago`);
  return { status: 200, body: { ready: true, ...body } };
}
