/** Pages at the URLs of records, which are there as long as the record is; and redirects. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { Router } from '../../../proxy/snapshot/router.js';
import { parseSnapshot } from '../../../proxy/snapshot/schema.js';
import {
  ROUTES,
  controlledDisk,
  problemOf,
  publish,
  publishSnapshot,
  snapshotJson,
  startProxy,
  tree,
  type TestOptions,
  type TestProxy,
} from '../support.js';

const SHELL = {
  name: 'shell',
  path: '/group',
  file: 'group.html',
  class: 'page',
  bucket: 'page',
  type: 'text/html',
};
const RECORD_PAGE = {
  ...SHELL,
  name: 'group-page',
  path: '/group/{id}',
  requires: 'group',
  parameters: [{ name: 'id', in: 'path', type: 'id' }],
  absent: 'no group {id} in this register',
};
const TABLE = { routes: [...ROUTES, SHELL, RECORD_PAGE] };

async function pages(options: TestOptions = {}, snapshot: object = {}): Promise<TestProxy> {
  const root = await tree({ ...TABLE, ...snapshot });
  await publish(root, 'group.html', '<!doctype html><title>Group</title>');
  return startProxy(root, options);
}

const detailOf = async ({ ask }: TestProxy, target: string): Promise<unknown[]> => {
  const answer = await ask(target);
  return [answer.status, problemOf(answer)['detail']];
};

describe('the page of a record', () => {
  it('takes from the limit of pages, whether the record is there or not', async () => {
    const proxy = await pages({ quotas: { page: { burst: 2 } } });
    for (const [target, status] of [
      ['/group/7', 200],
      ['/group/9', 404],
      ['/group/7', 429],
      ['/api/v1/group/7', 200],
    ] as const)
      expect((await proxy.ask(target)).status).toBe(status);
    expect(String(await detailOf(proxy, '/group/7'))).toContain('rate limit "page" exceeded');
  });

  it('reads neither file again while both are in memory', async () => {
    const { disk, reads } = controlledDisk();
    const { ask } = await pages({ disk });
    await ask('/api/v1/group/7');
    await ask('/group');
    const before = reads.length;
    for (let count = 0; count < 2; count += 1) expect((await ask('/group/7')).status).toBe(200);
    expect(reads.slice(before)).toEqual([]);
  });

  it('goes and comes with the record, from one snapshot to the next', async () => {
    const { ask, root, look } = await pages();
    const statuses = async () => [(await ask('/group/7')).status, (await ask('/group/9')).status];
    expect(await statuses()).toEqual([200, 404]);
    await rm(join(root, 'api/v1/group/7.json'));
    await publish(root, 'api/v1/group/9.json', '{"id":9}');
    await publishSnapshot(root, { ...TABLE, sequence: 4 });
    await look();
    expect(await statuses()).toEqual([404, 200]);
  });

  it('without a file is a 404 as any page without one, not one of the record', async () => {
    const proxy = await pages();
    await rm(join(proxy.root, 'group.html'));
    for (const target of ['/group', '/group/7'])
      expect(await detailOf(proxy, target)).toEqual([404, 'nothing is published at this path']);
    expect(await detailOf(proxy, '/group/9')).toEqual([404, 'no group 9 in this register']);
  });
});

it('a redirect leads on at no cost, and is kept as other redirects are', async () => {
  const redirects = [{ path: '/docs', to: '/developers' }];
  const { ask } = await pages({ quotas: { api: { burst: 1 } } }, { redirects });
  for (const method of ['GET', 'HEAD', 'GET']) {
    const { status, headers } = await ask('/docs', { method });
    expect([status, headers.location]).toEqual([308, '/developers']);
    expect([headers['cache-control'], headers['content-length']]).toEqual(['public, max-age=60', '0']);
  }
  // The token is still there; a trailing slash takes it.
  for (const [target, status] of [
    ['/docs/', 308],
    ['/api/v1', 429],
  ] as const)
    expect((await ask(target)).status).toBe(status);
});

const requiring = (requires: string) => ({ routes: [...ROUTES, SHELL, { ...RECORD_PAGE, requires }] });
const redirecting = (path: string, to: string) => ({ ...TABLE, redirects: [{ path, to }] });

it.each([
  [requiring('nothing'), 'requires "nothing": expected a route with documents'],
  [requiring('group-page'), 'requires "group-page": expected a route with documents'],
  [requiring('largest'), '"{limit}" is no declared parameter'],
  [redirecting('/group', '/developers'), 'its path "/group" is a redirect'],
  [redirecting('/docs', '//evil.example'), 'expected a path that starts with one "/"'],
  [redirecting('/docs', '/x\r\nSet-Cookie: a'), 'expected characters of a URL'],
])('a table with such a route or redirect is refused: %#', (changes, message) => {
  expect(() => new Router(parseSnapshot(JSON.stringify(snapshotJson(changes))))).toThrow(message);
});
