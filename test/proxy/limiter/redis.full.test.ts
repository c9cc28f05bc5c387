import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { decide, emissionMs, type Quota } from '../../../proxy/limiter/gcra.js';
import { GCRA_SCRIPT, parseReply, RedisBuckets, redisKey } from '../../../proxy/limiter/redis.js';
import { redisUrl } from '../../../proxy/settings.js';
import { listenOn } from '../support.js';
import { hasRedis, startRedis, type TestRedis } from './redis-server.js';
import { containing } from '../../support/values.js';
import { freePort } from '../../support/ports.js';

const HAS_REDIS = hasRedis('redis.full.test.ts');
/** No token comes back while a test runs. */
const SLOW: Quota = { burst: 5, emissionIntervalMs: 600_000 };
const NOW_MS = 1_800_000_000_000;
/** On a busy machine Redis may be too late for the budget of 50 ms, which no test can change. */
const IN_TIME = { retry: 4 };

describe.skipIf(!HAS_REDIS)('GCRA_SCRIPT in a real Redis', () => {
  let server: TestRedis;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.remove();
  });

  /** The script as it is, but for the clock, which the test passes. */
  const withClock = GCRA_SCRIPT.replace("redis.call('TIME')", '{ ARGV[3], ARGV[4] }');

  async function runAt(nowMs: number, key: string, quota: Quota, emission: number) {
    const time = [Math.floor(nowMs / 1000), (nowMs % 1000) * 1000 + 999];
    const capacity = quota.burst * quota.emissionIntervalMs;
    return parseReply(await redis.eval(withClock, 1, key, emission, capacity, ...time));
  }

  it('agrees with decide(), also of refunds, over 10,000 random steps', async () => {
    const counts = { allowed: 0, refused: 0, full: 0, refunded: 0 };
    // Intervals so long that no key expires while the test, on its faster clock, still needs it.
    const anyQuota = fc.record({
      burst: fc.integer({ min: 1, max: 30 }),
      emissionIntervalMs: fc.integer({ min: 20_000, max: 90_000 }),
    });
    const anyStep = fc.tuple(
      fc.integer({ min: 0, max: 99 }),
      fc.constantFrom(1, 1, 0.5, 1 / 3, 0.1),
      fc.boolean(),
    );
    let client = 0;
    await fc.assert(
      fc.asyncProperty(
        anyQuota,
        fc.array(anyStep, { minLength: 200, maxLength: 200 }),
        async (quota, steps) => {
          client += 1;
          const key = redisKey('steps', quota, String(client));
          let nowMs = NOW_MS + client;
          let expected: number | undefined;
          for (const [percent, cost, isRefunded] of steps) {
            nowMs += percent === 99 ? 10_000_000 : Math.floor((percent * quota.emissionIntervalMs) / 100);
            const { tat } = await runAt(nowMs, key, quota, emissionMs(quota, cost));
            const decision = decide(expected, nowMs, quota, cost);
            expect(decide(tat, nowMs, quota, cost)).toEqual(decision);
            expected = decision.tat;
            if (!decision.allowed) counts.refused += 1;
            else if (decision.used === 1) counts.full += 1;
            else counts.allowed += 1;
            if (decision.allowed && isRefunded && percent % 4 === 0) {
              counts.refunded += 1;
              await runAt(nowMs, key, quota, emissionMs(quota, -cost));
              expected = decide(expected, nowMs, quota, -cost).tat;
            }
          }
        },
      ),
      { numRuns: 50, endOnFailure: true },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(200);
  });

  it('writes whole milliseconds, and lets a key go when its bucket is full', async () => {
    const quota = { burst: 60, emissionIntervalMs: 1000 };
    for (let count = 0; count < 3; count += 1) await runAt(NOW_MS, 'expiry', quota, 1000);
    expect(await redis.get('expiry')).toBe('1800000003000');
    const left = await redis.pttl('expiry');
    expect(left).toBeGreaterThan(2_500);
    expect(left).toBeLessThanOrEqual(3_000);
    await runAt(NOW_MS, 'expiry', quota, -2000);
    expect(await redis.get('expiry')).toBe('1800000001000');
    await runAt(NOW_MS, 'expiry', quota, -2000);
    expect(await redis.exists('expiry')).toBe(0);
  });

  it('takes no bucket for emptier than empty when the server’s clock goes back, nor one it can’t read', async () => {
    const quota = { burst: 3, emissionIntervalMs: 1000 };
    await runAt(NOW_MS, 'back', quota, 1000);
    const nowMs = NOW_MS - 3_600_000;
    const { tat } = await runAt(nowMs, 'back', quota, 1000);
    expect(decide(tat, nowMs, quota)).toMatchObject({ allowed: false, nextTokenMs: 1000 });
    await redis.set('odd', 'nonsense');
    expect(await runAt(NOW_MS, 'odd', SLOW, 1000)).toEqual({ nowMs: NOW_MS, tat: NOW_MS });
  });
});

async function started(url: string) {
  const log: string[] = [];
  const buckets = new RedisBuckets(url, (line) => void log.push(line));
  onTestFinished(() => buckets.close());
  await buckets.start();
  /** Takes from this client's bucket: whether it was allowed, or undefined if Redis failed. */
  const take = async (client: string) => (await buckets.take('api', SLOW, client, 1))?.allowed;
  return { buckets, log, take };
}

async function server(...settings: Parameters<typeof startRedis>): Promise<TestRedis> {
  const redis = await startRedis(...settings);
  onTestFinished(redis.remove);
  return redis;
}

/** How long it takes to ask twenty times, of which each would wait for 50 ms. */
async function twentyMs(take: (client: string) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  for (let count = 0; count < 20; count += 1) expect(await take('a')).toBeUndefined();
  return performance.now() - startedMs;
}

function adminOf(url: string): Redis {
  const admin = new Redis(url);
  onTestFinished(() => admin.disconnect());
  return admin;
}

const down = (port: number, reason: string): string =>
  `Redis at 127.0.0.1:${port} can't be used (${reason}): until it can, this process limits by itself`;
const up = (port: number): string =>
  `Redis at 127.0.0.1:${port} keeps the limits, shared with every proxy that uses it`;
const upAgain = (port: number): string => `Redis at 127.0.0.1:${port} is up again: the limits are shared`;

describe('RedisBuckets without Redis', () => {
  it('says so once when nobody listens, fails at once, and counts the fallbacks', async () => {
    const port = await freePort();
    const { buckets, log, take } = await started(`redis://127.0.0.1:${port}`);
    expect(buckets.isUp).toBe(false);
    expect(await twentyMs(take)).toBeLessThan(1_000);
    // It has tried again.
    await pause(1_200);
    expect(log).toEqual([down(port, 'ECONNREFUSED')]);
    expect(buckets.fallbacks).toBe(20);
  });

  it('says so when somebody listens and is silent, or talks nonsense', async () => {
    for (const said of ['', 'HTTP/1.1 400 Bad Request\r\n\r\n', ':7\r\n'.repeat(50), '*-7\r\n', '\u0000']) {
      const port = await listenOn(
        createServer((socket) => {
          onTestFinished(() => void socket.destroy());
          socket.on('error', () => socket.destroy()).on('data', () => socket.write(said));
        }),
      );
      const { buckets, log, take } = await started(`redis://127.0.0.1:${port}`);
      expect([buckets.isUp, await take('a'), log.length]).toEqual([false, undefined, 1]);
      expect(log.join()).toContain(`Redis at 127.0.0.1:${port} can't be used (`);
    }
  });
});

describe.skipIf(!HAS_REDIS)('RedisBuckets with a real Redis', () => {
  it('waits 50 ms for a frozen Redis, then skips it for a second, asks once, and returns when it thaws', async () => {
    const redis = await server();
    const { buckets, log, take } = await started(redis.url);
    redis.signal('SIGSTOP');
    const late = async (): Promise<number> => {
      const startedMs = performance.now();
      expect(await take('a')).toBeUndefined();
      return performance.now() - startedMs;
    };
    expect(await late()).toBeGreaterThan(45);
    expect(buckets.isUp).toBe(false);
    expect(await twentyMs(take)).toBeLessThan(1_000);
    await pause(1_100);
    // One asks, the others do not wait for it.
    const [askedMs, othersMs] = await Promise.all([late(), twentyMs(take)]);
    expect(askedMs).toBeGreaterThan(45);
    expect(othersMs).toBeLessThan(1_000);
    expect(buckets.fallbacks).toBe(42);
    // Longer than a silent connection is kept (5 s): the next handshake is silent as well.
    await pause(6_500);
    expect(buckets.isUp).toBe(false);
    redis.signal('SIGCONT');
    await expect.poll(() => take('b'), { interval: 200 }).toBe(true);
    expect(buckets.isUp).toBe(true);
    const frozen = 'no answer within 50 ms';
    expect(log).toEqual([up(redis.port), down(redis.port, frozen), upAgain(redis.port)]);
  });

  it('does not blame Redis for a pause of this process', async () => {
    const redis = await server();
    const { buckets, log, take } = await started(redis.url);
    const taking = ['a', 'b'].map(take);
    for (const untilMs = performance.now() + 200; performance.now() < untilMs;);
    expect(await Promise.all(taking)).toEqual([true, true]);
    expect([log, buckets.fallbacks]).toEqual([[up(redis.port)], 0]);
  });

  it('does without one that is a replica, out of memory or forgot the script', IN_TIME, async () => {
    const redis = await server();
    const admin = adminOf(redis.url);
    const { buckets, log, take } = await started(redis.url);
    await admin.script('FLUSH');
    expect(await take('a')).toBe(true);
    await admin.replicaof('127.0.0.1', '1');
    expect(await take('b')).toBeUndefined();
    expect(buckets.isUp).toBe(false);
    await admin.replicaof('NO', 'ONE');
    await expect.poll(() => take('c'), { interval: 200 }).toBe(true);
    await admin.config('SET', 'maxmemory', '1');
    expect(await take('c')).toBeUndefined();
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(() => take('c'), { interval: 200 }).toBe(true);
    expect(log).toHaveLength(5);
    expect(log[1]).toMatch(/can't be used \(READONLY /);
    expect(log[3]).toMatch(/can't be used \(OOM /);
  });

  it('logs in, on a port or a socket, uses the database named there, and never says the password', async () => {
    const redis = await server(['--requirepass', 'pa55word']);
    const wrong = await started(`redis://:wr0ng@127.0.0.1:${redis.port}`);
    expect(wrong.log).toEqual([containing("can't be used (WRONGPASS ")]);
    const none = await started(redis.url);
    expect(none.log).toEqual([containing("can't be used (NOAUTH ")]);
    const onSocket = await server(['--requirepass', 'pa55&word'], 'socket');
    const query = `db=3&password=${encodeURIComponent('pa55&word')}`;
    for (const [name, url] of [
      [`127.0.0.1:${redis.port}`, `redis://:pa55word@127.0.0.1:${redis.port}/3`],
      [onSocket.name, redisUrl(`${onSocket.url}?${query}`)],
    ] as const) {
      const right = await started(url);
      expect(right.log).toEqual([`Redis at ${name} keeps the limits, shared with every proxy that uses it`]);
      expect([await right.take('a'), await adminOf(url).exists(redisKey('api', SLOW, 'a'))]).toEqual([
        true,
        1,
      ]);
    }
    expect([wrong, none].flatMap(({ log }) => log).join()).not.toMatch(/wr0ng|pa55/);
  });

  it('is not used once it is gone', async () => {
    const redis = await server();
    const { buckets, take } = await started(redis.url);
    expect(await take('a')).toBe(true);
    await redis.kill();
    await expect.poll(() => buckets.isUp, { timeout: 500 }).toBe(false);
    expect(await take('a')).toBeUndefined();
  });
});
