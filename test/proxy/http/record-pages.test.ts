/** Pages at the URLs of records, which are there as long as the record is; and redirects. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import {
  ROUTES,
  problemOf,
  publish,
  publishSnapshot,
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

describe('the page of a record', () => {
  it('takes from the limit of pages, whether the record is there or not', async () => {
    const { ask } = await pages({ quotas: { page: { burst: 2 } } });
    for (const [target, status] of [
      ['/group/7', 200],
      ['/group/9', 404],
      ['/group/7', 429],
      ['/api/v1/group/7', 200],
    ] as const)
      expect((await ask(target)).status).toBe(status);
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
    const { ask, root } = await pages();
    await rm(join(root, 'group.html'));
    for (const [target, detail] of [
      ['/group/7', 'nothing is published at this path'],
      ['/group/9', 'no group 9 in this register'],
    ] as const) {
      const answer = await ask(target);
      expect([answer.status, problemOf(answer)['detail']]).toEqual([404, detail]);
    }
  });
});

it('a redirect leads on at no cost', async () => {
  const redirects = [{ path: '/docs', to: '/developers' }];
  const { ask } = await pages({ quotas: { api: { burst: 1 } } }, { redirects });
  // The token is still there after all of them; a trailing slash takes it.
  for (const [target, status] of [
    ...['/docs', '/docs', '/docs'].map((each) => [each, 308] as const),
    ['/docs/', 308] as const,
    ['/api/v1', 429] as const,
  ])
    expect((await ask(target)).status).toBe(status);
});
