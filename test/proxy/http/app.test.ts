import { rename, rm, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { CACHED_FILE_MAX_BYTES } from '../../proxy/config.js';
import {
  emptyFolder,
  FILES,
  problemOf,
  publish,
  publishSnapshot,
  ROUTES,
  startProxy,
  tree,
  type Answer,
} from './support.js';

const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link';
const LINK =
  '</api/v1/openapi.json>; rel="service-desc"; type="application/json", </developers>; rel="service-doc"; type="text/html", ' +
  '<https://licence.example/by/4.0/>; rel="license"';
const BROKEN = {
  name: 'broken',
  path: '/broken',
  file: 'broken/mem',
  class: 'record',
  type: 'application/json',
};

/** Every status there is, as one request each on the standard tree. */
const EVERY_STATUS: readonly [status: number, code: string | undefined, method: string, target: string][] = [
  [200, undefined, 'GET', '/api/v1/group/7'],
  [204, undefined, 'OPTIONS', '/api/v1/group/7'],
  [308, undefined, 'GET', '/api/v1/'],
  [400, 'invalid_id', 'GET', '/api/v1/group/007'],
  [400, 'invalid_limit', 'GET', '/api/v1/largest?limit=201'],
  [400, 'invalid_path', 'GET', '/api/%2e%2e/v1'],
  [404, 'not_found', 'GET', '/api/v1/group/9'],
  [404, 'not_found', 'GET', '/nothing'],
  [405, 'method_not_allowed', 'POST', '/api/v1/group/7'],
  [405, 'method_not_allowed', 'DELETE', '/nothing'],
  [414, 'uri_too_long', 'GET', `/${'a'.repeat(3_000)}`],
  [500, 'internal', 'GET', '/broken'],
];

async function standardTree(): Promise<string> {
  const root = await tree({ routes: [...ROUTES, BROKEN] });
  // This process's memory is a regular file that fails to be read at its start.
  await symlink('/proc/self', join(root, 'broken'));
  return root;
}

function expectCommon({ headers }: Answer): void {
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['access-control-expose-headers']).toBe(EXPOSED);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['ratelimit-policy']).toMatch(/^"(?:api";q=60;w=60|download";q=12;w=720)$/);
  expect(headers['x-powered-by']).toBeUndefined();
  expect(headers.server).toBeUndefined();
  expect(headers.date).toBeDefined();
}

describe('createApp: errors', () => {
  it.each(EVERY_STATUS)(
    'answers %i %s to %s %.40s with what every answer carries',
    async (status, code, method, target) => {
      const { ask } = await startProxy(await standardTree());
      const answer = await ask(target, { method });
      expect(answer.status).toBe(status);
      expectCommon(answer);
      expect(new Set(answer.names.map((name) => name.toLowerCase())).size).toBe(answer.names.length);
      if (code === undefined) return;
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
      expect(Object.keys(problemOf(answer))).toEqual([
        'type',
        'title',
        'status',
        'detail',
        'instance',
        'error',
      ]);
      expect(problemOf(answer)).toMatchObject({
        type: `https://register.example/developers#error-${code}`,
        status,
        error: code,
      });
      expect(answer.headers['cache-control']).toBe(status === 404 ? 'public, max-age=60' : 'no-store');
      expect(answer.headers['cdn-cache-control']).toBe(status === 404 ? 'max-age=60' : undefined);
      // RateLimit only where no cache may keep it, and only if the limiter was met.
      const isCounted = status !== 404 && status !== 405;
      expect(answer.headers.ratelimit).toBe(isCounted ? '"api";r=59;t=1' : undefined);
      expect(answer.headers.link).toBe(LINK);
      expect(answer.headers.etag).toBeUndefined();
    },
  );

  it.each(EVERY_STATUS.filter(([, , method]) => method === 'GET'))(
    'answers HEAD as GET, without the body: %i %s',
    async (status, _code, _method, target) => {
      const { ask } = await startProxy(await standardTree());
      const get = await ask(target, { from: '127.0.0.2' });
      const head = await ask(target, { method: 'HEAD', from: '127.0.0.3' });
      expect(head.status).toBe(status);
      expect(head.text).toBe('');
      expect(head.names).toEqual(get.names);
      expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
    },
  );

  it('names allowed methods with 405', async () => {
    const { ask } = await startProxy(await tree());
    const answer = await ask('/api/v1', { method: 'PUT' });
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect(problemOf(answer).detail).toBe('method "PUT": expected GET, HEAD or OPTIONS');
  });

  it('tells the client nothing of what failed on disk, the operator one line, and lives on', async () => {
    const { ask, log } = await startProxy(await standardTree());
    const answer = await ask('/broken');
    expect(answer.text).not.toMatch(/mem|EIO|Error:|node:/);
    expect(log.slice(1)).toEqual(["can't answer broken/mem: EIO"]);
    expect((await ask('/api/v1')).status).toBe(200);
  });

  it('answers 404 for a file that vanished, and serves it when a snapshot brings it back', async () => {
    const { ask, root, advance } = await startProxy(await tree());
    expect((await ask('/api/v1/group/7')).status).toBe(200);
    await rm(join(root, 'api/v1/group/7.json'));
    await publishSnapshot(root, { sequence: 4 });
    advance(1_000);
    expect((await ask('/api/v1/group/7')).status).toBe(404);
    await publish(root, 'api/v1/group/7.json', '{"id":7}');
    expect((await ask('/api/v1/group/7')).text).toBe('{"id":7}');
  });

  it('says which limit was refused and repeats the path as a URI', async () => {
    const { ask } = await startProxy(await tree());
    expect(problemOf(await ask('/api/v1/largest?limit=201'))).toMatchObject({
      detail: 'limit "201": expected one integer from 1 to 200 in plain decimal',
      instance: '/api/v1/largest',
    });
    expect(problemOf(await ask('/api/v1/%zz'))).toMatchObject({ instance: '/api/v1/%25zz' });
  });
});

describe('createApp: no snapshot', () => {
  it('answers 503 with Retry-After to every GET and HEAD, and still OPTIONS and 405', async () => {
    const { ask } = await startProxy(await emptyFolder());
    for (const target of ['/', '/api/v1', '/api/v1/group/x', '/%00', '/snapshot.json']) {
      const answer = await ask(target);
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe('10');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers.ratelimit).toMatch(/^"api";r=\d+;t=1$/);
      expect(answer.headers.link).toBeUndefined();
      expectCommon(answer);
      expect(problemOf(answer)).toMatchObject({
        type: '/developers#error-no_snapshot',
        error: 'no_snapshot',
      });
    }
    expect((await ask('/api/v1', { method: 'HEAD' })).status).toBe(503);
    expect((await ask('/api/v1', { method: 'OPTIONS' })).status).toBe(204);
    expect((await ask('/api/v1', { method: 'POST' })).status).toBe(405);
  });

  it('serves the first snapshot within a second of its appearance', async () => {
    const root = await emptyFolder();
    const { ask, advance } = await startProxy(root);
    expect((await ask('/api/v1')).status).toBe(503);
    await publish(root, 'api/v1.json', '{}');
    await publishSnapshot(root);
    advance(1_000);
    expect((await ask('/api/v1')).status).toBe(200);
  });
});

describe('createApp: content', () => {
  it('serves a file byte for byte, with its type, its length and its validators', async () => {
    const { ask } = await startProxy(await tree());
    const answer = await ask('/api/v1/group/7');
    expect(answer.text).toBe(FILES['api/v1/group/7.json']);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.headers.etag).toMatch(/^"[0-9a-f]{32}"$/);
    expect(answer.headers['last-modified']).toMatch(/ GMT$/);
    expect(answer.headers.ratelimit).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
  });

  it.each([
    ['/api/v1/group/7', 'public, max-age=300, stale-while-revalidate=600, stale-if-error=86400', true],
    ['/group/7/history.json', 'public, max-age=300, stale-while-revalidate=600, stale-if-error=86400', true],
    ['/api/v1', 'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600', true],
    ['/api/v1/largest', 'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600', true],
    ['/snapshot.json', 'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600', true],
    ['/downloads/groups.csv', 'public, max-age=3600, stale-if-error=86400', false],
    ['/feeds/all.atom', 'public, max-age=900, stale-if-error=86400', false],
    ['/', 'public, max-age=3600, stale-if-error=86400', false],
  ])('caches %s as its class says', async (target, cacheControl, isApi) => {
    const { ask } = await startProxy(await tree());
    const answer = await ask(target);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe(cacheControl);
    expect(answer.headers['cdn-cache-control']).toMatch(/^max-age=\d+/);
    expect(answer.headers.link).toBe(isApi ? LINK : undefined);
    expectCommon(answer);
  });

  it('keeps the ETag of a file that was published again with the same bytes', async () => {
    const { ask, root, advance } = await startProxy(await tree());
    const before = await ask('/api/v1/group/7');
    await publish(root, 'api/v1/group/7.json', FILES['api/v1/group/7.json'] ?? '');
    await publishSnapshot(root, { sequence: 4 });
    advance(1_000);
    expect((await ask('/api/v1/group/7')).headers.etag).toBe(before.headers.etag);
  });

  it('answers 304 to a matching If-None-Match, with the headers of the 200 but for those of its body', async () => {
    const { ask } = await startProxy(await tree());
    const full = await ask('/api/v1/group/7');
    const etag = String(full.headers.etag);
    for (const [value, status] of [
      [etag, 304],
      [`"x", W/${etag}`, 304],
      ['*', 304],
      ['"x"', 200],
      ['x', 200],
    ] as const) {
      expect((await ask('/api/v1/group/7', { headers: { 'If-None-Match': value } })).status).toBe(status);
    }
    for (const method of ['GET', 'HEAD']) {
      const short = await ask('/api/v1/group/7', { method, headers: { 'If-None-Match': etag } });
      expectCommon(short);
      expect(short.text).toBe('');
      expect(short.names).toEqual(full.names.filter((name) => !name.startsWith('Content-')));
      expect(short.headers).toMatchObject({
        etag,
        link: LINK,
        'cache-control': full.headers['cache-control'],
        'cdn-cache-control': full.headers['cdn-cache-control'],
        'last-modified': full.headers['last-modified'],
      });
    }
  });

  it('answers 304 to If-Modified-Since, unless If-None-Match says otherwise', async () => {
    const { ask } = await startProxy(await tree());
    const since = String((await ask('/api/v1')).headers['last-modified']);
    expect((await ask('/api/v1', { headers: { 'If-Modified-Since': since } })).status).toBe(304);
    expect((await ask('/api/v1', { headers: { 'If-Modified-Since': '1' } })).status).toBe(200);
    expect(
      (await ask('/api/v1', { headers: { 'If-Modified-Since': since, 'If-None-Match': '"x"' } })).status,
    ).toBe(200);
  });

  it('does not match If-None-Match: * on what is missing', async () => {
    const { ask } = await startProxy(await tree());
    expect((await ask('/api/v1/group/9', { headers: { 'If-None-Match': '*' } })).status).toBe(404);
  });

  it('answers a preflight', async () => {
    const { ask } = await startProxy(await tree());
    const answer = await ask('/api/v1/group/7', {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' },
    });
    expect(answer.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-methods': 'GET, OPTIONS',
      'access-control-allow-headers': 'If-None-Match, If-Modified-Since, If-Range, Range',
      'access-control-max-age': '86400',
      'cache-control': 'no-store',
    });
    expect(answer.headers['content-length']).toBeUndefined();
    expect((await ask('*', { method: 'OPTIONS' })).status).toBe(204);
  });

  it('sends who asked with a trailing slash to the path without it, the query kept', async () => {
    const { ask } = await startProxy(await tree());
    const answer = await ask('/api/v1/largest/?limit=10');
    expect(answer.headers.location).toBe('/api/v1/largest?limit=10');
    expect(answer.headers['cache-control']).toBe('public, max-age=60');
    expect(answer.headers['cdn-cache-control']).toBe('max-age=60');
    expect(answer.headers['content-length']).toBe('0');
  });

  it.each(['http://[/x', 'http:///x', 'foo://bar/'])(
    'answers the odd target %s by a problem, not by a page of Express',
    async (target) => {
      const { ask } = await startProxy(await tree());
      const answer = await ask(target);
      expect(answer.headers.ratelimit).toBe('"api";r=59;t=1');
      expect(problemOf(answer)).toMatchObject({ status: 400, error: 'invalid_path' });
    },
  );
});

describe('createApp: large files', () => {
  const LARGE = Buffer.alloc(CACHED_FILE_MAX_BYTES * 3 + 17, '0123456789abcdef!');

  it('streams one, with the same headers as any other', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', LARGE);
    const { ask } = await startProxy(root);
    const answer = await ask('/downloads/groups.csv');
    expect(answer.text === LARGE.toString()).toBe(true);
    expect(answer.headers['content-length']).toBe(String(LARGE.length));
    const head = await ask('/downloads/groups.csv', { method: 'HEAD' });
    expect({ ...head.headers, date: '' }).toEqual({ ...answer.headers, date: '' });
    const etag = String(answer.headers.etag);
    expect((await ask('/downloads/groups.csv', { headers: { 'If-None-Match': etag } })).status).toBe(304);
  });

  it('survives clients that leave in the middle, closes what it had opened, and logs nothing', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', LARGE);
    const { ask, port, log } = await startProxy(root, { downloadTokens: '1000', apiTokens: '1000' });
    await ask('/downloads/groups.csv');
    const leave = async (afterMs: number): Promise<void> => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
      await pause(afterMs);
      socket.resetAndDestroy();
    };
    await Promise.all(Array.from({ length: 200 }, (_, index) => leave(index / 5)));
    expect((await ask('/downloads/groups.csv')).text.length).toBe(LARGE.length);
    expect(log).toEqual(['serving snapshot 3, as of 2026-11-20T08:00:00Z']);
  });
});

describe('createApp: a new snapshot', () => {
  it('serves it within a second, without restart', async () => {
    const { ask, root, advance, log } = await startProxy(await tree());
    expect((await ask('/api/v1/group/8')).text).toBe('{"id":8}');
    await publish(root, 'api/v1/group/8.json', '{"id":8,"name":"new"}');
    await publishSnapshot(root, { sequence: 4 });
    advance(999);
    expect((await ask('/api/v1/group/8')).text).toBe('{"id":8}');
    advance(1);
    expect((await ask('/api/v1/group/8')).text).toBe('{"id":8,"name":"new"}');
    expect(JSON.parse((await ask('/snapshot.json')).text)).toMatchObject({ sequence: 4 });
    expect(log.at(-1)).toBe('serving snapshot 4, as of 2026-11-20T08:00:00Z');
  });

  it('follows its routes, its limits and its licence', async () => {
    const { ask, root, advance } = await startProxy(await tree());
    await publish(root, 'new.json', '{}');
    const service = {
      base_url: 'https://moved.example/register',
      docs: '/help',
      description: '/d.json',
      licence: { url: 'https://l.example' },
    };
    const route = { name: 'new', path: '/new', file: 'new.json', class: 'record', type: 'application/json' };
    const limits = { api: { tokens: 2, refill_seconds: 5 }, download: { tokens: 1, refill_seconds: 9 } };
    await publishSnapshot(root, { sequence: 4, service, limits, routes: [route] });
    advance(1_000);
    const answer = await ask('/new');
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit-policy']).toBe('"api";q=2;w=10');
    expect(answer.headers.link).toContain('<https://l.example>; rel="license"');
    expect(problemOf(await ask('/api/v1')).type).toBe('https://moved.example/register/help#error-not_found');
    expect((await ask('/new')).status).toBe(429);
  });

  it('keeps the old one if it is broken', async () => {
    const { ask, root, advance, log } = await startProxy(await tree());
    await publish(root, 'snapshot.json', '{"format":1,"sequence":4');
    for (let count = 0; count < 3; count += 1) {
      advance(1_000);
      expect((await ask('/api/v1')).status).toBe(200);
    }
    expect(log.slice(1)).toEqual([
      'snapshot.json is no JSON: still serving snapshot 3, as of 2026-11-20T08:00:00Z',
    ]);
  });

  it('never mixes two states of a file while it is being replaced', { timeout: 20_000 }, async () => {
    const { ask, root, advance } = await startProxy(await tree(), { apiTokens: '100000' });
    await publish(root, 'api/v1/group/7.json', 'a');
    const etags = new Map<string, string>();
    const done = new AbortController();
    const publishing = (async () => {
      for (let round = 0; !done.signal.aborted; round += 1) {
        const letter = String.fromCharCode(97 + (round % 26));
        await publish(root, 'api/v1/group/7.json', letter.repeat(50_000 + round));
        await publishSnapshot(root, { sequence: 4 + round });
        advance(1_000);
      }
    })();
    try {
      for (let count = 0; count < 40; count += 1) {
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask('/api/v1/group/7')));
        for (const { status, text, headers } of answers) {
          expect(status).toBe(200);
          expect(headers['content-length']).toBe(String(text.length));
          expect(new Set(text).size).toBe(1);
          const { etag = '' } = headers;
          expect(etags.get(etag) ?? text).toBe(text);
          etags.set(etag, text);
        }
      }
    } finally {
      done.abort();
      await publishing;
    }
    expect(etags.size).toBeGreaterThan(5);
  });

  it('serves what is there while the tree as a whole is put in place of another', async () => {
    const root = await tree();
    const { ask, advance } = await startProxy(root);
    const next = await tree({ sequence: 9 });
    await rename(root, `${root}.old`);
    await rename(next, root);
    await rm(`${root}.old`, { recursive: true });
    advance(1_000);
    expect(JSON.parse((await ask('/snapshot.json')).text)).toMatchObject({ sequence: 9 });
  });
});
