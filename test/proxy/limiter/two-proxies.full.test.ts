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
async function pair() {
  const redis = await startRedis();
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

let clients = 0;

/**
 * Expects that 60 requests of a new client pass. On a busy machine, Redis itself may be late, and a
 * client has a local bucket for a second: then another client tries.
 */
async function expectShared(as: As, count: number): Promise<void> {
  await expect
    .poll(() => burst(as, `198.51.100.${(clients += 1)}`, count), { timeout: 15_000, interval: 1_100 })
    .toEqual({ 200: 60, 429: count - 60 });
}

const redisLines = ({ output }: ProxyProcess): string[] =>
  [...output.stderr.matchAll(/register-api proxy: Redis at \S+ (.*)\n/g)].map(([, line = '']) =>
    line.replace(/ \(.*\)/, ''),
  );
const UP_AGAIN = 'is up again: the limits are shared';
const DOWN = "can't be used: until it can, this process limits by itself";

describe.skipIf(!HAS_REDIS)('Two proxy processes on one Redis', () => {
  it('let 60 of 400 pass together, answer no 5xx while it is killed, and share again', async () => {
    const { redis, as, proxies } = await pair();
    await expectShared(as, 400);
    const statuses: Record<string, number> = {};
    const over = new AbortController();
    const load = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const { status } = await as('203.0.113.1');
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
    const say = (text: string) => () => proxies.every(({ output }) => output.stderr.includes(text));
    await expect.poll(() => statuses[429]).toBeGreaterThan(0);
    await redis.kill();
    await expect.poll(say("can't be used")).toBe(true);
    await redis.restart();
    await expect.poll(say('is up again')).toBe(true);
    const before = statuses[200] ?? 0;
    await expect.poll(() => statuses[200]).toBeGreaterThan(before);
    over.abort();
    await Promise.all(load);
    expect(Object.keys(statuses).toSorted()).toEqual(['200', '429']);
    // The shared bucket, one in each process, and the shared one again, as Redis came back empty.
    expect(statuses[200]).toBeLessThanOrEqual(240);
    await expectShared(as, 200);
    for (const proxy of proxies)
      expect(redisLines(proxy)).toEqual(
        expect.arrayContaining(['keeps the limits, shared with every proxy that uses it', DOWN, UP_AGAIN]),
      );
  });

  it('start without Redis, and stop with exit code 0 whether it is there or not', async () => {
    const port = await freePort();
    const alone = await listening(['--dist', await tree(), '--redis', `redis://127.0.0.1:${port}`]);
    expect(redisLines(alone)).toEqual([DOWN]);
    expect((await ask(alone.port, '/api/v1')).status).toBe(200);
    const { redis, proxies } = await pair();
    // Nor does an open connection to Redis keep one from ending.
    const taken = ['--dist', await tree(), '--redis', redis.url, '--port', String(proxies[0]?.port)];
    expect(await start(taken).ended).toBe(3);
    for (const { child } of [alone, ...proxies]) child.kill('SIGTERM');
    expect(await Promise.all([alone, ...proxies].map(async ({ ended }) => ended))).toEqual([0, 0, 0]);
  });
});
