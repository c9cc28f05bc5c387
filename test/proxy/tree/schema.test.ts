import { describe, expect, it } from 'vitest';

import { Router } from '../../../proxy/tree/router.js';
import { describeSnapshot, ERROR_CODES, parseSnapshot, SnapshotError } from '../../../proxy/tree/schema.js';
import { HOSTILE_TEXTS } from '../../generator/tree/hostile.js';
import { LIMITS } from '../../support/snapshot.js';
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
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 9, default: 3 };

describe('parseSnapshot', () => {
  it.each([
    ['', 'is not JSON'],
    ['{"format":5', 'is not JSON'],
    ...['[]', 'null', '{"format":"2"}', '{"format":4.5}'].map((text) => [text, 'has no format number']),
    ['{"format":5}', 'snapshot.json is malformed at sequence'],
    ['{"format":6}', 'tree is of format 6, this proxy reads format 5'],
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
      { parameters: [{ ...LIMIT, default: undefined }] },
      { type: 'text/html\r\nSet-Cookie: x=1' },
      { attachment: 'x";y="z' },
      { attachment: '../x.csv' },
    ];
    expect(accepted(routes)).toEqual([]);
  });

  it('refuses a service with other URLs, times that are none, and redirects that lead elsewhere', () => {
    const urls = ['register.example', 'javascript:alert(1)', 'https://user:secret@register.example/'];
    for (const base_url of urls)
      expect(() => parse({ service: { ...SERVICE, base_url } })).toThrow('service.base_url');
    for (const docs of ['developers', '//evil.example', '/x>; rel="x"'])
      expect(() => parse({ service: { ...SERVICE, docs } })).toThrow('service.docs');
    for (const time of ['yesterday', '2026-11-20', '2026-11-20T08:00:00Z\nforged', '\u001b[31m'])
      for (const key of ['as_of', 'built_at']) expect(() => parse({ [key]: time })).toThrow(key);
    for (const to of ['//evil.example', '/x\r\nSet-Cookie: a', 'x'])
      expect(() => parse({ redirects: [{ path: '/docs', to }] })).toThrow('redirects.0.to');
    const taken = { redirects: [{ path: '/api/v1', to: '/developers' }] };
    expect(() => parse(taken)).toThrow('its path "/api/v1" is a redirect');
  });

  it.each([
    ['nothing', 'requires "nothing": expected a route with documents'],
    ['odd', 'requires "odd": expected a route with documents'],
    ['largest', '"{limit}" is no declared parameter'],
  ])('refuses a route that requires "%s"', (requires, message) => {
    const route = { path: '/odd/{id}', parameters: [ID], requires };
    expect(() => parse(withRoute(route))).toThrow(message);
  });

  it('refuses headers that are none or could not be sent, in every table', () => {
    const names = ['X_Y', 'X-1', 'X Y', 'X-Y: z\r\nW', ''];
    const values = ['a\r\nSet-Cookie: x=1', '', 'é', 7];
    const fields = [...names.map((name) => ({ [name]: '1' })), ...values.map((value) => ({ 'X-Y': value }))];
    for (const field of fields) {
      for (const table of ['all', 'options', 'not_found', 'error'])
        expect(() => parse({ headers: { ...HEADERS, [table]: field } })).toThrow(`headers.${table}`);
      const content = { ...HEADERS.content, page: field };
      expect(() => parse({ headers: { ...HEADERS, content } })).toThrow('headers.content.page');
      expect(() => parse(withRoute({ headers: field }))).toThrow('routes');
    }
    const content = { ...HEADERS.content, asset: undefined };
    expect(() => parse({ headers: { ...HEADERS, content } })).toThrow('headers.content.asset');
    expect(() => parse({ headers: { ...HEADERS, not_found: undefined } })).toThrow('headers.not_found');
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
    const [tokens, refill_seconds] = [60, 1];
    for (const limit of [
      { tokens: 0, refill_seconds },
      { tokens: 1.5, refill_seconds },
      { tokens, refill_seconds: 0.0001 },
      { tokens },
      undefined,
    ])
      for (const bucket of ['api', 'download', 'page'])
        expect(() => parse({ limits: { ...LIMITS, [bucket]: limit } })).toThrow(`limits.${bucket}`);
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
    const colour = { colour: 'red' };
    const routes = ROUTES.map((route) => ({ ...route, ...colour }));
    const limits = { ...LIMITS, api: { ...LIMITS.api, ...colour }, feeds: {} };
    const errors = { ...ERRORS, teapot: { status: 418, title: 'x', ...colour } };
    const headers = { ...HEADERS, content: { ...HEADERS.content, video: {} }, future: {} };
    expect(parse({ future: { x: 1 }, routes, limits, errors, headers })).toMatchObject({ limits: LIMITS });
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
