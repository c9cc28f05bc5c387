import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { containing } from '../../support/values.js';
import {
  emptyFolder,
  fail,
  ERRORS,
  FILES,
  HEADERS,
  ROUTES,
  LINK,
  route,
  problemOf,
  publish,
  publishSnapshot,
  startProxy,
  tree,
  type Answer,
  type TestProxy,
} from '../support.js';

/** Statuses without a condition or a range, as one request each on the standard tree. */
const STATUSES: readonly [status: number, method: string, target: string][] = [
  [200, 'GET', '/api/v1/group/7'],
  [204, 'OPTIONS', '*'],
  [308, 'GET', '/api/v1/'],
  [400, 'GET', '/api/v1/group/007'],
  [400, 'GET', '//user@host#'],
  [404, 'GET', '/api/v1/group/9'],
  [405, 'DELETE', '/nothing'],
  [414, 'GET', `/${'a'.repeat(3_000)}`],
  [500, 'GET', '/broken'],
];

async function standardProxy(): Promise<TestProxy> {
  const root = await tree({ routes: [...ROUTES, route('broken', '/broken', 'broken.json', 'record')] });
  await publish(root, 'broken.json', '{}');
  fail(root, 'broken.json');
  return startProxy(root);
}

function expectCommon({ headers }: Answer): void {
  const { 'Access-Control-Expose-Headers': exposed } = HEADERS.all;
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['access-control-expose-headers']).toBe(exposed);
  // Neither the software nor the old fields of limits.
  expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual(['x-content-type-options']);
  expect([headers.server, headers.date]).toEqual([undefined, expect.any(String)]);
}

describe('createApp: errors', () => {
  it('responds to HEAD as to GET, and says what is left where no cache may keep it', async () => {
    const { ask } = await standardProxy();
    for (const [index, [status, method, target]] of STATUSES.entries()) {
      const answer = await ask(target, { method, from: `127.0.1.${index}` });
      expect(answer.status, target).toBe(status);
      expectCommon(answer);
      expect(answer.headers['ratelimit-policy']).toBe('"api";q=60;w=60');
      expect(new Set(answer.names.map((name) => name.toLowerCase())).size).toBe(answer.names.length);
      // Only if the limiter was met.
      const isCounted = [400, 414, 500].includes(status);
      expect(answer.headers.ratelimit, target).toBe(isCounted ? '"api";r=59;t=1' : undefined);
      if (method !== 'GET') continue;
      const head = await ask(target, { method: 'HEAD', from: `127.0.2.${index}` });
      expect([head.status, head.text, head.fields]).toEqual([status, '', answer.fields]);
    }
  });

  it('say the detail of the snapshot or at least the title, and at most 256 characters of the path', async () => {
    const { ask } = await standardProxy();
    const failed = await ask('/api/v1', { headers: { 'If-Match': '"x"' } });
    expect(problemOf(failed).detail).toBe(ERRORS.precondition_failed.detail);
    expect(problemOf(await ask('/broken')).detail).toBe('Title of 500');
    // No half of an escape.
    for (const [length, escape, left] of [
      [5_000, '', 255],
      [254, '%3A', 254],
      [253, '%3A', 253],
    ] as const) {
      const { instance } = problemOf(await ask(`/${'a'.repeat(length)}${escape}`));
      expect(instance).toBe(`/${'a'.repeat(left)}`);
    }
  });
});

it('createApp without a snapshot responds 503 with Retry-After to all but OPTIONS, and counts nothing', async () => {
  const { ask } = await startProxy(await emptyFolder());
  const targets = '/ /api/v1/ /api/v1/group/x /%00 /snapshot.json //a@b#'.split(' ');
  for (const [target, method] of [...targets.map((each) => [each, 'GET']), ['/', 'POST'], ['/', 'HEAD']]) {
    const answer = await ask(target ?? '', { method: method ?? '' });
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'retry-after': '10' });
    expectCommon(answer);
    expect([answer.headers.ratelimit, answer.headers.link]).toEqual([undefined, undefined]);
    if (method === 'HEAD') continue;
    expect(problemOf(answer)).toMatchObject({
      type: '/developers#error-no_snapshot',
      title: 'No snapshot yet',
      status: 503,
      detail: 'nothing has been published yet',
      error: 'no_snapshot',
    });
  }
  const { status, headers } = await ask('/api/v1', { method: 'OPTIONS' });
  expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
  expect(headers.allow).toBe('GET, HEAD, OPTIONS');
});

it('createApp evaluates conditions before ranges, and none on what is missing', async () => {
  const { ask, statuses } = await startProxy(await tree());
  const target = '/downloads/groups.csv';
  const { headers } = await ask(target);
  const [etag, modified] = [String(headers.etag), String(headers['last-modified'])];
  const earlier = new Date(Date.parse(modified) - 1_000).toUTCString();
  for (const [conditions, status] of [
    [{ 'If-Modified-Since': modified, Range: 'bytes=0-3' }, '304'],
    [{ 'If-Match': etag, Range: 'bytes=0-3' }, '206'],
    [{ 'If-Unmodified-Since': earlier, Range: 'bytes=999-' }, '412'],
  ] as const)
    expect(await statuses(target, { headers: conditions })).toBe(status);
  for (const name of ['If-None-Match', 'If-Match'])
    expect(await statuses('/api/v1/group/9 /api/v1/', { headers: { [name]: '*' } })).toBe('404 308');
});

it('createApp follows a new snapshot: its routes, its limits and its headers', async () => {
  const { ask, root, look } = await startProxy(await tree());
  await publish(root, 'new.json', '{}');
  const service = { base_url: 'https://moved.example/register', docs: '/help' };
  const limit = { tokens: 2, refill_seconds: 2.15 };
  const limits = { api: limit, download: limit, page: limit };
  const record = { 'Cache-Control': 'max-age=1', Link: '<https://l.example>; rel="license"' };
  const headers = { ...HEADERS, content: { ...HEADERS.content, record } };
  await publishSnapshot(root, {
    sequence: 4,
    service,
    limits,
    headers,
    routes: [route('new', '/new', 'new.json', 'record')],
  });
  expect(JSON.parse((await ask('/snapshot.json')).text)).toMatchObject({ sequence: 3 });
  look();
  const answer = await ask('/new');
  expect(answer.status).toBe(200);
  expect(answer.headers['ratelimit-policy']).toBe('"api";q=2;w=5');
  expect(answer.headers.link).toBe('<https://l.example>; rel="license"');
  expect(answer.headers['cache-control']).toBe('max-age=1');
  expect(problemOf(await ask('/api/v1')).type).toBe('https://moved.example/register/help#error-not_found');
  expect((await ask('/new')).status).toBe(429);
});

describe('createApp: the tree is gone', () => {
  const SERVING = 'still serving snapshot 3, as of 2026-11-20T08:00:00Z';
  it('responds 503 instead of 404, says that it is not there, and serves it when it is back', async () => {
    const { ask, statuses, snapshots, log, root } = await startProxy(await tree());
    expect(await statuses('/api/v1/group/9 /api/v1/group/7 /api/v1/group/7')).toBe('404 200 200');
    await rename(root, `${root}.away`);
    expect(await statuses('/api/v1/group/8 /api/v1/group/9 /downloads/groups.csv')).toBe('503 503 503');
    const answer = await ask('/api/v1/group/9');
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'retry-after': '10', link: LINK });
    expectCommon(answer);
    expect(problemOf(answer).detail).toBe('the published tree is not there at present');
    expect(snapshots.isCurrent).toBe(false);
    // What is known of the snapshot in service is still true.
    expect(await statuses('/api/v1/group/7 /nothing /snapshot.json')).toBe('200 404 200');
    expect(log.slice(1)).toEqual([`snapshot.json can't be read (ENOENT): ${SERVING}`]);
    await rename(`${root}.away`, root);
    expect(await statuses('/api/v1/group/8 /api/v1/group/9')).toBe('200 404');
    expect(snapshots.isCurrent).toBe(true);
    // The files of the snapshot in service may be gone, or moved.
    for (const broken of ['{"format":6}', '{"format":5,']) {
      await publish(root, 'snapshot.json', broken);
      const before = log.length;
      expect(await statuses('/api/v1/group/8 /api/v1/group/9 /api/v1/group/9')).toBe('200 503 503');
      expect(log.slice(before)).toEqual([containing(SERVING)]);
    }
  });

  it('looks again before it says 404: a snapshot that was just published may have the file', async () => {
    const { ask, root } = await startProxy(await tree());
    const parameters = [{ name: 'id', in: 'path', type: 'id' }];
    const moved = route('group', '/api/v1/group/{id}', 'groups/{id}.json', 'record', { parameters });
    await publish(root, 'groups/9.json', '{"id":9}');
    await publishSnapshot(root, { sequence: 4, routes: [moved] });
    expect((await ask('/api/v1/group/9')).text).toBe('{"id":9}');
  });
});

it('createApp serves a root that is a link, and the tree that it is switched to after the next look', async () => {
  const [old, next, links] = [await tree(), await tree({ sequence: 4 }), await emptyFolder()];
  await publish(next, 'api/v1/group/7.json', '{"id":7,"name":"next"}');
  await publish(next, 'group/7/history.json', '{"members":null}');
  const link = join(links, 'dist');
  await symlink(old, link);
  const { ask, look } = await startProxy(link);
  const texts = async () => [(await ask('/api/v1/group/7')).text, (await ask('/group/7/history.json')).text];
  expect((await ask('/api/v1/group/7')).status).toBe(200);
  await symlink(next, `${link}.new`);
  await rename(`${link}.new`, link);
  // Not half of one and half of the other.
  expect(await texts()).toEqual([FILES['api/v1/group/7.json'], FILES['group/7/history.json']]);
  look();
  expect(await texts()).toEqual(['{"id":7,"name":"next"}', '{"members":null}']);
});

it('a disk that fails costs no token of a download, is no 404, and is a line for the operator alone', async () => {
  const { ask, statuses, log, root } = await startProxy(await tree(), { tokens: { download: 1 } });
  fail(root, 'downloads/groups.csv', 'ESTALE');
  expect(await statuses('/downloads/groups.csv /downloads/groups.csv')).toBe('500 500');
  expect((await ask('/downloads/groups.csv')).text).not.toMatch(/csv: |ESTALE|Error:|node:/);
  expect(log.slice(-1)).toEqual(["can't serve downloads/groups.csv: ESTALE"]);
  expect(await statuses('/api/v1')).toBe('200');
});
