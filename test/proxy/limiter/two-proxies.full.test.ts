import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, listening, start, tree, type Answer } from '../support.js';
import { hasRedis, startRedis } from './redis-server.js';
import { freePort } from '../../support/ports.js';
import type { ProxyProcess } from '../../support/proxy.js';

const HAS_REDIS = hasRedis('two-proxies.full.test.ts');

/** No token comes back while a test runs. */
const FLAGS = ['--api-tokens', '60', '--api-refill-seconds', '600'];
type As = (client: string) => Promise<Answer>;

/** Two processes on one Redis; `as` sends a request as some client, to them in turn. */
async function pair(on: 'port' | 'socket' = 'port') {
  const redis = await startRedis([], on);
  onTestFinished(redis.remove);
  const flags = ['--dist', await tree(), '--redis', redis.url, '--trust-proxy', 'loopback', ...FLAGS];
  const proxies = await Promise.all([listening(flags), listening(flags)]);
  let turn = 0;
  const as: As = async (client) => {
    turn += 1;
    return ask(proxies[turn % 2]?.port ?? 0, '/api/v1', { headers: { 'X-Forwarded-For': client } });
  };
  return { redis, proxies, as };
}

/** Sends requests, and counts their statuses. */
async function burst(as: As, client: string, count: number): Promise<Record<string, number>> {
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

const redisLines = ({ output }: ProxyProcess): string[] =>
  [...output.stderr.matchAll(/register-api proxy: Redis at \S+ (.*)\n/g)].map(([, line = '']) =>
    line.replace(/ \(.*\)/, ''),
  );
const DOWN = "can't be used: until it can, this process limits by itself";

describe.skipIf(!HAS_REDIS)('Two proxy processes on one Redis', () => {
  it.each(['port', 'socket'] as const)(
    'by its %s: let 60 of 400 pass together, answer no 5xx while it is killed, and share again',
    async (on) => {
      const { redis, as, proxies } = await pair(on);
      expect(await burst(as, '198.51.100.1', 400)).toEqual({ 200: 60, 429: 340 });
      expect(await burst(as, '198.51.100.2', 100)).toEqual({ 200: 60, 429: 40 });
      const statuses: Record<string, number> = {};
      const over = new AbortController();
      const load = Array.from({ length: 8 }, async () => {
        while (!over.signal.aborted) {
          const { status } = await as('198.51.100.3');
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
      // On a busy machine, a late reply may send some clients to the local buckets for a second.
      let client = 0;
      await expect
        .poll(() => burst(as, `198.51.100.${(client += 1) + 3}`, 200), { timeout: 15_000, interval: 1_100 })
        .toEqual({ 200: 60, 429: 140 });
      for (const proxy of proxies)
        expect(redisLines(proxy).slice(0, 3)).toEqual([
          'keeps the limits, shared with every proxy that uses it',
          DOWN,
          'is up again: the limits are shared',
        ]);
    },
  );

  it('start without Redis, and stop with exit code 0 whether it is there or not', async () => {
    const port = await freePort();
    const alone = await listening(['--dist', await tree(), '--redis', `redis://127.0.0.1:${port}`]);
    expect(redisLines(alone)).toEqual([DOWN]);
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
