import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening, start, type Process } from '../process.js';
import { ask, tree, type Answer } from '../support.js';
import { hasRedis, startRedis, type TestRedis } from './redis-server.js';
import { freePort } from '../../support/ports.js';

const HAS_REDIS = hasRedis('two-proxies.full.test.ts');

describe.skipIf(!HAS_REDIS).each(['port', 'socket'] as const)(
  'Two proxy processes on one Redis, by its %s',
  (on) => {
    // No token comes back while a test runs.
    const FLAGS = ['--api-tokens', '60', '--api-refill-seconds', '600'];

    interface Pair {
      readonly redis: TestRedis;
      readonly proxies: readonly (Process & { port: number })[];
      /** One request as this client, to the proxies in turn. */
      readonly as: (client: string) => Promise<Answer>;
    }

    async function pair(limit: readonly string[] = FLAGS): Promise<Pair> {
      const redis = await startRedis([], on);
      onTestFinished(redis.remove);
      const root = await tree();
      const flags = ['--dist', root, '--redis', redis.url, '--trust-proxy', 'loopback', ...limit];
      const proxies = await Promise.all([listening(flags), listening(flags)]);
      let turn = 0;
      const as = async (client: string): Promise<Answer> => {
        turn += 1;
        return ask(proxies[turn % 2]?.port ?? 0, '/api/v1', { headers: { 'X-Forwarded-For': client } });
      };
      return { redis, proxies, as };
    }

    async function burst({ as }: Pair, client: string, count: number): Promise<Record<string, number>> {
      const statuses: Record<string, number> = {};
      const left = new Set(Array.from({ length: count }).keys());
      // A few at a time: behind hundreds of others, an answer of Redis comes too late on a busy machine.
      const lane = async (): Promise<void> => {
        for (const one of left) {
          left.delete(one);
          const { status } = await as(client);
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: 16 }, lane));
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
        .poll(() => proxies.every((proxy) => proxy.output.stderr.includes('is up again')), { timeout: 2_500 })
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
          `Redis at ${redis.name} keeps the limits, shared with every proxy that uses it`,
          `Redis at ${redis.name} can't be used: until it can, this process limits by itself`,
          `Redis at ${redis.name} is up again: the limits are shared`,
        ]);
      }
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
  },
);
