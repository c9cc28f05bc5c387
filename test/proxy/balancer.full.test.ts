import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { has } from '../support/programs.js';
import { serve } from '../system/contract/servers.js';
import { hasRedis, startRedis } from './limiter/redis-server.js';
import { load, type Tally } from './load.js';
import { ask, emptyFolder, listening, tree } from './support.js';
import { freePort } from '../support/ports.js';

const FILE = 'balancer.full.test.ts';

/** The balancer of docs/operating.md, as nginx takes it in a folder of its own. */
const configuration = (port: number, proxies: readonly number[]): string => `
daemon off;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path tmp;`).join(' ')}
  upstream register {
    ${proxies.map((proxy) => `server 127.0.0.1:${proxy} max_fails=0;`).join(' ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://register;
      proxy_connect_timeout 1s;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout;
    }
  }
}
`;

/** Two proxies with one Redis on a socket, after nginx. */
async function balanced() {
  const redis = await startRedis([], 'socket');
  onTestFinished(redis.remove);
  const flags = ['--dist', await tree(), '--redis', redis.url, '--trust-proxy', '127.0.0.1'];
  const proxies = await Promise.all([listening(flags), listening(flags)]);
  const [folder, port] = [await emptyFolder(), await freePort()];
  const file = join(folder, 'nginx.conf');
  const ports = proxies.map((proxy) => proxy.port);
  await writeFile(file, configuration(port, ports));
  const nginx = await serve(port, folder, file);
  onTestFinished(() => nginx.stop());
  /** Starts the first proxy again, on its port. */
  const restart = () => listening([...flags, '--port', String(ports[0])]);
  return { port, proxies, restart };
}

/** How many of 100 requests at once each status gets. */
async function burst(port: number, from: string): Promise<Record<string, number>> {
  const responses = await Promise.all(
    Array.from({ length: 100 }, async () => ask(port, '/api/v1', { from })),
  );
  const statuses: Record<string, number> = {};
  for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

describe.skipIf(![hasRedis(FILE), has(FILE, 'nginx')].every(Boolean))('Two proxies after nginx', () => {
  it('limit exactly, and fail no client when one of them is killed under load, and soon the other', async () => {
    const { port, proxies, restart } = await balanced();
    expect(await burst(port, '127.0.0.2')).toEqual({ 200: 60, 429: 40 });

    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const over = new AbortController();
    const startedMs = performance.now();
    const CLIENTS = 16;
    const tally: Tally = {};
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      load(port, tally, over.signal, { agent: index % 2 === 0 && agent, from: '127.0.0.3' }),
    );
    await pause(1_000);
    proxies[0]?.child.kill('SIGKILL');
    await pause(1_000);
    await restart();
    // For requests that have tried the first before: nginx tries each proxy once.
    await pause(500);
    proxies[1]?.child.kill('SIGKILL');
    await pause(1_000);
    over.abort();
    await Promise.all(clients);
    const { 200: allowed = 0, 429: refused = 0, ...failed } = tally;
    const seconds = (performance.now() - startedMs) / 1_000;
    // nginx sends a request without a response to the other proxy.
    expect(failed).toEqual({});
    expect(refused).toBeGreaterThan(500);
    // Such a request may have taken a token already, and takes another one.
    expect(allowed).toBeLessThanOrEqual(60 + Math.floor(seconds));
    expect(allowed).toBeGreaterThanOrEqual(60 + Math.floor(seconds) - 2 * CLIENTS);

    expect(await burst(port, '127.0.0.4')).toEqual({ 200: 60, 429: 40 });
  }, 30_000);
});
