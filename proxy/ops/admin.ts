import express, { type Response } from 'express';
import { createServer, type Server } from 'node:http';

import type { Snapshot } from '../snapshot/schema.js';
import type { Metrics } from './metrics.js';

/**
 * The operations port: liveness, readiness and metrics. It has no limits and no access control, and
 * must not be public.
 */

const MAX_CONNECTIONS = 100;
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** The server, not listening yet. */
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
  /** Whether snapshot.json was present and accepted by the last poll. */
  readonly isReadable: boolean;
  readonly isStopping: boolean;
  /** Time of day. */
  readonly nowMs: number;
  /** The maximum age of the snapshot; undefined for any. */
  readonly maxAgeMs: number | undefined;
}

/** Whether this process should receive requests, and why not. */
export function describeReadiness(facts: ReadinessFacts): Readiness {
  const { snapshot, isReadable, isStopping, nowMs, maxAgeMs = Number.POSITIVE_INFINITY } = facts;
  if (snapshot === undefined) {
    return { status: 503, body: { ready: false, reason: isStopping ? 'stopping' : 'no snapshot yet' } };
  }
  const { sequence, as_of, built_at } = snapshot;
  // Not below 0 if the builder's clock is ahead.
  const ageMs = Math.max(0, nowMs - Date.parse(built_at));
  const body = { sequence, as_of, built_at, age_seconds: Math.floor(ageMs / 1000) };
  const unready = (reason: string): Readiness => ({ status: 503, body: { ready: false, reason, ...body } });
  if (isStopping) return unready('stopping');
  if (!isReadable) return unready('snapshot.json is missing or was refused; the log says why');
  if (ageMs > maxAgeMs) return unready(`the snapshot was built more than ${maxAgeMs / 1000} s ago`);
  return { status: 200, body: { ready: true, ...body } };
}
