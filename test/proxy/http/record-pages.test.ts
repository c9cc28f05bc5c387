/** Pages at the URLs of records, which are there as long as the record is; and redirects. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import {
  ROUTES,
  publish,
  publishSnapshot,
  route,
  startProxy,
  tree,
  type TestOptions,
  type TestProxy,
} from '../support.js';

const PAGES = [
  route('shell', '/group', 'group.html', 'page'),
  route('group-page', '/group/{id}', 'group.html', 'page', {
    requires: 'group',
    parameters: [{ name: 'id', in: 'path', type: 'id' }],
    absent: 'no group {id} in this register',
  }),
];
const TABLE = { routes: [...ROUTES, ...PAGES] };

async function pages(options: TestOptions = {}, snapshot: object = {}): Promise<TestProxy> {
  const root = await tree({ ...TABLE, ...snapshot });
  await publish(root, 'group.html', '<!doctype html><title>Group</title>');
  return startProxy(root, options);
}

describe('the page of a record', () => {
  it('takes from the limit of pages, whether the record is there or not', async () => {
    const { statuses } = await pages({ tokens: { page: 2 } });
    expect(await statuses('/group/7 /group/9 /group/7 /api/v1/group/7')).toBe('200 404 429 200');
  });

  it('goes and comes with the record, from one snapshot to the next', async () => {
    const { statuses, root, look } = await pages();
    expect(await statuses('/group/7 /group/9')).toBe('200 404');
    await rm(join(root, 'api/v1/group/7.json'));
    await publish(root, 'api/v1/group/9.json', '{"id":9}');
    await publishSnapshot(root, { ...TABLE, sequence: 4 });
    look();
    expect(await statuses('/group/7 /group/9')).toBe('404 200');
  });
});

it('a redirect leads on at no cost', async () => {
  const redirects = [{ path: '/docs', to: '/developers' }];
  const { statuses } = await pages({ tokens: { api: 1 } }, { redirects });
  // The token is still there after all of them; a trailing slash takes it.
  expect(await statuses('/docs /docs /docs /docs/ /api/v1')).toBe('308 308 308 308 429');
});
