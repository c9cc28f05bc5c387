import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

import type { Readiness } from './readiness.js';

/**
 * Operations, on a port of their own that only this machine reaches: whether the process lives, whether it
 * should be sent requests, and what it counts.
 */

/** The only address this is for: it says more than the public should read, and has no limits of its own. */
export const ADMIN_HOST = '127.0.0.1';

const MAX_CONNECTIONS = 100;
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * The server, not listening yet.
 *
 * @param readiness asks the file system for a new snapshot first, since an idle proxy does not
 */
export function createAdminServer(registry: Registry, readiness: () => Promise<Readiness>): Server {
  const pages: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const { status, body } = await readiness();
      return json(status, body);
    },
    '/metrics': async () => {
      await readiness();
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    },
  };

  const answer = async (method: string, path: string): Promise<Answer> => {
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return json(404, { error: `expected one of ${Object.keys(pages).join(', ')}` });
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'expected GET or HEAD' });
    try {
      return await page();
    } catch (error) {
      return json(500, { error: String(error) });
    }
  };

  const respond = async (method: string, url: string, response: ServerResponse): Promise<void> => {
    const [path = ''] = url.split('?', 1);
    const { status, type, body } = await answer(method, path);
    const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
    const length = Buffer.byteLength(body);
    response.writeHead(status, { ...NO_STORE, ...allow, 'Content-Type': type, 'Content-Length': length });
    response.end(method === 'HEAD' ? undefined : body);
  };

  const server = createServer(({ method = '', url = '' }, response) => {
    void respond(method, url, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}
