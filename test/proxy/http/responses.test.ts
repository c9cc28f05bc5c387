import { describe, expect, it } from 'vitest';

import { createContext, type RequestContext } from '../../../proxy/http/context.js';
import { ERROR_CODES } from '../../../proxy/snapshot/headers.js';
import {
  content,
  downloadCost,
  notModified,
  options,
  problem,
  protocolError,
  redirect,
} from '../../../proxy/http/responses.js';
import type { Route } from '../../../proxy/snapshot/router.js';
import type { CachedFile } from '../../../proxy/tree/file-cache.js';
import { SnapshotWatcher, type ActiveSnapshot } from '../../../proxy/snapshot/watcher.js';
import { emptyFolder, ERRORS, INLINE_DISK, LINK, problemOf, tree } from '../support.js';

async function activeOf(root: string): Promise<ActiveSnapshot> {
  const watcher = new SnapshotWatcher(root, { api: {}, download: {}, page: {} }, INLINE_DISK, {
    log: () => undefined,
  });
  await watcher.start();
  watcher.stop();
  return watcher.active;
}

async function contextOf(target: string): Promise<RequestContext> {
  return createContext(await activeOf(await tree()), {
    target,
    violation: undefined,
    client: '192.0.2.1',
    accept: undefined,
  });
}

async function fileRoute(target: string): Promise<{ active: ActiveSnapshot; route: Route }> {
  const { active, match } = await contextOf(target);
  if (match.kind !== 'file') throw new Error('expected a route with a file');
  return { active, route: match.route };
}

function namesOf(headers: readonly string[]): string[] {
  return headers.filter((_, index) => index % 2 === 0);
}

function fileOf(bytes: Buffer | undefined, size = bytes?.length ?? 0): CachedFile {
  return {
    path: 'x',
    coding: undefined,
    etag: '"x"',
    size,
    identity: '1',
    bytes,
    modifiedSeconds: 0,
    lastModified: 'Thu, 01 Jan 1970 00:00:00 GMT',
  };
}

async function instanceOf(path: string): Promise<unknown> {
  const { body } = problem(await contextOf(path), 'invalid_path', '');
  return problemOf({ text: String(body) }).instance;
}

describe('problem', () => {
  it('has the six keys of the contract in their order', async () => {
    const response = problem(await contextOf('/x'), 'not_found', 'nothing here');
    const { status, body, headers } = response;
    expect(body?.toString('utf8')).toBe(
      '{"type":"https://register.example/developers#error-not_found","title":"Title of 404","status":404,' +
        '"detail":"nothing here","instance":"/x","error":"not_found"}',
    );
    expect([status, response.downloadCost]).toEqual([404, 0]);
    expect(headers).toEqual(expect.arrayContaining(['Link', LINK, 'Content-Length', String(body?.length)]));
  });

  it.each(ERROR_CODES)('has the status and title of %s from the snapshot', async (code) => {
    const { status, body } = problem(await contextOf('/x'), code, 'x');
    const { status: declared, title } = ERRORS[code];
    expect(status).toBe(declared);
    expect(problemOf({ text: String(body) })).toMatchObject({ status, title, detail: 'x', error: code });
  });

  it('has the detail of the snapshot where none is given, or at least the title', async () => {
    const { detail } = ERRORS.precondition_failed;
    const { body } = problem(await contextOf('/x'), 'precondition_failed');
    expect(problemOf({ text: String(body) })).toMatchObject({ detail });
    const other = problem(await contextOf('/x'), 'internal');
    expect(problemOf({ text: String(other.body) })).toMatchObject({ detail: 'Title of 500' });
  });

  it.each(ERROR_CODES)('is one error before the first snapshot, whatever went wrong: %s', async (code) => {
    const active = await activeOf(await emptyFolder());
    const context = createContext(active, {
      target: '/x',
      violation: undefined,
      client: undefined,
      accept: undefined,
    });
    const { status, body } = problem(context, code, 'x');
    expect(status).toBe(503);
    expect(problemOf({ text: String(body) })).toEqual({
      type: '/developers#error-no_snapshot',
      title: 'No snapshot yet',
      status: 503,
      detail: 'x',
      instance: '/x',
      error: 'no_snapshot',
    });
  });

  it('repeats no more than 256 characters of a path, and no half of an escape', async () => {
    expect(await instanceOf(`/${'a'.repeat(5_000)}`)).toBe(`/${'a'.repeat(255)}`);
    expect(await instanceOf(`/${'a'.repeat(254)}%3A`)).toBe(`/${'a'.repeat(254)}`);
    expect(await instanceOf(`/${'a'.repeat(253)}%3A`)).toBe(`/${'a'.repeat(253)}`);
  });

  it('has RateLimit only where the limiter was met and nobody stores the response', async () => {
    const context = await contextOf('/x');
    expect(namesOf(problem(context, 'invalid_path', '').headers)).not.toContain('RateLimit');
    context.limit = { bucket: 'page', remaining: 3, nextTokenSeconds: 2, refused: false };
    expect(problem(context, 'invalid_path', '').headers).toEqual(
      expect.arrayContaining(['RateLimit', '"page";r=3;t=2']),
    );
    expect(namesOf(problem(context, 'not_found', '').headers)).not.toContain('RateLimit');
  });
});

describe('downloadCost', () => {
  const TOKEN = 4 * 1024 * 1024;

  it.each([
    ['a large file', 10 * TOKEN, 10 * TOKEN, 1],
    ['a file of a token', TOKEN, TOKEN, 1],
    ['half a token', TOKEN / 2, TOKEN / 2, 0.5],
    ['a small file', 110, 110, 0.01],
    ['an empty file', 0, 0, 0.01],
    ['half of a large file', 5 * TOKEN, 10 * TOKEN, 0.5],
    ['half of half a token', TOKEN / 4, TOKEN / 2, 0.25],
    ['a byte of a large file', 1, 10 * TOKEN, 0.01],
  ])('of %s', (_name, length, size, cost) => {
    expect(downloadCost(length, size, TOKEN)).toBe(cost);
  });
});

describe('content', () => {
  it('is 200 with the whole, or 206 with its part', async () => {
    const { active, route } = await fileRoute('/downloads/groups.csv');
    const file = fileOf(Buffer.from('0123456789'));
    const whole = content(active, route, { file, varies: false });
    expect([whole.status, String(whole.body), whole.downloadCost]).toEqual([200, '0123456789', 0.01]);
    const part = content(active, route, { file, varies: false }, { first: 2, last: 4 });
    expect([part.status, String(part.body), part.downloadCost]).toEqual([206, '234', 0.01]);
    expect(part.headers).toEqual(
      expect.arrayContaining(['Content-Range', 'bytes 2-4/10', 'Content-Length', '3']),
    );
    expect(namesOf(part.headers).filter((name) => name !== 'Content-Range')).toEqual(namesOf(whole.headers));
  });

  it('is all of an empty file', async () => {
    const { active, route } = await fileRoute('/downloads/groups.csv');
    expect(content(active, route, { file: fileOf(Buffer.alloc(0)), varies: false })).toMatchObject({
      status: 200,
      downloadCost: 0.01,
      stream: undefined,
    });
  });

  it('streams what memory does not hold', async () => {
    const { active, route } = await fileRoute('/downloads/groups.csv');
    const file = fileOf(undefined, 1_000);
    const { body, stream } = content(active, route, { file, varies: false });
    expect([body, stream]).toEqual([undefined, { file, range: { first: 0, last: 999 } }]);
  });

  it('varies and names its coding', async () => {
    const { active, route } = await fileRoute('/api/v1/group/7');
    const file: CachedFile = { ...fileOf(Buffer.from('x')), coding: 'br' };
    expect(content(active, route, { file, varies: true }).headers).toEqual(
      expect.arrayContaining(['Vary', 'Accept-Encoding', 'Content-Encoding', 'br']),
    );
  });
});

describe('notModified, redirect, options, protocolError', () => {
  it('304 has the headers of the 200 but for those of its body', async () => {
    const { active, route } = await fileRoute('/api/v1/group/7');
    const representation = { file: fileOf(Buffer.from('x')), varies: true };
    const { headers } = content(active, route, representation);
    const short = notModified(active, route, representation);
    expect(namesOf(short.headers)).toEqual(namesOf(headers).filter((name) => !name.startsWith('Content-')));
    expect([short.status, short.body, short.downloadCost]).toEqual([304, undefined, 0]);
  });

  it('308 is stored as a 404 is', async () => {
    const context = await contextOf('/api/v1/');
    const { status, headers } = redirect(context, '/api/v1');
    expect(status).toBe(308);
    expect(headers).toEqual([
      ...context.active.headers.notFound.api,
      ...'Location /api/v1 Content-Length 0'.split(' '),
    ]);
  });

  it('204 has no Content-Length', async () => {
    const { status, headers } = options(await contextOf('/'));
    expect([status, namesOf(headers).includes('Content-Length')]).toEqual([204, false]);
  });

  it('an error of the protocol has no body and ends the connection', async () => {
    const { active } = await contextOf('/');
    expect(protocolError(active, 405, ['Allow', 'GET'])).toEqual({
      status: 405,
      headers: [...active.headers.error.api, 'Allow', 'GET', 'Content-Length', '0', 'Connection', 'close'],
      body: undefined,
      downloadCost: 0,
    });
  });
});
