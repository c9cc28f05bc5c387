import { createServer, type Server, type ServerResponse } from 'node:http';

import type { Snapshot } from '../snapshot/schema.js';
import type { Metrics } from './metrics.js';

/**
 * The operations port: liveness, readiness and metrics. It has no limits and no access control, and
 * must not be public.
 */

const MAX_CONNECTIONS = 100;
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

interface AdminResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** The server, not listening yet. */
export function createAdminServer(
  metrics: Pick<Metrics, 'contentType' | 'read'>,
  readiness: () => Readiness,
): Server {
  const pages: Readonly<Record<string, () => AdminResponse | Promise<AdminResponse>>> = {
    '/healthz': () => json(200, { status: 'ok' }),
    '/readyz': () => {
      const { status, body } = readiness();
      return json(status, body);
    },
    '/metrics': async () => ({ status: 200, type: metrics.contentType, body: await metrics.read() }),
  };

  const respond = async (method: string, path: string): Promise<AdminResponse> => {
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return json(404, { error: `expected one of ${Object.keys(pages).join(', ')}` });
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'expected GET or HEAD' });
    try {
      return await page();
    } catch (error) {
      return json(500, { error: String(error) });
    }
  };

  const handle = async (method: string, url: string, response: ServerResponse): Promise<void> => {
    const [path = ''] = url.split('?', 1);
    const { status, type, body } = await respond(method, path);
    const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
    const length = Buffer.byteLength(body);
    response.writeHead(status, { ...NO_STORE, ...allow, 'Content-Type': type, 'Content-Length': length });
    response.end(method === 'HEAD' ? undefined : body);
  };

  const server = createServer(({ method = '', url = '' }, response) => {
    void handle(method, url, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function json(status: number, body: object): AdminResponse {
  return { status, type: 'application/json', body: `${JSON.stringify(body)}\n` };
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
