import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_QUOTAS } from '../../../proxy/limiter/gcra.js';
import { quota, started, statuses } from './limited-app.js';

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
