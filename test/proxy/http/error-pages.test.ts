/** What the contract doesn't ask of error pages. */
import { expect, it } from 'vitest';

import {
  ERRORS,
  emptyFolder,
  fail,
  publish,
  publishSnapshot,
  ROUTES,
  route,
  startProxy,
  tree,
  type Answer,
  type TestProxy,
} from '../support.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NOT_FOUND = '<!doctype html><title>Søren’s 404</title>';
const HTML = 'text/html; charset=utf-8';
const PROBLEM = 'application/problem+json';

const page = (path: string, file: string, more = {}): object => route(file, path, file, 'page', more);
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

const browse = ({ ask }: Pick<TestProxy, 'ask'>, target: string, method = 'GET'): Promise<Answer> =>
  ask(target, { method, headers: { Accept: BROWSER } });

const formOf = ({ status, headers }: Answer) => [status, headers['content-type'], headers.vary];

it('a page is for paths of pages alone, though its file be lost, and for no other error', async () => {
  const proxy = await startProxy(await pages());
  for (const target of '/gone /.git/config /file-lost.html /a//b http://register.example/x'.split(' ')) {
    const answer = await browse(proxy, target);
    expect([...formOf(answer), answer.text], target).toEqual([404, HTML, 'Accept', NOT_FOUND]);
  }
  for (const [status, target, method] of [
    ...'/group/9/history.json /file-lost.png /changes/9.ndjson.gz /.well-known/nothing /assets/style-1.css'
      .split(' ')
      .map((each) => [404, each] as const),
    [405, '/nothing', 'POST'] as const,
    [400, '/%ff'] as const,
    [414, `/${'x'.repeat(3_000)}`] as const,
  ])
    expect(formOf(await browse(proxy, target, method)), target).toEqual([status, PROBLEM, undefined]);
});

it('the page of an error is that of the snapshot in service', async () => {
  const proxy = await startProxy(await pages());
  await publish(proxy.root, '404.html', 'newer');
  expect((await browse(proxy, '/nothing')).text).toBe(NOT_FOUND);
  await publishSnapshot(proxy.root, { ...CHANGES, sequence: 4 });
  proxy.look();
  expect((await browse(proxy, '/nothing')).text).toBe('newer');
});

it('the problem document is in its place if it can’t be read, or is no HTML page of a route', async () => {
  const changed = (more: object) =>
    pages({ ...CHANGES, routes: [...ROUTES, page('/404', '404.html', more)] });
  const tooLarge = await pages();
  await publish(tooLarge, '404.html', 'x'.repeat(256 * 1024 + 1));
  const empty = await emptyFolder();
  await publish(empty, '404.html', NOT_FOUND);
  const failing = await pages();
  fail(failing, '404.html');
  for (const [status, root] of [
    [404, tooLarge],
    [404, failing],
    [404, await pages({ ...CHANGES, routes: ROUTES })],
    [404, await changed({ class: 'summary' })],
    [404, await changed({ type: 'text/plain' })],
    [503, empty],
  ] as const) {
    const proxy = await startProxy(root);
    expect(formOf(await browse(proxy, '/nothing'))).toEqual([status, PROBLEM, undefined]);
  }
});
