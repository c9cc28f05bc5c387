/** Two processes on one Redis, one after the other and after the balancer of docs/operating.md. */
import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { freePort } from '../../support/ports.js';
import { has } from '../../support/programs.js';
import { LIMITS } from '../../support/snapshot.js';
import type { ProxyProcess } from '../../support/proxy.js';
import { serve, temporariesIn } from '../../system/contract/servers.js';
import { load, type Tally } from '../load.js';
import { ask, emptyFolder, listening, start, tree, type Answer } from '../support.js';
import { hasRedis, startRedis } from './redis-server.js';

const FILE = 'two-proxies.full.test.ts';
const HAS_REDIS = hasRedis(FILE);
/** Sends a request as the client of some number. */
type As = (client: number) => Promise<Answer>;

/** Two processes on one Redis, whose buckets get no token back while a test runs. */
async function pair(on: 'port' | 'socket' = 'port') {
  const redis = await startRedis([], on);
  onTestFinished(redis.remove);
  const api = { tokens: 60, refill_seconds: 600 };
  const dist = await tree({ limits: { ...LIMITS, api } });
  const flags = ['--dist', dist, '--redis', redis.url, '--trust-proxy', 'loopback'];
  const proxies = await Promise.all([listening(flags), listening(flags)]);
  let turn = 0;
  /** Asks them in turn. */
  const as: As = async (client) => {
    turn += 1;
    const headers = { 'X-Forwarded-For': `198.51.100.${client}` };
    return ask(proxies[turn % 2]?.port ?? 0, '/api/v1', { headers });
  };
  return { redis, proxies, as, flags };
}

/** Sends 100 requests, and counts their statuses. */
async function burst(as: As, client: number): Promise<Tally> {
  const statuses: Tally = {};
  // A few at a time: after many others, an answer of Redis comes too late on a busy machine.
  const lane = async (): Promise<void> => {
    for (let count = 0; count < 25; count += 1) {
      const { status } = await as(client);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return statuses;
}

let clients = 0;

/**
 * Expects that 60 requests of a new client pass. On a busy machine, Redis itself may be late, and a
 * client has a local bucket for a second: then another client tries.
 */
async function expectShared(as: As): Promise<void> {
  const next = () => burst(as, (clients += 1));
  await expect.poll(next, { timeout: 60_000, interval: 1_100 }).toEqual({ 200: 60, 429: 40 });
}

const redisLines = ({ output }: ProxyProcess): string[] =>
  [...output.stderr.matchAll(/register-api proxy: Redis at \S+ (.*)\n/g)].map(([, line = '']) =>
    line.replace(/ \(.*\)/, ''),
  );
const SHARED = 'keeps the limits, shared with every proxy that uses it';
const DOWN = "can't be used: until it can, this process limits by itself";
const UP_AGAIN = 'is up again: the limits are shared';

describe.skipIf(!HAS_REDIS)('Two proxy processes on one Redis', () => {
  it('let 60 of 100 pass together, answer no 5xx while it is killed, and share again', async () => {
    const { redis, as, proxies } = await pair();
    await expectShared(as);
    const over = new AbortController();
    const statuses: Tally = {};
    const lanes = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const { status } = await as(0);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
    const say = (line: string) => () => proxies.every((proxy) => redisLines(proxy).includes(line));
    await expect.poll(() => statuses[429]).toBeGreaterThan(0);
    await redis.kill();
    await expect.poll(say(DOWN)).toBe(true);
    await redis.restart();
    await expect.poll(say(UP_AGAIN)).toBe(true);
    over.abort();
    await Promise.all(lanes);
    const { 200: allowed, 429: _, ...others } = statuses;
    expect(others).toEqual({});
    // The shared bucket, one in each process, and the shared one again, as Redis came back empty.
    expect(allowed).toBeLessThanOrEqual(240);
    await expectShared(as);
    expect(say(SHARED)()).toBe(true);
  });

  it('start without Redis, and stop with exit code 0 whether it is there or not', async () => {
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    const alone = await listening(['--dist', await tree(), '--redis', redisUrl]);
    expect(redisLines(alone)).toEqual([DOWN]);
    expect((await ask(alone.port, '/api/v1')).status).toBe(200);
    const { flags, proxies } = await pair();
    // Nor does an open connection to Redis keep one from ending.
    expect(await start([...flags, '--port', String(proxies[0]?.port)]).ended).toBe(3);
    for (const { child } of [alone, ...proxies]) child.kill('SIGTERM');
    expect(await Promise.all([alone, ...proxies].map(async ({ ended }) => ended))).toEqual([0, 0, 0]);
  });
});

/** The balancer of docs/operating.md, as nginx takes it in a folder of its own. */
const configuration = (port: number, proxies: readonly number[]): string => `
daemon off;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporariesIn('tmp')}
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

it.skipIf(!HAS_REDIS || !has(FILE, 'nginx'))(
  'Two proxies after nginx limit exactly, and fail no client when one and then the other is killed',
  async () => {
    const { proxies, flags } = await pair('socket');
    const [folder, port] = [await emptyFolder(), await freePort()];
    const file = join(folder, 'nginx.conf');
    const ports = proxies.map((proxy) => proxy.port);
    await writeFile(file, configuration(port, ports));
    const nginx = await serve(port, folder, file);
    onTestFinished(() => nginx.stop());
    const as: As = (client) => ask(port, '/api/v1', { from: `127.0.1.${client}` });
    await expectShared(as);

    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const over = new AbortController();
    const startMs = performance.now();
    const tally: Tally = {};
    const lanes = Array.from({ length: 16 }, (_, index) =>
      load(port, tally, over.signal, { agent: index % 2 === 0 && agent, from: '127.0.0.3' }),
    );
    /** Waits for so many more answers, in which each client has several. */
    const more = async (count = 200): Promise<void> => {
      const before = tally[429] ?? 0;
      await expect.poll(() => tally[429]).toBeGreaterThan(before + count);
    };
    await more();
    proxies[0]?.child.kill('SIGKILL');
    await more();
    const restarted = await listening([...flags, '--port', String(ports[0])]);
    // For requests that have tried the first before: nginx tries each proxy once.
    await more();
    proxies[1]?.child.kill('SIGKILL');
    await more();
    over.abort();
    await Promise.all(lanes);
    const { 200: allowed, 429: _, ...failed } = tally;
    // nginx sends a request without a response to the other proxy.
    expect(failed).toEqual({});
    // The shared bucket, and one in each process for which Redis was late. Each gains a token a second.
    const late = [...proxies, restarted].filter((proxy) => redisLines(proxy).includes(DOWN)).length;
    const seconds = Math.ceil((performance.now() - startMs) / 1000);
    expect(allowed).toBeLessThanOrEqual((1 + late) * (60 + seconds));
    await expectShared(as);
  },
);
