/** Pages at the URLs of records, which are there as long as the record is; and redirects. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { parseSnapshot } from '../../../proxy/snapshot/snapshot.js';
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

const HTML = 'text/html; charset=utf-8';
const SHELL = {
  name: 'group-shell',
  path: '/group',
  file: 'group.html',
  class: 'page',
  bucket: 'page',
  type: HTML,
};
const RECORD_PAGE = {
  ...SHELL,
  name: 'group-page',
  path: '/group/{id}',
  headers: { 'Cache-Tag': 'group-page' },
  requires: 'group',
  parameters: [{ name: 'id', in: 'path', type: 'id', description: 'numeric group id' }],
  absent: 'no group {id} in this register',
};
const TABLE = { routes: [...ROUTES, SHELL, RECORD_PAGE] };
const BODY = `<!doctype html><title>Group</title>${'<p>record</p>'.repeat(400)}`;

async function pages(options: TestOptions = {}, snapshot: Record<string, unknown> = {}): Promise<TestProxy> {
  const root = await tree({ ...TABLE, compressed_from: 4096, ...snapshot });
  await publish(root, 'group.html', BODY);
  await publish(root, 'group.html.br', brotliCompressSync(BODY));
  return startProxy(root, options);
}

describe('the page of a record', () => {
  it('takes from the limit of pages, whether the record is there or not', async () => {
    const { ask } = await pages({ quotas: { page: { burst: 2 } } });
    expect((await ask('/group/7')).status).toBe(200);
    expect((await ask('/group/9')).status).toBe(404);
    const refused = await ask('/group/7');
    expect([refused.status, problemOf(refused)['detail']]).toEqual([
      429,
      expect.stringContaining('rate limit "page" exceeded'),
    ]);
    expect((await ask('/api/v1/group/7')).status).toBe(200);
  });

  it('reads neither file again while both are in memory', async () => {
    const { disk, reads } = controlledDisk();
    const { ask } = await pages({ disk });
    await ask('/api/v1/group/7');
    await ask('/group');
    const before = reads.length;
    expect((await ask('/group/7')).status).toBe(200);
    expect((await ask('/group/7')).status).toBe(200);
    expect(reads.slice(before)).toEqual([]);
  });

  it('goes and comes with the record, from one snapshot to the next', async () => {
    const { ask, root, look } = await pages();
    expect((await ask('/group/7')).status).toBe(200);
    expect((await ask('/group/9')).status).toBe(404);
    await rm(join(root, 'api/v1/group/7.json'));
    await publish(root, 'api/v1/group/9.json', '{"id":9}');
    await publishSnapshot(root, { ...TABLE, sequence: 4 });
    await look();
    expect((await ask('/group/7')).status).toBe(404);
    expect((await ask('/group/9')).status).toBe(200);
  });

  it('without a file is a 404 as any page without one, not one of the record', async () => {
    const { ask, root } = await pages();
    await rm(join(root, 'group.html'));
    for (const target of ['/group', '/group/7']) {
      const answer = await ask(target);
      expect([answer.status, problemOf(answer)['detail']]).toEqual([
        404,
        'nothing is published at this path',
      ]);
    }
    expect(problemOf(await ask('/group/9'))['detail']).toBe('no group 9 in this register');
  });
});

/** Why a table with the route is refused. */
const refusal = (route: object): string => {
  try {
    parseSnapshot(JSON.stringify(snapshotJson({ routes: [...ROUTES, SHELL, route] })));
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('a route with "requires"', () => {
  it.each([
    ['no route', { requires: 'nothing' }, 'requires "nothing": expected a route with documents'],
    ['itself', { requires: 'group-page' }, 'requires "group-page": expected a route with documents'],
    ['another parameter', { requires: 'largest' }, '"{limit}" is no declared parameter'],
  ])('that names %s is refused', (_, change, message) => {
    expect(refusal({ ...RECORD_PAGE, ...change })).toContain(message);
  });
});

describe('a redirect', () => {
  const redirects = [{ path: '/docs', to: '/developers' }];

  it('leads on at no cost, and is kept as other redirects are', async () => {
    const { ask } = await pages({ quotas: { api: { burst: 1 } } }, { redirects });
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await ask('/docs', { method });
      expect([answer.status, answer.headers.location]).toEqual([308, '/developers']);
      expect(answer.headers['cache-control']).toBe('public, max-age=60');
      expect(answer.headers['content-length']).toBe('0');
    }
    // The token is still there; a trailing slash takes it.
    expect((await ask('/docs/')).status).toBe(308);
    expect((await ask('/api/v1')).status).toBe(429);
  });

  it.each([
    ['from the path of a route', [{ path: '/group', to: '/developers' }], 'its path "/group" is a redirect'],
    [
      'to another host',
      [{ path: '/docs', to: '//evil.example' }],
      'expected a path that starts with one "/"',
    ],
    ['to a header', [{ path: '/docs', to: '/x\r\nSet-Cookie: a' }], 'expected characters of a URL'],
  ])('%s is refused', (_, bad, message) => {
    const text = JSON.stringify(snapshotJson({ ...TABLE, redirects: bad }));
    expect(() => parseSnapshot(text)).toThrow(message);
  });
});
