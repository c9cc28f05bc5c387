import { describe, expect, it } from 'vitest';

import { Router } from '../../../proxy/snapshot/router.js';
import {
  describeSnapshot,
  ERROR_CODES,
  parseSnapshot,
  SnapshotError,
} from '../../../proxy/snapshot/schema.js';
import { HOSTILE_TEXTS } from '../../generator/tree/hostile.js';
import { ERRORS, HEADERS, ROUTES, SERVICE, snapshotJson } from '../support.js';

const parse = (changes: Record<string, unknown>) => {
  const snapshot = parseSnapshot(JSON.stringify(snapshotJson(changes)));
  // Some mistakes show only when the table is compiled.
  void new Router(snapshot);
  return snapshot;
};

const ODD = { name: 'odd', path: '/odd', file: 'odd.json', class: 'record', bucket: 'api', type: 'x/y' };
const withRoute = (changes: object): Record<string, unknown> => ({
  routes: [...ROUTES, { ...ODD, ...changes }],
});
/** Those of some routes with which a table is not refused, or not because of this key. */
const accepted = (routes: readonly object[], key = ''): object[] =>
  routes.filter((route) => {
    try {
      return parse(withRoute(route));
    } catch (error) {
      const message = String(error);
      const isOfKey = message.includes(`.${key}: `) || message.includes(`: route "odd": ${key} "`);
      return !message.startsWith('SnapshotError: snapshot.json is malformed') || !(key === '' || isOfKey);
    }
  });

const ID = { name: 'id', in: 'path', type: 'id' };
const TREE = { name: 'tree', in: 'path', type: 'tree' };
const REST = { name: 'path', in: 'path', type: 'path' };
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 9, default: 3 };

const REFUSED_HEADERS =
  'Transfer-Encoding Content-Length content-encoding Content-Type Connection Keep-Alive Upgrade Trailer TE ' +
  'Proxy-Authenticate Set-Cookie set-cookie Cookie Refresh Location Clear-Site-Data ETag Date Content-Range';

describe('parseSnapshot', () => {
  it('says which format it reads when it meets another one', () => {
    for (const text of ['{"format":5}', JSON.stringify(snapshotJson({ format: 5 }))])
      expect(() => parseSnapshot(text)).toThrow('tree is of format 5, this proxy reads format 4');
  });

  it.each([
    ['', 'snapshot.json is not JSON'],
    ['{"format":4', 'snapshot.json is not JSON'],
    ...['[]', 'null', '{"format":"2"}', '{"format":4.5}'].map((text) => [
      text,
      'snapshot.json has no format number',
    ]),
    ['{"format":4}', 'snapshot.json is malformed at sequence'],
  ])('refuses the text %j', (text = '', message) => {
    expect(() => parseSnapshot(text)).toThrow(SnapshotError);
    expect(() => parseSnapshot(text)).toThrow(message);
  });

  it('refuses a file that could lead elsewhere', () => {
    const files =
      '../odd.json api/../../odd.json /etc/passwd api\\..\\odd.json odd.json\0.json api//odd.json ./odd.json  ' +
      '.snapshot/ledger.json api/.env api/.well-known/x {id}.json';
    const routes = [
      ...files.split(' ').map((file) => ({ file })),
      { file: '{ID}.json', path: '/odd/{id}', parameters: [ID] },
      { file: '.x/{path}', path: '/odd/{path}', parameters: [REST] },
      { file: 'x/.{path}', path: '/odd/{path}', parameters: [REST] },
      // A filter nobody knows.
      { file: '{id:all}.json', path: '/odd/{id}', parameters: [ID] },
    ];
    expect(accepted(routes, 'file')).toEqual([]);
  });

  it('refuses a path that could not be searched', () => {
    const routes = [
      // The last one is taken.
      ...'odd //odd /odd/ /odd/.. /odd/{id} /api/v1'.split(' ').map((path) => ({ path })),
      ...'/odd/{id}{id} /odd/{id /odd/.{id} /odd'.split(' ').map((path) => ({ path, parameters: [ID] })),
      ...'/odd/{path}/more /odd/x{path} /odd/{path}.json'
        .split(' ')
        .map((path) => ({ path, parameters: [REST] })),
      { path: '/odd/{path}/{id}', parameters: [REST, ID] },
      { path: '/log/{tree}/tile/{path}', parameters: [TREE, REST] },
      // Taken under another name of the parameter.
      { path: '/api/v1/group/{limit}', parameters: [{ ...ID, name: 'limit' }] },
    ];
    expect(accepted(routes, 'path')).toEqual([]);
  });

  it('refuses a route it could not serve', () => {
    const routes = [
      { class: 'secret' },
      { bucket: 'secret' },
      { bucket: undefined },
      { path: '/odd/{id}', parameters: [{ ...ID, type: 'uuid' }] },
      { parameters: [{ ...ID, in: 'header' }] },
      // No error code.
      { parameters: [{ ...LIMIT, name: 'offset' }] },
      { parameters: [{ ...LIMIT, default: 10 }] },
      { parameters: [{ ...LIMIT, default: undefined }] },
      { type: 'text/html\r\nSet-Cookie: x=1' },
      { attachment: 'x";y="z' },
      { attachment: '../x.csv' },
    ];
    expect(accepted(routes)).toEqual([]);
  });

  it('refuses a service with other URLs, and times that are none', () => {
    const urls = ['register.example', 'javascript:alert(1)', 'https://user:secret@register.example/'];
    for (const base_url of urls)
      expect(() => parse({ service: { ...SERVICE, base_url } })).toThrow('service.base_url');
    for (const docs of ['developers', '//evil.example', '/x>; rel="x"'])
      expect(() => parse({ service: { ...SERVICE, docs } })).toThrow('service.docs');
    for (const time of ['yesterday', '2026-11-20', '2026-11-20T08:00:00Z\nforged', '\u001b[31m']) {
      expect(() => parse({ as_of: time })).toThrow('as_of');
      expect(() => parse({ built_at: time })).toThrow('built_at');
    }
  });

  it('refuses headers that would frame a message or are none, in every table', () => {
    for (const name of [...REFUSED_HEADERS.split(' '), 'X_Y', 'X-1', 'X-Y: z\r\nW', '']) {
      const field = { [name]: '1' };
      for (const table of ['all', 'options', 'not_found', 'error'])
        expect(() => parse({ headers: { ...HEADERS, [table]: field } }), name).toThrow(`headers.${table}`);
      const content = { ...HEADERS.content, page: field };
      expect(() => parse({ headers: { ...HEADERS, content } })).toThrow('headers.content.page');
      expect(() => parse(withRoute({ headers: field }))).toThrow('routes');
    }
  });

  it('says in one printable line what it refuses', () => {
    for (const text of HOSTILE_TEXTS) {
      const all = { [`${text}:`]: '1' };
      expect(() => parse({ headers: { ...HEADERS, all } })).toThrow(
        /^snapshot\.json is malformed at headers\.all\.[ -~]{0,500}$/,
      );
    }
  });

  it('refuses limits that it can’t count, and needs one for each bucket', () => {
    const others = { tokens: 12, refill_seconds: 60 };
    for (const limit of [
      { tokens: 0, refill_seconds: 1 },
      { tokens: 1.5, refill_seconds: 1 },
      { tokens: 60, refill_seconds: 0 },
      { tokens: 60, refill_seconds: 0.0001 },
      { tokens: 60 },
      undefined,
    ])
      for (const bucket of ['api', 'download', 'page']) {
        const limits = { api: others, download: others, page: others, [bucket]: limit };
        expect(() => parse({ limits })).toThrow(`limits.${bucket}`);
      }
  });

  it.each([
    ['all', { 'X-Y': 'a\r\nSet-Cookie: x=1' }],
    ['all', { 'X Y': 'a' }],
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

  it('needs status and title of each error', () => {
    for (const code of ERROR_CODES) {
      const without = Object.fromEntries(Object.entries(ERRORS).filter(([key]) => key !== code));
      expect(() => parse({ errors: without })).toThrow('snapshot.json is malformed at errors');
      for (const error of [{ status: 200, title: 'x' }, { status: 404 }])
        expect(() => parse({ errors: { ...ERRORS, [code]: error } })).toThrow(`errors.${code}`);
    }
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
    expect(parse({ service }).service.base_url).toBe('https://register.example');
  });
});

it('describeSnapshot names sequence and date, and an empty register, whose as_of is null', () => {
  expect(describeSnapshot(parse({}))).toBe('snapshot 3, as of 2026-11-20T08:00:00Z');
  expect(describeSnapshot(parse({ as_of: null }))).toBe('snapshot 3, of an empty register');
});
