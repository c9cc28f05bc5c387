/** Two processes on one Redis, one after the other and after the balancer of docs/operating.md. */
import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { freePort } from '../../support/ports.js';
import { has } from '../../support/programs.js';
import { LIMITS } from '../../support/snapshot.js';
import type { ProxyProcess } from '../../support/proxy.js';
import { serve, temporariesIn } from '../../system/contract/servers.js';
import { load, type Tally } from '../load.js';
import { ask, emptyFolder, listening, start, tree } from '../support.js';
import { hasRedis, startRedis } from './redis-server.js';

const FILE = 'two-proxies.full.test.ts';
const HAS_REDIS = hasRedis(FILE);

/** Two processes on one Redis, whose buckets get no token back while a test runs. */
async function pair() {
  const redis = await startRedis([], 'socket');
  onTestFinished(redis.remove);
  const dist = await tree({ limits: { ...LIMITS, api: { tokens: 60, refill_seconds: 600 } } });
  const flags = ['--dist', dist, '--redis', redis.url, '--trust-proxy', 'loopback'];
  return { redis, proxies: await Promise.all([listening(flags), listening(flags)]), flags };
}

let clients = 0;

/** Sends 100 requests of a new client, and counts their statuses. */
async function burst(port: number): Promise<Tally> {
  const from = `127.0.1.${(clients += 1)}`;
  const statuses: Tally = {};
  // A few at a time: after many others, an answer of Redis comes too late on a busy machine.
  const lane = async (): Promise<void> => {
    for (let count = 0; count < 25; count += 1) {
      const { status } = await ask(port, '/api/v1', { from });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return statuses;
}

const redisLines = ({ output }: ProxyProcess): string[] =>
  [...output.stderr.matchAll(/register-api proxy: Redis at \S+ (.*)\n/g)].map(([, line = '']) =>
    line.replace(/ \(.*\)/, ''),
  );
const DOWN = "can't be used: until it can, this process limits by itself";
const UP_AGAIN = 'is up again: the limits are shared';

it.skipIf(!HAS_REDIS)('Two proxies start without Redis, and stop with 0 with and without it', async () => {
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

const HAS_BOTH = HAS_REDIS && has(FILE, 'nginx');
it.skipIf(!HAS_BOTH)('Two proxies after nginx limit exactly, and fail nobody when one dies', async () => {
  const { redis, proxies, flags } = await pair();
  const [folder, port] = [await emptyFolder(), await freePort()];
  const file = join(folder, 'nginx.conf');
  const ports = proxies.map((proxy) => proxy.port);
  await writeFile(file, configuration(port, ports));
  const nginx = await serve(port, folder, file);
  onTestFinished(() => nginx.stop());
  // On a busy machine, Redis itself may be late, and a client has a local bucket for a second: then another tries.
  const expectShared = async (): Promise<void> => {
    const options = { timeout: 60_000, interval: 1_100 };
    await expect.poll(() => burst(port), options).toEqual({ 200: 60, 429: 40 });
  };
  await expectShared();

  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const over = new AbortController();
  const tally: Tally = {};
  const lanes = Array.from({ length: 16 }, (_, index) =>
    load(port, tally, over.signal, { agent: index % 2 === 0 && agent, from: '127.0.0.3' }),
  );
  /** Waits until this many more requests were refused, several of each client. */
  const more = async (count = 200): Promise<void> => {
    const before = tally[429] ?? 0;
    await expect.poll(() => tally[429]).toBeGreaterThan(before + count);
  };
  await more();
  const say = (line: string) => () => proxies.every((proxy) => redisLines(proxy).includes(line));
  await redis.kill();
  await expect.poll(say(DOWN)).toBe(true);
  await redis.restart();
  await expect.poll(say(UP_AGAIN)).toBe(true);
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
  // The shared bucket, again as Redis came back empty, and one in each process that had none.
  const late = [...proxies, restarted].filter((proxy) => redisLines(proxy).includes(DOWN)).length;
  expect(allowed).toBeLessThanOrEqual((2 + late) * 60);
  await expectShared();
});
