import { describe, expect, it } from 'vitest';

import { createAccessLog } from '../../../proxy/http/access-log.js';
import { downloadCost } from '../../../proxy/http/responses.js';
import { createRangeMatcher, parseRanges } from '../../../proxy/clients.js';
import { LIMITS } from '../../support/snapshot.js';
import {
  askRaw,
  controlledDisk,
  inService,
  problemOf,
  publish,
  publishSnapshot,
  ROUTES,
  startProxy,
  tree,
  type TestProxy,
} from '../support.js';

const CSV = '/downloads/groups.csv';
const SIZE = 1_000;

/** Each file costs a token. */
const WHOLE = { ...LIMITS, download: { ...LIMITS.download, token_bytes: 1 } };

async function withDownload(download = 2, api = 1_000): Promise<TestProxy> {
  const root = await tree({ limits: WHOLE });
  await publish(root, 'downloads/groups.csv', 'x'.repeat(SIZE));
  return startProxy(root, { quotas: { api: { burst: api }, download: { burst: download } } });
}

/** How many whole downloads pass until one is refused. */
async function downloadsLeft({ ask }: TestProxy): Promise<number> {
  for (let count = 0; ; count += 1) {
    const { status } = await ask(CSV);
    if (status === 429) return count;
    expect(status).toBe(200);
  }
}

const range = (value: string): { headers: Record<string, string> } => ({ headers: { Range: value } });

describe('what a download takes from its bucket', () => {
  it('is a token for the whole file, and a token of the API', async () => {
    const proxy = await withDownload(2, 10);
    expect(await downloadsLeft(proxy)).toBe(2);
    // 2 of them, and none for the one that was refused.
    expect((await proxy.ask('/api/v1/group/x')).headers.ratelimit).toBe('"api";r=7;t=1');
  });

  it('is nothing for HEAD, 304, 412, 416 and 308', async () => {
    const proxy = await withDownload(2);
    const etag = String((await proxy.ask(CSV, { method: 'HEAD' })).headers.etag);
    for (let count = 0; count < 12; count += 1) {
      for (const [status, method, headers, target = CSV] of [
        [200, 'HEAD', { Range: 'bytes=0-3' }],
        [304, 'HEAD', { 'If-None-Match': etag }],
        [304, 'GET', { 'If-None-Match': etag }],
        [412, 'GET', { 'If-Match': '"x"' }],
        [416, 'GET', { Range: `bytes=${SIZE}-` }],
        [308, 'GET', {}, `${CSV}/`],
      ] as const) {
        expect((await proxy.ask(target, { method, headers })).status).toBe(status);
      }
    }
    expect(await downloadsLeft(proxy)).toBe(2);
  });

  it('is its share for a range, and all of it where a range is ignored', async () => {
    const proxy = await withDownload(5);
    for (let first = 0; first < SIZE; first += 10)
      expect((await proxy.ask(CSV, range(`bytes=${first}-${first + 9}`))).status).toBe(206);
    for (const half of ['bytes=-500', 'bytes=500-'])
      expect((await proxy.ask(CSV, range(half))).status).toBe(206);
    for (const headers of [{ Range: 'bytes=0-1,3-4' }, { Range: 'bytes=0-0', 'If-Range': '"x"' }])
      expect((await proxy.ask(CSV, { headers })).status).toBe(200);
    expect(await downloadsLeft(proxy)).toBe(1);
  });

  it('is rounded down to whole tokens in what a refusal says', async () => {
    const { ask } = await withDownload(2);
    await ask(CSV, range('bytes=0-99'));
    for (const status of [200, 429]) expect((await ask(CSV)).status).toBe(status);
    // 1.1 tokens are taken of 2; a whole one is back after a tenth of a minute.
    const { headers } = await ask(CSV);
    expect([headers.ratelimit, headers['retry-after']]).toEqual(['"download";r=0;t=6', '6']);
  });

  it('is nothing for what is not there, and what the response costs when a snapshot is published while it is computed', async () => {
    const routes = ROUTES.map((route) =>
      route.file === 'downloads/groups.csv' ? { ...route, file: 'gone' } : route,
    );
    const proxy = await startProxy(await tree({ routes }), { quotas: { download: { burst: 1 } } });
    for (let count = 0; count < 3; count += 1) expect((await proxy.ask(CSV)).status).toBe(404);
    await publishSnapshot(proxy.root, { sequence: 4, limits: WHOLE });
    const { epoch } = inService(proxy.watcher);
    expect((await proxy.ask(CSV, { method: 'HEAD' })).status).toBe(200);
    expect(proxy.watcher.active?.epoch).toBe(epoch + 1);
    expect(await downloadsLeft(proxy)).toBe(1);
  });

  it('is logged as the bucket that has fewer tokens left', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const accessLog = createAccessLog(destination, { accessLogDetails: true });
    const { ask, advance } = await startProxy(await tree({ limits: WHOLE }), {
      quotas: { api: { burst: 3 }, download: { burst: 3 } },
      server: { accessLog },
    });
    await ask(CSV);
    await ask('/api/v1');
    advance(100);
    await ask(CSV);
    await expect.poll(() => lines.length).toBe(3);
    expect(lines.map((text) => problemOf({ text })['limit'])).toMatchObject([
      { bucket: 'download', remaining: 2 },
      { bucket: 'api', remaining: 1 },
      { bucket: 'api', remaining: 0 },
    ]);
  });
});

it('downloadCost is a token, or the share of it for a smaller file or a range, at least a hundredth', () => {
  const TOKEN = 4 * 1024 * 1024;
  for (const [length, size, cost] of [
    [10 * TOKEN, 10 * TOKEN, 1],
    [TOKEN, TOKEN, 1],
    [TOKEN / 2, TOKEN / 2, 0.5],
    [110, 110, 0.01],
    [0, 0, 0.01],
    [5 * TOKEN, 10 * TOKEN, 0.5],
    [TOKEN / 4, TOKEN / 2, 0.25],
    [1, 10 * TOKEN, 0.01],
  ] as const)
    expect(downloadCost(length, size, TOKEN), `${length} of ${size}`).toBe(cost);
});

describe('a refusal', () => {
  it('of a download by the bucket of downloads names that, and lists both policies', async () => {
    const { ask } = await withDownload(1, 10);
    await ask(CSV);
    const answer = await ask(CSV);
    expect(answer.status).toBe(429);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'ratelimit-policy': '"download";q=1;w=60, "api";q=10;w=10',
      ratelimit: '"download";r=0;t=60',
      'retry-after': '60',
    });
    expect(problemOf(answer)).toMatchObject({
      error: 'rate_limited',
      detail: 'rate limit "download" exceeded: the next request is allowed in 60 s',
    });
  });

  it('by the bucket of the API names that, looks at no file, and takes nothing of a download', async () => {
    const { disk, reads } = controlledDisk();
    const quotas = { api: { burst: 1 }, download: { burst: 1 } };
    const { ask, advance } = await startProxy(await tree({ limits: WHOLE }), { disk, quotas });
    await ask('/api/v1');
    const before = reads.length;
    const answer = await ask(CSV);
    expect([answer.status, answer.headers.ratelimit]).toEqual([429, '"api";r=0;t=1']);
    expect(problemOf(answer).detail).toBe('rate limit "api" exceeded: the next request is allowed in 1 s');
    expect(reads.slice(before)).toEqual([]);
    for (const status of [200, 429]) {
      advance(1_000);
      expect((await ask(CSV)).status).toBe(status);
    }
  });

  it('is that of the bucket of its target', async () => {
    const quotas = { api: { burst: 1 }, page: { burst: 1 }, download: { burst: 1 } };
    const { ask } = await startProxy(await tree(), { quotas });
    const pages = '/ /assets/style-1a2b3c4d5e.css'.split(' ');
    const api = '/api/v1 /feeds/all.atom /downloads/SHA256SUMS /snapshot.json /nothing /%61 //a@[#'.split(
      ' ',
    );
    for (const [index, target] of [...pages, ...api, `/${'a'.repeat(3_000)}`].entries()) {
      const from = `127.0.1.${index}`;
      const bucket = index < pages.length ? 'page' : 'api';
      expect((await ask(bucket === 'page' ? '/api/v1' : '/', { from })).status).toBe(200);
      expect((await ask(target, { from })).status).not.toBe(429);
      const { status, headers } = await ask(target, { from });
      expect([status, headers.ratelimit], target).toEqual([429, `"${bucket}";r=0;t=1`]);
    }
  });

  it('is that of 140 of 200 requests that come at once, and of HEAD', async () => {
    const { ask } = await startProxy(await tree());
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('/api/v1')));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([60, 140]);
    const expected = {
      'retry-after': '1',
      ratelimit: '"api";r=0;t=1',
      'ratelimit-policy': '"api";q=60;w=60',
    };
    for (const { headers } of [...refused, await ask('/api/v1', { method: 'HEAD' })])
      expect(headers).toMatchObject(expected);
  });

  it.each(['OPTIONS', 'POST'])('comes after what breaks the protocol: %s', async (method) => {
    const { port } = await startProxy(await tree());
    for (const host of ['Host: a\r\nHost: b', 'Host: a@b', 'X: y']) {
      const heard = await askRaw(port, `${method} /api/v1 HTTP/1.1\r\n${host}\r\n\r\n`);
      expect(heard.slice(0, 12)).toBe('HTTP/1.1 400');
    }
  });

  it('counts every GET and HEAD, whatever the status, but neither OPTIONS nor 405', async () => {
    const { ask } = await startProxy(await tree(), { quotas: { api: { burst: 7 } } });
    const { headers } = await ask('/api/v1/group/7');
    for (const [status, target, options] of [
      [204, '/api/v1', { method: 'OPTIONS' }],
      [405, '/api/v1', { method: 'POST' }],
      [200, '/api/v1', { method: 'HEAD' }],
      [304, '/api/v1/group/7', { headers: { 'If-None-Match': String(headers.etag) } }],
      [404, '/nothing', {}],
      [400, '/%00', {}],
      [308, '/api/v1/', {}],
      [414, `/${'a'.repeat(3_000)}`, {}],
      [429, '/api/v1', {}],
      [204, '/api/v1', { method: 'OPTIONS' }],
    ] as const) {
      expect((await ask(target, options)).status, target).toBe(status);
    }
  });
});

it('a client is its address, or what a trusted proxy says', async () => {
  const root = await tree();
  const quotas = { api: { burst: 1 } };
  const { ask } = await startProxy(root, { quotas });
  for (const from of ['127.0.0.2', '127.0.0.3']) expect((await ask('/api/v1', { from })).status).toBe(200);
  const forged = { from: '127.0.0.2', headers: { 'X-Forwarded-For': '192.0.2.1' } };
  expect((await ask('/api/v1', forged)).status).toBe(429);

  const behind = await startProxy(root, { quotas, isTrusted: createRangeMatcher(parseRanges('127.0.0.2')) });
  const clients: [string | string[], number][] = [
    ['192.0.2.1', 200],
    ['192.0.2.2', 200],
    ['2001:db8::1', 200],
    ['2001:db8:0:ff::2', 429],
    [['203.0.113.9', '192.0.2.1'], 429],
    // What is no address is the proxy's own, which has one bucket, too.
    ['unknown', 200],
    ['nonsense', 429],
  ];
  for (const [client, status] of clients) {
    const options = { from: '127.0.0.2', headers: { 'X-Forwarded-For': client } };
    expect((await behind.ask('/api/v1', options)).status, String(client)).toBe(status);
  }
});
