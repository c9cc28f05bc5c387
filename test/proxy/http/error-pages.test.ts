/** What the contract doesn't ask of error pages. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import {
  ERRORS,
  controlledDisk,
  emptyFolder,
  failingDisk,
  placeSocket,
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

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NOT_FOUND = '<!doctype html><title>Søren’s 404</title>';
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
  problems_below: ['/api', '/.well-known'],
  routes: [
    ...ROUTES,
    page('/404', '404.html'),
    page('/429', '429.html'),
    page('/gone', 'gone.html'),
    page('/file-lost.html', 'file-lost.html'),
    page('/file-lost.png', 'file-lost.png', { type: 'image/png' }),
  ],
};

async function pages(changes: object = CHANGES): Promise<string> {
  const root = await tree({ ...changes });
  await publish(root, '404.html', NOT_FOUND);
  await publish(root, '429.html', '<!doctype html><title>429</title>');
  return root;
}

const start = async (options?: TestOptions): Promise<TestProxy> => startProxy(await pages(), options);

const browse = ({ ask }: Pick<TestProxy, 'ask'>, target: string, method = 'GET'): Promise<Answer> =>
  ask(target, { method, headers: { Accept: BROWSER } });

const formOf = ({ status, headers }: Answer) => [status, headers['content-type'], headers.vary];

it('a 404 that a browser asks for is a page, but for what programs ask for, which does not vary', async () => {
  const proxy = await start();
  for (const target of '/gone /apis /.git/config /file-lost.html /a//b http://register.example/x'.split(
    ' ',
  )) {
    const answer = await browse(proxy, target);
    expect([...formOf(answer), answer.text], target).toEqual([404, HTML, 'Accept', NOT_FOUND]);
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'self'",
      'content-length': String(Buffer.byteLength(NOT_FOUND)),
    });
    for (const name of ['etag', 'ratelimit']) expect(answer.headers).not.toHaveProperty(name);
  }
  const documents =
    '/api/v1/group/9 /group/9/history.json /nothing/index.html /file-lost.png /changes/9.json';
  for (const target of [...documents.split(' '), '/.well-known/nothing', '/assets/style-1.css']) {
    const answer = await browse(proxy, target);
    expect([...formOf(answer), problemOf(answer).error], target).toEqual([
      404,
      PROBLEM,
      undefined,
      'not_found',
    ]);
  }
});

it('other errors and redirects are no pages for a browser either', async () => {
  const proxy = await start();
  for (const [status, target, method] of [
    [405, '/nothing', 'POST'],
    [400, '/%ff'],
    [414, `/${'x'.repeat(3_000)}`],
    [308, '/nothing/'],
  ] as const)
    expect(formOf(await browse(proxy, target, method))).toEqual([
      status,
      status === 308 ? undefined : PROBLEM,
      undefined,
    ]);
});

it('a 429 that a browser gets is a problem document where a 404 would be', async () => {
  const quotas = { page: { burst: 1 }, api: { burst: 1 } };
  for (const target of ['/api/v1', '/nothing/', '/%ff', '/assets/style-1a2b3c4d5e.css']) {
    const proxy = await start({ quotas });
    await browse(proxy, target);
    expect(formOf(await browse(proxy, target)), target).toEqual([429, PROBLEM, undefined]);
  }
});

it('the page of an error is read once for a snapshot, and that of the snapshot in service', async () => {
  const { disk, reads } = controlledDisk();
  const proxy = await start({ disk });
  const pagesRead = (): string[] => reads.filter((path) => path.endsWith('.html')).toSorted();
  expect(pagesRead()).toEqual(['404.html', '429.html']);
  await publish(proxy.root, '404.html', 'newer');
  for (let count = 0; count < 9; count += 1)
    expect((await browse(proxy, `/nothing-${count}`)).text).toBe(NOT_FOUND);
  expect(pagesRead()).toHaveLength(2);
  await publishSnapshot(proxy.root, { ...CHANGES, sequence: 4 });
  await proxy.look();
  expect((await browse(proxy, '/nothing')).text).toBe('newer');
});

it('the problem document is in its place if it can’t be read, or is no HTML page of a route', async () => {
  const changed = (...routes: object[]) => pages({ ...CHANGES, routes: [...ROUTES, ...routes] });
  const [missing, tooLarge, socket] = [await pages(), await pages(), await pages()];
  await rm(join(missing, '404.html'));
  await placeSocket(socket, '404.html');
  await publish(tooLarge, '404.html', 'x'.repeat(256 * 1024 + 1));
  for (const [root, options] of [
    [missing],
    [tooLarge],
    [socket],
    [await pages(), { disk: failingDisk('404.html') }],
    [await changed()],
    [await changed(page('/404', '404.html', { class: 'summary' }))],
    [await changed(page('/404', '404.html', { type: 'text/plain' }))],
  ] as const)
    expect(formOf(await browse(await startProxy(root, options), '/nothing'))).toEqual([
      404,
      PROBLEM,
      undefined,
    ]);
  const empty = await emptyFolder();
  await publish(empty, '404.html', NOT_FOUND);
  expect(formOf(await browse(await startProxy(empty), '/nothing'))).toEqual([503, PROBLEM, undefined]);
});
