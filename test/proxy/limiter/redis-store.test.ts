import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { MemoryStore } from '../../../proxy/limiter/memory-store.js';
import { RedisBuckets } from '../../../proxy/limiter/redis-buckets.js';
import { RedisStore } from '../../../proxy/limiter/redis-store.js';
import { parseRedisUrl } from '../../../proxy/limiter/redis-url.js';
import { listening, start, type Process } from '../process.js';
import { ask, tree, type Answer } from '../support.js';
import { freePort, hasRedis, startRedis, type TestRedis } from './redis-server.js';

const SLOW = { tokens: 5, refillMs: 600_000 };
const NOW_MS = 1_800_000_000_000;
const clock = (): number => NOW_MS;

interface Stores {
  readonly api: RedisStore;
  readonly download: RedisStore;
  readonly local: { readonly api: MemoryStore; readonly download: MemoryStore };
}

/** Both limits as the proxy makes them, on a Redis that may be none. */
async function storesOn(url: string): Promise<Stores> {
  const buckets = new RedisBuckets(parseRedisUrl(url), () => undefined);
  onTestFinished(() => buckets.close());
  await buckets.start();
  const common = { maximumClients: 9, clock };
  const api = new MemoryStore({ ...common, quota: SLOW });
  const download = new MemoryStore({ ...common, quota: { tokens: 2, refillMs: 600_000 }, alsoFrom: api });
  const shared = new RedisStore({ policy: 'api', buckets, local: api, clock });
  return {
    api: shared,
    download: new RedisStore({ policy: 'download', buckets, local: download, clock, alsoFrom: shared }),
    local: { api, download },
  };
}

async function hits(store: RedisStore, key: string): Promise<number> {
  return (await store.increment(key)).totalHits;
}

describe('RedisStore without Redis', () => {
  it('is the local store', async () => {
    const { api, download, local } = await storesOn(`redis://127.0.0.1:${await freePort()}`);
    expect(await hits(api, 'a')).toBe(1);
    // The scarcer bucket is told: 1 of 2 downloads left.
    expect(await hits(download, 'a')).toBe(1);
    expect(local.api.increment('a').totalHits).toBe(3);
    expect(await hits(api, 'a')).toBe(4);
  });

  it('refuses what express-rate-limit never asks for here', async () => {
    const { api } = await storesOn(`redis://127.0.0.1:${await freePort()}`);
    expect(() => api.decrement()).toThrow('not given back');
    expect(() => api.resetKey()).toThrow('DEL');
  });
});

async function server(): Promise<TestRedis> {
  const redis = await startRedis();
  onTestFinished(redis.remove);
  return redis;
}

const HAS_REDIS = hasRedis('redis-store.test.ts');

describe.skipIf(!HAS_REDIS)('RedisStore with a real Redis', () => {
  it('counts as MemoryStore does: limit + 1 for a refusal, which takes nothing', async () => {
    const { api } = await storesOn((await server()).url);
    const counted: number[] = [];
    for (let count = 0; count < 8; count += 1) counted.push(await hits(api, 'a'));
    expect(counted).toEqual([1, 2, 3, 4, 5, 6, 6, 6]);
    expect(await hits(api, 'b')).toBe(1);
    const resetMs = Number((await api.increment('a')).resetTime);
    expect(resetMs).toBeGreaterThan(NOW_MS + 590_000);
    expect(resetMs).toBeLessThanOrEqual(NOW_MS + 600_000);
    expect(resetMs % 1000).toBe(0);
  });

  it('weighs both buckets before a download takes from them', async () => {
    const { api, download } = await storesOn((await server()).url);
    const counted: number[] = [];
    for (let count = 0; count < 5; count += 1) counted.push(await hits(download, 'a'));
    expect(counted).toEqual([1, 2, 3, 3, 3]);
    // The three refused took nothing here either.
    expect(await hits(api, 'a')).toBe(3);
    for (let count = 0; count < 5; count += 1) await hits(api, 'b');
    expect(await hits(download, 'b')).toBe(3);
    expect(await hits(download, 'c')).toBe(1);
  });

  it('leaves the local buckets alone while Redis answers, and starts there with a full one', async () => {
    const redis = await server();
    const { api } = await storesOn(redis.url);
    for (let count = 0; count < 6; count += 1) await hits(api, 'a');
    await redis.kill();
    expect([await hits(api, 'a'), await hits(api, 'a')]).toEqual([1, 2]);
  });

  it('starts everyone afresh under a changed quota', async () => {
    const { api, local } = await storesOn((await server()).url);
    for (let count = 0; count < 6; count += 1) await hits(api, 'a');
    local.api.follow({ tokens: 2, refillMs: 600_000 });
    expect([await hits(api, 'a'), await hits(api, 'a'), await hits(api, 'a')]).toEqual([1, 2, 3]);
  });
});

describe.skipIf(!HAS_REDIS)('Two proxy processes on one Redis', () => {
  // No token comes back while a test runs.
  const FLAGS = ['--api-tokens', '60', '--api-refill-seconds', '600', '--trust-proxy', 'loopback'];

  interface Pair {
    readonly redis: TestRedis;
    readonly proxies: readonly (Process & { port: number })[];
    /** One request as this client, to the proxies in turn. */
    readonly as: (client: string) => Promise<Answer>;
  }

  async function pair(): Promise<Pair> {
    const redis = await server();
    const root = await tree();
    const flags = ['--dist', root, '--redis', redis.url, ...FLAGS];
    const proxies = await Promise.all([listening(flags), listening(flags)]);
    let turn = 0;
    const as = async (client: string): Promise<Answer> => {
      turn += 1;
      return ask(proxies[turn % 2]?.port ?? 0, '/api/v1', { headers: { 'X-Forwarded-For': client } });
    };
    return { redis, proxies, as };
  }

  async function burst({ as }: Pair, client: string, count: number): Promise<Record<string, number>> {
    const answers = await Promise.all(Array.from({ length: count }, () => as(client)));
    const statuses: Record<string, number> = {};
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
    return statuses;
  }

  const REDIS_LINES = /register-api proxy: (Redis .*)\n/g;
  const redisLines = ({ output }: Process): string[] =>
    [...output.stderr.matchAll(REDIS_LINES)].map(([, line = '']) => line.replace(/ \(.*\)/, ''));

  it('let 60 of 400 pass together', async () => {
    const both = await pair();
    expect(await burst(both, '198.51.100.1', 400)).toEqual({ 200: 60, 429: 340 });
    expect(await burst(both, '198.51.100.2', 100)).toEqual({ 200: 60, 429: 40 });
  });

  it('answer no 5xx and stay limited while Redis is killed and restarted under load', async () => {
    const both = await pair();
    const { redis, as, proxies } = both;
    const statuses: Record<string, number> = {};
    const over = new AbortController();
    const load = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const { status } = await as('198.51.100.1');
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
    await pause(300);
    await redis.kill();
    await pause(700);
    await redis.restart();
    await expect
      .poll(() => proxies.every((proxy) => proxy.output.stderr.includes('answers again')), { timeout: 2_500 })
      .toBe(true);
    await pause(300);
    over.abort();
    await Promise.all(load);
    expect(Object.keys(statuses).toSorted()).toEqual(['200', '429']);
    // The shared bucket, one in each process, and the shared one again, as Redis came back empty.
    expect(statuses[200]).toBeGreaterThan(120);
    expect(statuses[200]).toBeLessThanOrEqual(240);
    // Shared again: together 60 for somebody new.
    expect(await burst(both, '198.51.100.2', 200)).toEqual({ 200: 60, 429: 140 });
    for (const proxy of proxies) {
      expect(redisLines(proxy)).toEqual([
        `Redis at 127.0.0.1:${redis.port} keeps the limits, shared with every proxy that uses it`,
        `Redis at 127.0.0.1:${redis.port} can't be used: until it can, this process limits by itself`,
        `Redis at 127.0.0.1:${redis.port} answers again: the limits are shared`,
      ]);
    }
  });

  it('answer in time while Redis is frozen, each with its own buckets', async () => {
    const both = await pair();
    both.redis.signal('SIGSTOP');
    const times: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      const startedMs = performance.now();
      expect((await both.as('198.51.100.1')).status).toBe(200);
      times.push(performance.now() - startedMs);
    }
    const slow = times.filter((ms) => ms > 45);
    // The first of each process; a pause of the machine may add one.
    expect(slow.length).toBeLessThanOrEqual(4);
    expect(Math.max(...times)).toBeLessThan(400);
    expect(await burst(both, '198.51.100.2', 400)).toEqual({ 200: 120, 429: 280 });
  });

  it('start without Redis, and stop with exit code 0 whether it is there or not', async () => {
    const port = await freePort();
    const alone = await listening(['--dist', await tree(), '--redis', `redis://127.0.0.1:${port}`]);
    expect(redisLines(alone)).toEqual([
      `Redis at 127.0.0.1:${port} can't be used: until it can, this process limits by itself`,
    ]);
    expect((await ask(alone.port, '/api/v1')).status).toBe(200);
    const { proxies } = await pair();
    for (const { child } of [alone, ...proxies]) child.kill('SIGTERM');
    expect(await Promise.all([alone, ...proxies].map(async ({ ended }) => ended))).toEqual([0, 0, 0]);
  });

  it('end with 3 if the port is taken, in spite of an open connection to Redis', async () => {
    const { redis, proxies } = await pair();
    const taken = String(proxies[0]?.port);
    const third = start(['--dist', await tree(), '--redis', redis.url, '--port', taken]);
    expect(await third.ended).toBe(3);
  });
});
