/** What the contract doesn't ask of error pages. */
import { expect, it } from 'vitest';

import {
  ERRORS,
  emptyFolder,
  fail,
  publish,
  ROUTES,
  route,
  startProxy,
  tree,
  type Answer,
  type TestProxy,
} from '../support.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NOT_FOUND = '<!doctype html><title>Søren’s 404</title>';
const PROBLEM = 'application/problem+json';

const page = (path: string, file: string, more = {}): object => route(file, path, file, 'page', more);
const CHANGES = {
  errors: {
    ...ERRORS,
    not_found: { ...ERRORS.not_found, page: '/404' },
  },
  problems_below: ['/api', '/.well-known'],
  routes: [...ROUTES, page('/404', '404.html')],
};

async function pages(changes: object = CHANGES): Promise<string> {
  const root = await tree({ ...changes });
  await publish(root, '404.html', NOT_FOUND);
  return root;
}

const browse = ({ ask }: Pick<TestProxy, 'ask'>, target: string, method = 'GET'): Promise<Answer> =>
  ask(target, { method, headers: { Accept: BROWSER } });

const formOf = ({ status, headers }: Answer) => [status, headers['content-type'], headers.vary];

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
    [404, await changed({ type: 'text/plain' })],
    [503, empty],
  ] as const) {
    const proxy = await startProxy(root);
    expect(formOf(await browse(proxy, '/nothing'))).toEqual([status, PROBLEM, undefined]);
  }
});
