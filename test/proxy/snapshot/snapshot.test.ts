import { describe, expect, it } from 'vitest';

import { ERROR_CODES } from '../../../proxy/snapshot/headers.js';
import { errorOf, parseSnapshot, SnapshotError, titleOf } from '../../../proxy/snapshot/snapshot.js';
import { HOSTILE_TEXTS } from '../../generator/tree/hostile.js';
import { ERRORS, HEADERS, ROUTES, SERVICE, snapshotJson } from '../support.js';

function parse(changes: Record<string, unknown>): unknown {
  return parseSnapshot(JSON.stringify(snapshotJson(changes)));
}

function withRoute(changes: Record<string, unknown>): Record<string, unknown> {
  const route = {
    name: 'odd',
    path: '/odd',
    file: 'odd.json',
    class: 'record',
    bucket: 'api',
    type: 'application/json',
    ...changes,
  };
  return { routes: [...ROUTES, route] };
}

const ID = { name: 'id', in: 'path', type: 'id' };
const TREE = { name: 'tree', in: 'path', type: 'tree' };
const REST = { name: 'path', in: 'path', type: 'path' };
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 9, default: 3 };

const REFUSED_HEADERS =
  'Transfer-Encoding Content-Length content-encoding Content-Type Connection Keep-Alive Upgrade Trailer TE ' +
  'Proxy-Authenticate Set-Cookie set-cookie Cookie Refresh Location Clear-Site-Data ETag Date Content-Range';

describe('parseSnapshot', () => {
  it('says which format it reads when it meets another one', () => {
    expect(() => parse({ format: 5 })).toThrow('tree is of format 5, this proxy reads format 4');
    expect(() => parseSnapshot('{"format":5}')).toThrow('tree is of format 5, this proxy reads format 4');
    expect(() => parseSnapshot('{"format":1}')).toThrow('tree is of format 1, this proxy reads format 4');
  });

  it.each([
    ['', 'snapshot.json is not JSON'],
    ['{"format":4', 'snapshot.json is not JSON'],
    ['[]', 'snapshot.json has no format number'],
    ['null', 'snapshot.json has no format number'],
    ['{"format":"2"}', 'snapshot.json has no format number'],
    ['{"format":4.5}', 'snapshot.json has no format number'],
    ['{"format":4}', 'snapshot.json is malformed at sequence'],
  ])('refuses the text %j', (text, message) => {
    expect(() => parseSnapshot(text)).toThrow(SnapshotError);
    expect(() => parseSnapshot(text)).toThrow(message);
  });

  const files =
    '../odd.json api/../../odd.json /etc/passwd api\\..\\odd.json odd.json\0.json api//odd.json ./odd.json';
  const hidden = ' .snapshot/ledger.json api/.env api/.well-known/x {id}.json';
  it.each([
    ...[...files.split(' '), ...hidden.split(' ')].map((file) => ({ file })),
    { file: '{ID}.json', path: '/odd/{id}', parameters: [ID] },
    { file: '.x/{path}', path: '/odd/{path}', parameters: [REST] },
    { file: 'x/.{path}', path: '/odd/{path}', parameters: [REST] },
    // A filter nobody knows.
    { file: '{id:all}.json', path: '/odd/{id}', parameters: [ID] },
  ])('refuses a file that could lead elsewhere: $file', (changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed: route "odd": file "/);
  });

  it.each([
    // The last one is taken.
    ...'odd //odd /odd/ /odd/.. /odd/{id} /api/v1'.split(' ').map((path) => ({ path })),
    ...'/odd/{id}{id} /odd/{id /odd/.{id} /odd'.split(' ').map((path) => ({ path, parameters: [ID] })),
    { path: '/odd/{path}/more', parameters: [REST] },
    { path: '/odd/{path}/{id}', parameters: [REST, ID] },
    { path: '/odd/x{path}', parameters: [REST] },
    { path: '/odd/{path}.json', parameters: [REST] },
    { path: '/log/{tree}/tile/{path}', parameters: [TREE, REST] },
    // Taken under another name of the parameter.
    { path: '/api/v1/group/{limit}', parameters: [{ ...ID, name: 'limit' }] },
  ])('refuses a path that could not be searched: $path', (changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed: route "odd": path "/);
  });

  it.each([
    ['class', { class: 'secret' }],
    ['bucket', { bucket: 'secret' }],
    ['no bucket', { bucket: undefined }],
    ['type of parameter', { path: '/odd/{id}', parameters: [{ ...ID, type: 'uuid' }] }],
    ['place of parameter', { parameters: [{ ...ID, in: 'header' }] }],
    ['parameter without an error code', { parameters: [{ ...LIMIT, name: 'offset' }] }],
    ['default out of bounds', { parameters: [{ ...LIMIT, default: 10 }] }],
    ['no default', { parameters: [{ ...LIMIT, default: undefined }] }],
    ['a type that would split the header', { type: 'text/html\r\nSet-Cookie: x=1' }],
    ['an attachment that would end its quotes', { attachment: 'x";y="z' }],
    ['an attachment in a folder', { attachment: '../x.csv' }],
  ])('refuses a route it could not serve: %s', (_name, changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed/);
  });

  it.each([
    ['base_url', 'register.example'],
    ['base_url', 'javascript:alert(1)'],
    ['base_url', 'https://user:secret@register.example/'],
    ['docs', 'developers'],
    ['docs', '//evil.example'],
    ['docs', '/x>; rel="x"'],
  ])('refuses a service whose %s is %s', (key, value) => {
    expect(() => parse({ service: { ...SERVICE, [key]: value } })).toThrow(`service.${key}`);
  });

  it.each(['yesterday', '2026-11-20', '2026-11-20T08:00:00Z\nforged', '\u001b[31m'])(
    'refuses a time that is %j',
    (time) => {
      expect(() => parse({ as_of: time })).toThrow('as_of');
      expect(() => parse({ built_at: time })).toThrow('built_at');
    },
  );

  it.each([...REFUSED_HEADERS.split(' '), 'X_Y', 'X-1', 'X-Y: z\r\nW', ''])(
    'refuses the header %j in every table',
    (name) => {
      const field = { [name]: '1' };
      for (const table of ['all', 'options', 'not_found', 'error']) {
        expect(() => parse({ headers: { ...HEADERS, [table]: field } })).toThrow(`headers.${table}`);
      }
      const content = { ...HEADERS.content, page: field };
      expect(() => parse({ headers: { ...HEADERS, content } })).toThrow('headers.content.page');
      expect(() => parse(withRoute({ headers: field }))).toThrow('routes');
    },
  );

  it('says in one printable line what it refuses', () => {
    for (const text of HOSTILE_TEXTS) {
      const all = { [`${text}:`]: '1' };
      expect(() => parse({ headers: { ...HEADERS, all } })).toThrow(
        /^snapshot\.json is malformed at headers\.all\.[ -~]{0,500}$/,
      );
    }
  });

  it.each([
    { tokens: 0, refill_seconds: 1 },
    { tokens: 1.5, refill_seconds: 1 },
    { tokens: 60, refill_seconds: 0 },
    { tokens: 60, refill_seconds: 0.0001 },
    { tokens: 60 },
  ])('refuses limits of %j', (limit) => {
    for (const bucket of ['api', 'download', 'page']) {
      const others = { tokens: 12, refill_seconds: 60 };
      const limits = { api: others, download: others, page: others, [bucket]: limit };
      expect(() => parse({ limits })).toThrow(`limits.${bucket}`);
    }
  });

  it('needs a limit for each bucket', () => {
    const limit = { tokens: 12, refill_seconds: 60 };
    expect(() => parse({ limits: { api: limit, download: limit } })).toThrow('limits.page');
  });

  it.each([
    ['all', { 'X-Y': 'a\r\nSet-Cookie: x=1' }],
    ['all', { 'X Y': 'a' }],
    ['error', { 'X:Y': 'a' }],
    ['options', { 'X-Y': '' }],
    ['not_found', { 'X-Y': 'é' }],
    ['not_found', undefined],
    ['content', { ...HEADERS.content, asset: undefined }],
    ['content', { ...HEADERS.content, page: { 'X-Y': 7 } }],
    ['content', { ...HEADERS.content, tile: { 'X-Y': 7 } }],
  ])('refuses headers it could not send: %s %j', (key, fields) => {
    expect(() => parse({ headers: { ...HEADERS, [key]: fields } })).toThrow(
      new RegExp(`^snapshot\\.json is malformed at headers\\.${key}`),
    );
  });

  it.each(ERROR_CODES)('needs the status and title of %s', (code) => {
    const without = Object.fromEntries(Object.entries(ERRORS).filter(([key]) => key !== code));
    expect(() => parse({ errors: without })).toThrow('snapshot.json is malformed at errors');
    expect(() => parse({ errors: { ...ERRORS, [code]: { status: 200, title: 'x' } } })).toThrow(
      `errors.${code}`,
    );
    expect(() => parse({ errors: { ...ERRORS, [code]: { status: 404 } } })).toThrow(`errors.${code}`);
  });

  it('ignores keys it does not know, everywhere', () => {
    const routes = ROUTES.map((route) => ({ ...route, colour: 'red' }));
    const one = { tokens: 1, refill_seconds: 1 };
    const limits = { api: { ...one, refill_seconds: 0.5, burst: 9 }, download: one, page: one, feeds: {} };
    const errors = { ...ERRORS, teapot: { status: 418, title: 'x', colour: 'red' } };
    const headers = { ...HEADERS, content: { ...HEADERS.content, video: {} }, future: {} };
    expect(parse({ future: { x: 1 }, routes, limits, errors, headers })).toMatchObject({
      sequence: 3,
      limits: { api: { tokens: 1, refill_seconds: 0.5 } },
    });
  });

  it('reads a tree without a log, whose headers lack those of its classes', () => {
    const { checkpoint: _, tile: __, ...content } = HEADERS.content;
    const noStore = { 'Cache-Control': 'no-store' };
    expect(parse({ headers: { ...HEADERS, content } })).toMatchObject({
      headers: { content: { ...content, checkpoint: noStore, tile: noStore } },
    });
  });

  it('takes a base URL with a slash at its end for the same without', () => {
    const service = { ...SERVICE, base_url: 'https://register.example/' };
    expect(parse({ service })).toMatchObject({ service: { base_url: 'https://register.example' } });
  });

  it('reads an empty register, whose as_of is null', () => {
    expect(parse({ as_of: null })).toMatchObject({ as_of: null });
  });
});

describe('errorOf', () => {
  it('is what the snapshot says, or 503 without one', () => {
    const snapshot = parseSnapshot(JSON.stringify(snapshotJson()));
    expect(errorOf(snapshot, 'not_found')).toEqual({ status: 404, title: 'Title of 404' });
    expect(errorOf(undefined, 'not_found')).toEqual({ status: 503, title: 'No snapshot yet' });
  });
});

function titleWith(changes: Record<string, unknown>): string {
  return titleOf(parseSnapshot(JSON.stringify(snapshotJson(changes))));
}

describe('titleOf', () => {
  it('names sequence and date', () => {
    expect(titleWith({})).toBe('snapshot 3, as of 2026-11-20T08:00:00Z');
    expect(titleWith({ as_of: null })).toBe('snapshot 3, of an empty register');
  });
});
