import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { Dice } from '../../../data/sample/dice.js';
import { take, type Quota, type Verdict } from '../../../proxy/limiter/gcra.js';
import {
  bucketKey,
  readVerdicts,
  scriptArguments,
  TAKE_SCRIPT,
  type SharedBucket,
} from '../../../proxy/limiter/redis-script.js';
import { hasRedis, startRedis, type TestRedis } from './redis-server.js';

describe('bucketKey', () => {
  it('names client, limit and quota, the client in braces', () => {
    expect(bucketKey('192.0.2.7', 'api', { tokens: 60, refillMs: 1000 })).toBe(
      'register-api:{192.0.2.7}:api:60x1000',
    );
  });
});

describe('readVerdicts', () => {
  it('throws on a reply that is none of the script', () => {
    const buckets = [{ key: 'a', quota: { tokens: 1, refillMs: 1 } }];
    for (const reply of [
      null,
      'OK',
      7,
      [],
      [1],
      [1, 2, 3],
      [1, null],
      ['1', '2'],
      [1, 2.5],
      { 0: 1, 1: 2 },
    ]) {
      expect(() => readVerdicts(reply, buckets)).toThrow('a reply that makes no sense');
    }
    expect(readVerdicts([1, 1], buckets)).toHaveLength(1);
  });
});

describe.skipIf(!hasRedis('redis-script.test.ts'))('TAKE_SCRIPT in a real Redis', () => {
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

  /** The script as it is, but for the clock, which the test hands in. */
  const withClock = TAKE_SCRIPT.replace("redis.call('TIME')", '{ ARGV[#ARGV - 1], ARGV[#ARGV] }');

  async function takeAt(nowMs: number, buckets: readonly SharedBucket[]): Promise<Verdict[]> {
    const time = [Math.floor(nowMs / 1000), (nowMs % 1000) * 1000 + 999];
    const keys = buckets.map(({ key }) => key);
    const reply = await redis.eval(withClock, keys.length, ...keys, ...scriptArguments(buckets), ...time);
    return readVerdicts(reply, buckets);
  }

  /** What two buckets remember under take(), spent together or not at all. */
  class Twin {
    readonly #arrivals: (number | undefined)[] = [];
    take(nowMs: number, quotas: readonly Quota[]): Verdict[] {
      const verdicts = quotas.map((quota, index) => take(this.#arrivals[index], nowMs, quota));
      if (verdicts.every(({ allowed }) => allowed)) {
        for (const [index, { arrivalMs }] of verdicts.entries()) this.#arrivals[index] = arrivalMs;
      }
      return verdicts;
    }
  }

  it('is the clock’s own replacement for this test: TIME occurs once', () => {
    expect(TAKE_SCRIPT.split("redis.call('TIME')")).toHaveLength(2);
  });

  it('agrees with take() over 20,000 random steps, with one bucket and with two', async () => {
    const dice = new Dice(4, 'redis script', 0);
    const between = (from: number, to: number): number => from + dice.below(to - from + 1);
    const counts = { allowed: 0, refused: 0, full: 0 };
    for (let client = 0; client < 40; client += 1) {
      // Refills so long that no key expires while the test, on its faster clock, still needs it.
      const quotas = [
        { tokens: between(1, 60), refillMs: between(20_000, 90_000) },
        { tokens: between(1, 12), refillMs: between(20_000, 90_000) },
      ];
      const buckets = quotas.map((quota, index) => ({
        key: bucketKey(`steps-${client}`, `p${index}`, quota),
        quota,
      }));
      const twin = new Twin();
      const longestPauseMs = between(3_000, 60_000);
      let nowMs = 1_800_000_000_000 + between(0, 999);
      for (let step = 0; step < 500; step += 1) {
        nowMs += dice.once(100) ? 10_000_000 : dice.below(longestPauseMs);
        const count = dice.once(2) ? 1 : 2;
        const verdicts = await takeAt(nowMs, buckets.slice(0, count));
        const expected = twin.take(nowMs, quotas.slice(0, count));
        expect(verdicts).toEqual(expected);
        if (!expected.every(({ allowed }) => allowed)) counts.refused += 1;
        else if (expected[0]?.used === 1) counts.full += 1;
        else counts.allowed += 1;
      }
    }
    // All three states were met.
    expect(Math.min(counts.allowed, counts.refused, counts.full)).toBeGreaterThan(400);
  });

  it('agrees with take() on the server’s own clock, its keys expiring', async () => {
    const quotas = [
      { tokens: 5, refillMs: 3 },
      { tokens: 3, refillMs: 7 },
    ];
    const buckets = quotas.map((quota, index) => ({ key: bucketKey('real', `p${index}`, quota), quota }));
    const keys = buckets.map(({ key }) => key);
    const twin = new Twin();
    let refused = 0;
    for (let step = 0; step < 4_000; step += 1) {
      const count = step % 3 === 0 ? 2 : 1;
      const used = keys.slice(0, count);
      const reply = await redis.eval(
        TAKE_SCRIPT,
        count,
        ...used,
        ...scriptArguments(buckets.slice(0, count)),
      );
      const [nowMs = 0] = Array.isArray(reply) ? reply.map(Number) : [];
      const expected = twin.take(nowMs, quotas.slice(0, count));
      const verdicts = readVerdicts(reply, buckets.slice(0, count));
      expect(verdicts).toEqual(expected);
      if (!expected.every(({ allowed }) => allowed)) refused += 1;
    }
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(3_900);
  });

  it('writes whole milliseconds, and lets a key go when its bucket is full', async () => {
    const quota = { tokens: 60, refillMs: 1000 };
    const bucket = { key: bucketKey('expiry', 'api', quota), quota };
    for (let count = 0; count < 3; count += 1) await takeAt(1_800_000_000_000, [bucket]);
    expect(await redis.get(bucket.key)).toBe('1800000003000');
    const left = await redis.pttl(bucket.key);
    expect(left).toBeGreaterThan(2_500);
    expect(left).toBeLessThanOrEqual(3_000);
  });

  it('takes nobody’s bucket for emptier than empty when the server’s clock goes back', async () => {
    const quota = { tokens: 3, refillMs: 1000 };
    const bucket = { key: bucketKey('back', 'api', quota), quota };
    await takeAt(1_800_000_000_000, [bucket]);
    const hourEarlier = 1_800_000_000_000 - 3_600_000;
    expect(await takeAt(hourEarlier, [bucket])).toMatchObject([{ allowed: false, nextTokenMs: 1000 }]);
  });

  it('takes a value it can not read for a full bucket', async () => {
    const quota = { tokens: 3, refillMs: 1000 };
    const bucket = { key: bucketKey('unreadable', 'api', quota), quota };
    await redis.set(bucket.key, 'x');
    expect(await takeAt(1_800_000_000_000, [bucket])).toMatchObject([{ allowed: true, used: 1 }]);
  });

  it('lets 60 of 200 calls pass that come at once', async () => {
    const quota = { tokens: 60, refillMs: 60_000 };
    const buckets = [{ key: bucketKey('burst', 'api', quota), quota }];
    const replies = await Promise.all(
      Array.from({ length: 200 }, () =>
        redis.eval(TAKE_SCRIPT, 1, String(buckets[0]?.key), ...scriptArguments(buckets)),
      ),
    );
    const verdicts = replies.flatMap((reply) => readVerdicts(reply, buckets));
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(60);
  });
});
