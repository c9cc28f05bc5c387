import { describe, expect, it } from 'vitest';

import { downloadCost } from '../../../proxy/http/answer.js';
import { LIMITS } from '../../support/snapshot.js';
import {
  opened,
  problemOf,
  publish,
  publishSnapshot,
  ROUTES,
  route,
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
  return startProxy(root, { tokens: { api, download } });
}

const range = (value: string) => ({ headers: { Range: value } });
const CSVS = `${CSV} ${CSV} ${CSV}`;

describe('what a download takes from its bucket', () => {
  it('is a token for the whole file, and a token of the API', async () => {
    const { ask, statuses } = await withDownload(2, 10);
    expect(await statuses(CSVS)).toBe('200 200 429');
    // 2 of them, and none for the one that was refused.
    expect((await ask('/api/v1/group/x')).headers.ratelimit).toBe('"api";r=7;t=1');
  });

  it('is nothing for HEAD, 304, 412, 416 and 308', async () => {
    const { ask, statuses } = await withDownload(1);
    const method = 'HEAD';
    const etag = { 'If-None-Match': String((await ask(CSV, { method })).headers.etag) };
    expect(await statuses(CSVS, { method, headers: { Range: 'bytes=0-3' } })).toBe('200 200 200');
    expect(await statuses(CSVS, { method, headers: etag })).toBe('304 304 304');
    expect(await statuses(CSVS, { headers: etag })).toBe('304 304 304');
    expect(await statuses(CSVS, { headers: { 'If-Match': '"x"' } })).toBe('412 412 412');
    expect(await statuses(CSVS, { headers: { Range: `bytes=${SIZE}-` } })).toBe('416 416 416');
    expect(await statuses(`${CSV}/ ${CSV}/`)).toBe('308 308');
    expect(await statuses(CSVS)).toBe('200 429 429');
  });

  it('is its share for a range, and all of it where a range is ignored', async () => {
    const { ask, statuses } = await withDownload(5);
    for (let first = 0; first < SIZE; first += 100)
      expect((await ask(CSV, range(`bytes=${first}-${first + 99}`))).status).toBe(206);
    for (const half of ['bytes=-500', 'bytes=500-']) expect(await statuses(CSV, range(half))).toBe('206');
    for (const headers of [{ Range: 'bytes=0-1,3-4' }, { Range: 'bytes=0-0', 'If-Range': '"x"' }])
      expect(await statuses(CSV, { headers })).toBe('200');
    expect(await statuses(CSVS)).toBe('200 429 429');
  });

  it('is rounded down to whole tokens in what a refusal says', async () => {
    const { ask, statuses } = await withDownload(2);
    await ask(CSV, range('bytes=0-99'));
    expect(await statuses(`${CSV} ${CSV}`)).toBe('200 429');
    // 1.1 tokens are taken of 2; a whole one is back after a tenth of a minute.
    const { headers } = await ask(CSV);
    expect([headers.ratelimit, headers['retry-after']]).toEqual(['"download";r=0;t=6', '6']);
  });

  it('is nothing for what is not there, and what the response costs when a snapshot is published while it is computed', async () => {
    const routes = ROUTES.map((each) => (each.path === CSV ? { ...each, file: 'gone' } : each));
    const proxy = await startProxy(await tree({ routes }), { tokens: { download: 1 } });
    expect(await proxy.statuses(CSVS)).toBe('404 404 404');
    const limits = { ...WHOLE, download: { ...WHOLE.download, tokens: 1 } };
    await publishSnapshot(proxy.root, { sequence: 4, limits });
    expect(await proxy.statuses(CSV, { method: 'HEAD' })).toBe('200');
    expect(proxy.snapshots.current?.snapshot.sequence).toBe(4);
    expect(await proxy.statuses(CSVS)).toBe('200 429 429');
  });
});

it('downloadCost is a token, or the share of it for a smaller file or a range, at least a hundredth', () => {
  const TOKEN = 4 * 1024 * 1024;
  for (const [length, size, cost] of [
    [10 * TOKEN, 10 * TOKEN, 1],
    [110, 110, 0.01],
    [5 * TOKEN, 10 * TOKEN, 0.5],
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
    const tokens = { api: 1, download: 1 };
    const { ask, statuses, advance, root } = await startProxy(await tree({ limits: WHOLE }), { tokens });
    const reads = opened(root);
    await ask('/api/v1');
    const before = reads.length;
    const answer = await ask(CSV);
    expect([answer.status, answer.headers.ratelimit]).toEqual([429, '"api";r=0;t=1']);
    expect(problemOf(answer).detail).toBe('rate limit "api" exceeded: the next request is allowed in 1 s');
    expect(reads.slice(before)).not.toContain('downloads/groups.csv');
    advance(1_000);
    expect(await statuses(CSV)).toBe('200');
    advance(1_000);
    expect(await statuses(CSV)).toBe('429');
  });

  it('is that of the bucket of its target', async () => {
    const tokens = { api: 1, page: 1, download: 1 };
    const { ask, statuses } = await startProxy(await tree(), { tokens });
    const api = '/api/v1 /feeds/all.atom /downloads/SHA256SUMS /snapshot.json /nothing /%61 //a@[#';
    for (const [index, target] of `/ /assets/style-1a2b3c4d5e.css ${api}`.split(' ').entries()) {
      const from = `127.0.1.${index}`;
      const [bucket, other] = index < 2 ? ['page', '/api/v1'] : ['api', '/'];
      expect(await statuses(`${other} ${target} ${target}`, { from })).toMatch(/^200 (?!429)\d+ 429$/);
      expect((await ask(target, { from })).headers.ratelimit, target).toBe(`"${bucket}";r=0;t=1`);
    }
  });

  it('is that of the page of a record, whether that is there or not, and a redirect takes nothing', async () => {
    const more = { requires: 'group', parameters: [{ name: 'id', in: 'path', type: 'id' }] };
    const routes = [...ROUTES, route('group-page', '/group/{id}', 'index.html', 'page', more)];
    const root = await tree({ routes, redirects: [{ path: '/docs', to: '/developers' }] });
    const { statuses } = await startProxy(root, { tokens: { page: 2, api: 1 } });
    expect(await statuses('/group/7 /group/9 /group/7')).toBe('200 404 429');
    // The token is still there after all of them; a trailing slash takes it.
    expect(await statuses('/docs /docs /docs /docs/ /api/v1')).toBe('308 308 308 308 429');
  });

  it('is that of 14 of 20 requests that come at once, and of HEAD', async () => {
    const { ask } = await startProxy(await tree(), { tokens: { api: 6 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/api/v1')));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([6, 14]);
    const expected = { 'retry-after': '1', ratelimit: '"api";r=0;t=1' };
    for (const { headers } of [...refused, await ask('/api/v1', { method: 'HEAD' })]) {
      expect(headers).toMatchObject(expected);
      // And none of the older fields, which a library would add.
      const limiting = Object.keys(headers).filter((name) => name.startsWith('ratelimit'));
      expect(limiting).toEqual(['ratelimit-policy', 'ratelimit']);
    }
  });

  it('counts every GET and HEAD, whatever the status, but neither OPTIONS nor 405', async () => {
    const { ask, statuses } = await startProxy(await tree(), { tokens: { api: 7 } });
    const unchanged = { 'If-None-Match': String((await ask('/api/v1/group/7')).headers.etag) };
    expect(await statuses('/api/v1 /api/v1', { method: 'OPTIONS' })).toBe('204 204');
    expect(await statuses('/api/v1 /api/v1', { method: 'POST' })).toBe('405 405');
    expect(await statuses('/api/v1', { method: 'HEAD' })).toBe('200');
    expect(await statuses('/api/v1/group/7', { headers: unchanged })).toBe('304');
    const long = `/${'a'.repeat(3_000)}`;
    expect(await statuses(`/nothing /%00 /api/v1/ ${long} /api/v1`)).toBe('404 400 308 414 429');
    expect(await statuses('/api/v1', { method: 'OPTIONS' })).toBe('204');
  });
});

it('a client is its address, whatever it says that it is', async () => {
  const { statuses } = await startProxy(await tree(), { tokens: { api: 1 } });
  const forged = { from: '127.0.0.2', headers: { 'X-Forwarded-For': '192.0.2.1' } };
  expect(await statuses('/api/v1 /api/v1', { from: '127.0.0.2' })).toBe('200 429');
  expect(await statuses('/api/v1', forged)).toBe('429');
  expect(await statuses('/api/v1', { from: '127.0.0.3' })).toBe('200');
});
