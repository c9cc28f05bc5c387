import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RedisBuckets } from '../../../proxy/limiter/redis-store.js';
import { quota, started, statuses } from './limited-app.js';
import { hasRedis, startRedis } from './redis-server.js';
import { freePort } from '../../support/ports.js';

describe.skipIf(!hasRedis('redis-middleware.full.test.ts'))('createLimiter with Redis', () => {
  it('shares the buckets of two proxies, refunds included, and goes on without', async () => {
    const redis = await startRedis();
    onTestFinished(redis.remove);
    const proxies = await Promise.all(
      [1, 2].map(async () => {
        const buckets = new RedisBuckets(redis.url, () => undefined);
        onTestFinished(() => buckets.close());
        await buckets.start();
        return { buckets, tested: await started({ api: quota(4, 600), download: quota(2, 600) }, buckets) };
      }),
    );
    const [first, second] = proxies;
    if (first === undefined || second === undefined) throw new Error('expected two');
    const client = '198.51.100.1';
    expect(await statuses(first.tested, 1, 'download', { client })).toBe('200');
    expect(await statuses(second.tested, 2, 'download', { client })).toBe('200 429');
    expect(await statuses(second.tested, 3, 'api', { client })).toBe('200 200 429');
    // Another client: the API bucket is empty, so nothing of a download is taken.
    await statuses(first.tested, 4, 'api');
    expect(await first.tested.ask('download', { cost: 0.5 })).toMatchObject({ refusedBy: 'api' });
    expect(await second.tested.ask('download')).toMatchObject({ refusedBy: 'api' });
    await pause(100);
    expect(
      await second.buckets.take('register-api:download:2x600000:192.0.2.7', quota(2, 600), 1),
    ).toMatchObject({
      used: 1,
    });

    await redis.kill();
    await expect.poll(() => first.buckets.isUp || second.buckets.isUp).toBe(false);
    expect(await statuses(first.tested, 5, 'api', { client })).toBe('200 200 200 200 429');
    expect(first.buckets.fallbacks).toBe(5);
  });

  it('answers from the local buckets if Redis was never there', async () => {
    const buckets = new RedisBuckets(`redis://127.0.0.1:${await freePort()}`, () => undefined);
    onTestFinished(() => buckets.close());
    await buckets.start();
    const tested = await started({ api: quota(1, 60) }, buckets);
    expect(await statuses(tested, 2, 'download')).toBe('200 429');
    // Both limits of the first, and that of the API of the second, which refuses it.
    expect(buckets.fallbacks).toBe(3);
  });
});
