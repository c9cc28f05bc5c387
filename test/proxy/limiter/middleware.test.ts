import express from 'express';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import {
  createLimiter,
  DEFAULT_QUOTAS,
  type BucketName,
  type LimitedRequest,
  type Limiter,
  type Quotas,
} from '../../../proxy/limiter/middleware.js';
import { RedisBuckets } from '../../../proxy/limiter/redis-store.js';
import { freePort, hasRedis, startRedis } from './redis-server.js';

interface Outcome {
  readonly status: number;
  readonly limit: LimitedRequest['limit'] | null;
  readonly refusedBy: BucketName | null;
}

interface Tested {
  readonly limiter: Limiter;
  readonly ask: (bucket: BucketName, options?: { cost?: number; client?: string }) => Promise<Outcome>;
  readonly advance: (ms: number) => void;
}

/** The limiter in an Express application, which responds with what the limiter said. */
async function started(quotas: Partial<Quotas> = {}, redis?: RedisBuckets): Promise<Tested> {
  let nowMs = 1_800_000_000_000;
  const limiter = createLimiter({
    quotas: { ...DEFAULT_QUOTAS, ...quotas },
    clock: () => nowMs,
    maxClients: 100,
    redis,
    onRefused: (request, response, refusedBy) => {
      response.status(429).json({ limit: request.context?.limit, refusedBy });
    },
  });
  const app = express();
  app.use(limiter.limit, (request, response) => {
    response.json({ limit: request.context?.limit, refusedBy: null });
  });
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const bucket = (['api', 'download', 'page'] as const).find((name) => name === searchParams.get('bucket'));
    if (bucket !== undefined) {
      const client = searchParams.get('client') ?? undefined;
      const downloadCost = Number(searchParams.get('cost'));
      // As much of a context as the limiter needs.
      Object.assign(request, { context: { client, bucket, downloadCost, limit: undefined } });
    }
    app(request, response);
  });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return {
    limiter,
    advance: (ms) => void (nowMs += ms),
    ask: async (bucket, { cost = 1, client = '192.0.2.7' } = {}) => {
      const query = new URLSearchParams({ bucket, cost: String(cost), client });
      const response = await fetch(`http://127.0.0.1:${address.port}/?${query.toString()}`);
      const body: unknown = await response.json();
      if (typeof body !== 'object' || body === null) throw new Error('expected an object');
      return { status: response.status, limit: null, refusedBy: null, ...body };
    },
  };
}

async function statuses(
  tested: Tested,
  count: number,
  ...request: Parameters<Tested['ask']>
): Promise<string> {
  const outcomes: number[] = [];
  for (let index = 0; index < count; index += 1) outcomes.push((await tested.ask(...request)).status);
  return outcomes.join(' ');
}

const quota = (burst: number, seconds: number): Quotas['api'] => ({
  burst,
  emissionIntervalMs: seconds * 1000,
});

describe('createLimiter', () => {
  it('has defaults of 60 tokens a minute, 12 downloads, and 240 pages', () => {
    expect(DEFAULT_QUOTAS).toEqual({ api: quota(60, 1), download: quota(12, 60), page: quota(240, 0.25) });
  });

  it('limits each client by its bucket, and says what is left', async () => {
    const tested = await started({ api: quota(2, 3), page: quota(1, 5) });
    expect(await tested.ask('api')).toEqual({
      status: 200,
      limit: { bucket: 'api', remaining: 1, nextTokenSeconds: 3, refused: false },
      refusedBy: null,
    });
    expect(await statuses(tested, 2, 'api')).toBe('200 429');
    expect(await tested.ask('api')).toEqual({
      status: 429,
      limit: { bucket: 'api', remaining: 0, nextTokenSeconds: 3, refused: true },
      refusedBy: 'api',
    });
    expect(await statuses(tested, 2, 'page')).toBe('200 429');
    expect(await tested.ask('page')).toMatchObject({ refusedBy: 'page', limit: { nextTokenSeconds: 5 } });
    expect(await statuses(tested, 1, 'api', { client: '192.0.2.8' })).toBe('200');
  });

  it('lets a client pass that waits exactly Retry-After, and nobody who waits a second less', async () => {
    const tested = await started({ api: { burst: 3, emissionIntervalMs: 2_345 } });
    await statuses(tested, 3, 'api');
    for (let count = 0; count < 50; count += 1) {
      const { limit } = await tested.ask('api');
      const seconds = limit?.nextTokenSeconds ?? 0;
      expect(limit).toEqual({ bucket: 'api', remaining: 0, nextTokenSeconds: seconds, refused: true });
      tested.advance((seconds - 1) * 1000);
      expect(await statuses(tested, 1, 'api')).toBe('429');
      tested.advance(1000);
      expect(await statuses(tested, 1, 'api')).toBe('200');
    }
  });

  it('has a /56 of IPv6 share a bucket', async () => {
    const tested = await started({ api: quota(1, 9) });
    expect(await statuses(tested, 1, 'api', { client: '2001:db8:0:1200::1' })).toBe('200');
    expect(await statuses(tested, 1, 'api', { client: '2001:db8:0:12ff::2' })).toBe('429');
    expect(await statuses(tested, 1, 'api', { client: '2001:db8:0:1300::1' })).toBe('200');
  });

  it('has a download take from both buckets, and a page from none of them', async () => {
    const tested = await started({ api: quota(3, 1), download: quota(2, 60) });
    expect(await statuses(tested, 5, 'page')).toBe('200 200 200 200 200');
    expect(await statuses(tested, 3, 'download')).toBe('200 200 429');
    expect(await tested.ask('download')).toMatchObject({
      refusedBy: 'download',
      limit: { nextTokenSeconds: 60 },
    });
    // The refused ones took nothing.
    expect(await statuses(tested, 2, 'api')).toBe('200 429');
  });

  it('names the bucket that refused a download, and gives back what it took from the other', async () => {
    const tested = await started({ api: quota(1, 1), download: quota(2, 60) });
    await statuses(tested, 1, 'api');
    for (let count = 0; count < 5; count += 1) {
      expect(await tested.ask('download', { cost: count % 2 === 0 ? 1 : 0.3 })).toEqual({
        status: 429,
        limit: { bucket: 'api', remaining: 0, nextTokenSeconds: 1, refused: true },
        refusedBy: 'api',
      });
    }
    tested.advance(1000);
    expect(await statuses(tested, 1, 'download')).toBe('200');
    tested.advance(1000);
    expect(await statuses(tested, 1, 'download')).toBe('200');
    tested.advance(1000);
    expect(await tested.ask('download')).toMatchObject({ status: 429, refusedBy: 'download' });
  });

  it('tells the bucket of a download that has fewer tokens left', async () => {
    const tested = await started({ api: quota(3, 1), download: quota(3, 60) });
    expect((await tested.ask('download')).limit).toMatchObject({ bucket: 'download', remaining: 2 });
    await tested.ask('api');
    tested.advance(100);
    expect((await tested.ask('download')).limit).toMatchObject({ bucket: 'api', remaining: 0 });
  });

  it('takes a share of a token for a range, and nothing of the download bucket for a cost of 0', async () => {
    const tested = await started({ download: quota(1, 60) });
    expect(await statuses(tested, 3, 'download', { cost: 0 })).toBe('200 200 200');
    expect(await statuses(tested, 5, 'download', { cost: 0.25 })).toBe('200 200 200 200 429');
    expect(await tested.ask('download', { cost: 0.25 })).toMatchObject({
      refusedBy: 'download',
      limit: { nextTokenSeconds: 15 },
    });
    expect((await tested.ask('download', { cost: 0 })).limit).toMatchObject({
      bucket: 'api',
      refused: false,
    });
  });

  it('adopts other quotas, and counts clients and evictions', async () => {
    const tested = await started({ api: quota(1, 60) });
    expect(await statuses(tested, 2, 'api')).toBe('200 429');
    tested.limiter.setQuotas({ ...DEFAULT_QUOTAS, api: quota(2, 60) });
    expect(await statuses(tested, 3, 'api')).toBe('200 200 429');
    for (let client = 0; client < 101; client += 1) await tested.ask('page', { client: `192.0.2.${client}` });
    const { api, page, download } = tested.limiter.local;
    expect([api.size, page.size, page.evictions, download.size]).toEqual([1, 100, 1, 0]);
  });

  it('fails a request that has no context', async () => {
    const { limiter } = await started();
    const app = express();
    app.use(limiter.limit);
    const errors: unknown[] = [];
    app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      errors.push(error);
      response.status(500).end();
    });
    const server = app.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await expect.poll(() => server.listening).toBe(true);
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
    expect((await fetch(`http://127.0.0.1:${address.port}/`)).status).toBe(500);
    expect(errors).toEqual([new Error('the request has no context')]);
  });
});

describe.skipIf(!hasRedis('middleware.test.ts'))('createLimiter with Redis', () => {
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
    // Another client: the API bucket is empty, so the downloads of both are given back.
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
    expect(buckets.fallbacks).toBe(4);
  });
});
