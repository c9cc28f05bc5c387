import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import {
  ERRORS,
  controlledDisk,
  emptyFolder,
  failingDisk,
  problemOf,
  publish,
  publishSnapshot,
  ROUTES,
  startProxy,
  tree,
  type Answer,
  type TestOptions,
  type TestProxy,
} from '../support.js';

const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';
const NOT_FOUND = '<!doctype html><title>Søren’s 404</title>';
const TOO_MANY = '<!doctype html><title>429</title>';
const HTML = 'text/html; charset=utf-8';
const PROBLEM = 'application/problem+json';

const page = (path: string, file: string, more: object = {}): object => ({
  name: file,
  path,
  file,
  class: 'page',
  bucket: 'page',
  type: HTML,
  ...more,
});
const CHANGES = {
  errors: {
    ...ERRORS,
    not_found: { ...ERRORS.not_found, page: '/404' },
    rate_limited: { ...ERRORS.rate_limited, page: '/429' },
  },
  problems_below: ['/api', '/downloads', '/changes', '/feeds', '/.well-known'],
  routes: [
    ...ROUTES,
    page('/404', '404.html'),
    page('/429', '429.html'),
    page('/gone', 'gone.html'),
    page('/file-lost.html', 'file-lost.html'),
    page('/file-lost.png', 'file-lost.png', { type: 'image/png' }),
  ],
};

async function publishPages(root: string): Promise<void> {
  await publish(root, '404.html', NOT_FOUND);
  await publish(root, '429.html', TOO_MANY);
}

async function start(options: TestOptions = {}): Promise<TestProxy> {
  const root = await tree(CHANGES);
  await publishPages(root);
  return startProxy(root, options);
}

const browse = ({ ask }: TestProxy, target: string, method = 'GET'): Promise<Answer> =>
  ask(target, { method, headers: { Accept: BROWSER } });

describe('a 404 that a browser asks for', () => {
  it('is a page, but for what programs ask for, which does not vary', async () => {
    const proxy = await start();
    const pages =
      '/404 /gone /nothing /nothing/here /nothing?x=1.json /v1.0/nothing /API/v1 /apis /feed /.git/config ' +
      '/file-lost.html /a//b http://register.example/nothing';
    for (const target of pages.split(' ')) {
      const { status, headers, text } = await browse(proxy, target);
      expect([status, headers['content-type'], text], target).toEqual([404, HTML, NOT_FOUND]);
      expect(headers).toMatchObject({
        vary: 'Accept',
        'content-security-policy': "default-src 'self'",
        'content-length': String(Buffer.byteLength(NOT_FOUND)),
        'cache-control': 'public, max-age=60',
        'cdn-cache-control': 'max-age=60',
        'x-content-type-options': 'nosniff',
      });
      for (const name of ['etag', 'content-encoding', 'ratelimit']) expect(headers).not.toHaveProperty(name);
    }
    const documents =
      '/api /api/nothing /api/v1/group/9 /group/9/history.json /nothing.json /nothing/index.html ' +
      '/file-lost.png /downloads/nothing /changes /changes/9.json /feeds/nothing /.well-known/nothing ' +
      '/assets/style-1.css';
    for (const target of documents.split(' ')) {
      const answer = await browse(proxy, target);
      expect([answer.status, problemOf(answer).error], target).toEqual([404, 'not_found']);
      expect([answer.headers['content-type'], answer.headers.vary]).toEqual([PROBLEM, undefined]);
      expect(answer.headers).not.toHaveProperty('content-security-policy');
    }
  });

  it('is not what other errors and redirects are', async () => {
    const proxy = await start();
    const asked = [
      await browse(proxy, '/nothing', 'POST'),
      await browse(proxy, '/%ff'),
      await browse(proxy, `/${'x'.repeat(3_000)}`),
      await browse(proxy, '/nothing/'),
    ];
    expect(asked.map(({ status }) => status)).toEqual([405, 400, 414, 308]);
    for (const { headers } of asked) {
      expect(headers['content-type'] ?? PROBLEM).toBe(PROBLEM);
      expect(headers).not.toHaveProperty('vary');
    }
  });
});

describe('a 429 that a browser gets', () => {
  const quotas = { page: { burst: 1 }, api: { burst: 1 } };

  it.each(['/api/v1', '/nothing.json', '/nothing/', '/%ff', '/assets/style-1a2b3c4d5e.css'])(
    'is a problem document at %s',
    async (target) => {
      const proxy = await start({ quotas });
      await browse(proxy, target);
      const { status, headers } = await browse(proxy, target);
      expect([status, headers['content-type'], headers['vary']]).toEqual([429, PROBLEM, undefined]);
    },
  );
});

describe('the page of an error', () => {
  it('is read once for a snapshot, and none for an error', async () => {
    const { disk, reads } = controlledDisk();
    const proxy = await start({ disk });
    expect(reads.toSorted()).toEqual(['404.html', '429.html', 'snapshot.json']);
    for (let count = 0; count < 50; count += 1) await browse(proxy, `/nothing-${count}`);
    expect(reads).toHaveLength(3);
  });

  it('is that of the snapshot in service', async () => {
    const proxy = await start();
    await publish(proxy.root, '404.html', 'newer');
    expect((await browse(proxy, '/nothing')).text).toBe(NOT_FOUND);
    await publishSnapshot(proxy.root, { ...CHANGES, sequence: 4 });
    await proxy.look();
    expect((await browse(proxy, '/nothing')).text).toBe('newer');
  });

  it.each([
    ['is missing', async (root: string) => rm(join(root, '404.html')), {}],
    ['is unreadable', async () => undefined, { disk: failingDisk('404.html') }],
    ['is too large', async (root: string) => publish(root, '404.html', 'x'.repeat(256 * 1024 + 1)), {}],
  ])('gives way to the problem document if it %s', async (_, prepare, options) => {
    const root = await tree(CHANGES);
    await publishPages(root);
    await prepare(root);
    const proxy = await startProxy(root, options);
    const { status, headers } = await browse(proxy, '/nothing');
    expect([status, headers['content-type'], headers['vary']]).toEqual([404, PROBLEM, undefined]);
  });

  it.each([
    ['no route', ROUTES],
    ['no page', [...ROUTES, page('/404', '404.html', { class: 'summary' })]],
    ['no HTML', [...ROUTES, page('/404', '404.html', { type: 'text/plain' })]],
  ])('gives way to the problem document if its path is that of %s', async (_, routes) => {
    const root = await tree({ ...CHANGES, routes });
    await publishPages(root);
    const { headers } = await browse(await startProxy(root), '/nothing');
    expect(headers['content-type']).toBe(PROBLEM);
  });

  it('is not there before the first snapshot', async () => {
    const root = await emptyFolder();
    await publishPages(root);
    const { status, headers } = await browse(await startProxy(root), '/nothing');
    expect([status, headers['content-type']]).toEqual([503, PROBLEM]);
  });
});
