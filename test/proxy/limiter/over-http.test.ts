import { describe, expect, it } from 'vitest';

import { matcherOf, parseRanges } from '../../../proxy/limiter/client-ip.js';
import { LIMITS } from '../../support/snapshot.js';
import { problemOf, startProxy, tree, type Answer, type TestProxy } from '../support.js';

const LOOPBACK = matcherOf(parseRanges('loopback'));

/** The limits as clients of the whole proxy meet them. */

function burst({ ask }: TestProxy, count: number, target: string, from?: string): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => ask(target, from === undefined ? {} : { from })));
}

function countStatus(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

/** A tree whose downloads cost a token each, small as they are. */
function wholeTokens(): Promise<string> {
  return tree({ limits: { ...LIMITS, download: { ...LIMITS.download, token_bytes: 1 } } });
}

describe('Limits over HTTP', () => {
  it('lets 60 of 200 requests pass that come at once, and refuses the others with all a 429 carries', async () => {
    const proxy = await startProxy(await tree());
    const answers = await burst(proxy, 200, '/api/v1');
    expect(countStatus(answers, 200)).toBe(60);
    expect(countStatus(answers, 429)).toBe(140);
    const refused = answers.filter(({ status }) => status === 429);
    for (const answer of refused) {
      expect(answer.headers).toMatchObject({
        'retry-after': '1',
        ratelimit: '"api";r=0;t=1',
        'ratelimit-policy': '"api";q=60;w=60',
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
        'content-type': 'application/problem+json',
      });
      expect(answer.headers['cdn-cache-control']).toBeUndefined();
      expect(problemOf(answer)).toMatchObject({
        type: 'https://register.example/developers#error-rate_limited',
        status: 429,
        detail: 'rate limit "api" exceeded: the next request is allowed in 1 s',
        instance: '/api/v1',
        error: 'rate_limited',
      });
    }
  });

  it('lets a client pass that waits exactly Retry-After, 200 times in a row, and nobody who waits less', async () => {
    const proxy = await startProxy(await tree(), {
      quotas: { api: { burst: 3, emissionIntervalMs: 2_345 } },
    });
    await burst(proxy, 3, '/api/v1');
    for (let count = 0; count < 200; count += 1) {
      const refused = await proxy.ask('/api/v1');
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers['retry-after']);
      expect(refused.headers.ratelimit).toBe(`"api";r=0;t=${seconds}`);
      proxy.advance((seconds - 1) * 1000);
      expect((await proxy.ask('/api/v1')).status).toBe(429);
      proxy.advance(1000);
      expect((await proxy.ask('/api/v1')).status).toBe(200);
    }
  });

  it('gives tokens back one by one, not all at the end of a minute', async () => {
    const proxy = await startProxy(await wholeTokens());
    await burst(proxy, 60, '/api/v1');
    proxy.advance(10_000);
    expect(countStatus(await burst(proxy, 20, '/api/v1'), 200)).toBe(10);
    proxy.advance(3_600_000);
    expect(countStatus(await burst(proxy, 70, '/api/v1'), 200)).toBe(60);
  });

  it('counts every GET and HEAD, also those answered by 304, 308, 400, 404 and 414', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 8 } } });
    const etag = String((await proxy.ask('/api/v1')).headers.etag);
    const statuses = [
      await proxy.ask('/api/v1', { headers: { 'If-None-Match': etag } }),
      await proxy.ask('/api/v1', { method: 'HEAD' }),
      await proxy.ask('/api/v1/'),
      await proxy.ask('/api/v1/group/x'),
      await proxy.ask('/nothing'),
      await proxy.ask(`/${'a'.repeat(3_000)}`),
      await proxy.ask('/%00'),
      await proxy.ask('/api/v1'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([304, 200, 308, 400, 404, 414, 400, 429]);
  });

  it('counts neither OPTIONS nor 405', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } } });
    for (let count = 0; count < 5; count += 1) {
      expect((await proxy.ask('/api/v1', { method: 'OPTIONS' })).status).toBe(204);
      expect((await proxy.ask('/api/v1', { method: 'POST' })).status).toBe(405);
    }
    expect((await proxy.ask('/api/v1')).status).toBe(200);
    expect((await proxy.ask('/api/v1')).status).toBe(429);
    expect((await proxy.ask('/api/v1', { method: 'OPTIONS' })).status).toBe(204);
  });

  it('refuses HEAD without a body', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } } });
    await proxy.ask('/api/v1');
    const answer = await proxy.ask('/api/v1', { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 429, text: '' });
    expect(answer.headers['retry-after']).toBe('1');
  });

  it('keeps clients apart by address, and does not believe X-Forwarded-For', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } } });
    expect((await proxy.ask('/api/v1', { from: '127.0.0.2' })).status).toBe(200);
    expect((await proxy.ask('/api/v1', { from: '127.0.0.3' })).status).toBe(200);
    const headers = { 'X-Forwarded-For': '192.0.2.9', Forwarded: 'for=192.0.2.9' };
    expect((await proxy.ask('/api/v1', { from: '127.0.0.2', headers })).status).toBe(429);
  });

  it('lets 12 of 20 downloads pass, which take from the other limit, too', async () => {
    const proxy = await startProxy(await wholeTokens());
    const answers = await burst(proxy, 20, '/downloads/groups.csv');
    expect(countStatus(answers, 200)).toBe(12);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers).toMatchObject({
      'retry-after': '60',
      ratelimit: '"download";r=0;t=60',
      'ratelimit-policy': '"download";q=12;w=720, "api";q=60;w=60',
    });
    // The 8 refused took nothing: 60 - 12 = 48.
    expect(countStatus(await burst(proxy, 60, '/api/v1'), 200)).toBe(48);
  });

  it('takes no download from a client whose other limit is used up', async () => {
    const proxy = await startProxy(await wholeTokens());
    await burst(proxy, 60, '/api/v1');
    const refused = await proxy.ask('/downloads/groups.csv');
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"api";r=0;t=1' });
    proxy.advance(60_000);
    expect(countStatus(await burst(proxy, 20, '/downloads/groups.csv'), 200)).toBe(12);
  });

  it('follows the limits of a new snapshot unless they were set by hand', async () => {
    const one = { tokens: 1, refill_seconds: 1 };
    const limits = { api: { tokens: 2, refill_seconds: 1 }, download: one, page: one };
    const published = await startProxy(await tree({ limits }));
    expect(countStatus(await burst(published, 5, '/api/v1'), 200)).toBe(2);
    const byHand = await startProxy(await tree({ limits }), { quotas: { api: { burst: 4 } } });
    expect(countStatus(await burst(byHand, 5, '/api/v1'), 200)).toBe(4);
  });
});

describe('--trust-proxy over HTTP', () => {
  it('limits the clients behind a trusted proxy one by one, IPv6 by /56', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } }, isTrusted: LOOPBACK });
    const ask = async (forwarded: string): Promise<number> =>
      (await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': forwarded } })).status;
    expect(await ask('198.51.100.1')).toBe(200);
    expect(await ask('198.51.100.2')).toBe(200);
    expect(await ask('198.51.100.1:4711')).toBe(429);
    expect(await ask('203.0.113.9, ::ffff:198.51.100.2')).toBe(429);
    expect(await ask('2001:db8:0:1200::1')).toBe(200);
    expect(await ask('[2001:db8:0:12ff::2]:443')).toBe(429);
    expect(await ask('2001:db8:0:1300::1')).toBe(200);
    // What is no address falls back to the proxy's own, and that has one bucket, too.
    expect(await ask('unknown')).toBe(200);
    expect(await ask('nonsense')).toBe(429);
    expect(proxy.log.filter((line) => line.includes('X-Forwarded-For'))).toEqual([]);
  });

  it('joins repeated lines of the header in their order', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } }, isTrusted: LOOPBACK });
    const lines = { 'X-Forwarded-For': ['203.0.113.9', '198.51.100.1'] };
    expect((await proxy.ask('/api/v1', { headers: lines })).status).toBe(200);
    const one = { headers: { 'X-Forwarded-For': '198.51.100.1' } };
    expect((await proxy.ask('/api/v1', one)).status).toBe(429);
    const other = { headers: { 'X-Forwarded-For': '203.0.113.9' } };
    expect((await proxy.ask('/api/v1', other)).status).toBe(200);
  });

  it('believes nobody without the flag, and says so once a minute', async () => {
    const proxy = await startProxy(await tree(), { quotas: { api: { burst: 1 } } });
    const first = await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': '198.51.100.1' } });
    const second = await proxy.ask('/api/v1', { headers: { 'X-Forwarded-For': '198.51.100.2' } });
    expect([first.status, second.status]).toEqual([200, 429]);
    expect(proxy.log.filter((line) => line.includes('X-Forwarded-For'))).toHaveLength(1);
  });
});
