import { describe, expect, it } from 'vitest';

import { describeSnapshot, parseSnapshot, SnapshotError } from '../../../proxy/tree/schema.js';
import { LIMITS } from '../../support/snapshot.js';
import { ERRORS, HEADERS, ROUTES, SERVICE, route, snapshotJson } from '../support.js';

const parse = (changes: Record<string, unknown>) => parseSnapshot(JSON.stringify(snapshotJson(changes)));

const withRoute = (changes: object) => ({
  routes: [...ROUTES, route('odd', '/odd', 'odd.json', 'record', changes)],
});
/** Those of some routes with which a table is not refused because of this key. */
const accepted = (routes: readonly object[], key: string): object[] =>
  routes.filter((route) => {
    try {
      return parse(withRoute(route));
    } catch (error) {
      return !String(error).startsWith(
        `SnapshotError: snapshot.json is malformed at routes.${ROUTES.length}.${key}`,
      );
    }
  });

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
      '.snapshot/ledger.json api/.env api/.well-known/x {ID}.json {id:all}.json {id}{id}.json';
    const routes = files.split(' ').map((file) => ({ file }));
    expect(accepted(routes, 'file')).toEqual([]);
  });

  it('refuses what would split a header, or lead to another host', () => {
    for (const [key, value] of [
      ['type', 'text/html\r\nSet-Cookie: x=1'],
      ['attachment', 'x";y="z'],
      ['attachment', '../x.csv'],
      ['path', '/odd>; rel="x"'],
      ['path', '//odd'],
    ] as const)
      expect(accepted([{ [key]: value }], key)).toEqual([]);
    for (const to of ['//evil.example', '/x\r\nSet-Cookie: a', 'x'])
      expect(() => parse({ redirects: [{ path: '/docs', to }] })).toThrow('redirects.0.to');
    const files = [{ file: '/x', bytes: 1, sha256: '"\r\nX: y' }];
    expect(() => parse({ files })).toThrow('files.0.sha256');
  });

  it('refuses a route of a class, bucket or parameter that it does not know', () => {
    expect(accepted([{ class: 'secret' }], 'class')).toEqual([]);
    expect(accepted([{ bucket: 'secret' }, { bucket: undefined }], 'bucket')).toEqual([]);
    for (const parameter of [{ in: 'path', type: 'uuid' }, { in: 'header' }])
      expect(accepted([{ parameters: [{ name: 'id', ...parameter }] }], 'parameters.0')).toEqual([]);
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

  it('refuses headers that the server sets itself, in any case', () => {
    const framing =
      'content-length transfer-encoding connection content-range content-encoding date keep-alive upgrade trailer';
    for (const name of framing.split(' ').flatMap((each) => [each, each.toUpperCase()])) {
      const field = { [name]: '1' };
      const content = { ...HEADERS.content, record: field };
      for (const headers of [
        { ...HEADERS, all: field },
        { ...HEADERS, content },
      ])
        expect(() => parse({ headers }), name).toThrow(SnapshotError);
      expect(() => parse(withRoute({ headers: field })), name).toThrow(SnapshotError);
    }
    expect(accepted([{ headers: { 'Content-Language': 'en', Dated: 'x' } }], 'headers')).toHaveLength(1);
  });

  it('refuses a path that names one parameter twice', () => {
    const paths = ['/odd/{id}/{id}', '/{id}/x/{id}.json', '/{a}/{id}/{a}'];
    expect(
      accepted(
        paths.map((path) => ({ path })),
        'path',
      ),
    ).toEqual([]);
    expect(accepted([{ path: '/odd/{id}/{idx}' }], 'path')).toHaveLength(1);
  });

  it('refuses times that are none, whose snapshot would never be too old', () => {
    for (const time of ['', 'yesterday', '2026-11-20', '2026-02-30T00:00:00Z', '\u001b[31m'])
      for (const key of ['built_at', 'as_of'])
        expect(() => parse({ [key]: time }), time).toThrow(`snapshot.json is malformed at ${key}`);
  });

  it('refuses limits with which times would not be exact', () => {
    for (const wrong of [
      { tokens: 1_000_001 },
      { tokens: 0 },
      { refill_seconds: 86_401 },
      { refill_seconds: 0 },
    ])
      expect(() => parse({ limits: { ...LIMITS, page: { ...LIMITS.page, ...wrong } } })).toThrow(
        'limits.page',
      );
    const { burst, emissionIntervalMs } = parse({
      limits: { ...LIMITS, page: { tokens: 1_000_000, refill_seconds: 86_400 } },
    }).limits.page;
    expect(Number.isSafeInteger(Date.UTC(9999, 0) + burst * emissionIntervalMs)).toBe(true);
  });

  it('ignores keys it does not know, everywhere', () => {
    const colour = { colour: 'red' };
    const routes = ROUTES.map((route) => ({ ...route, ...colour }));
    const limits = { ...LIMITS, api: { ...LIMITS.api, ...colour }, feeds: {} };
    const errors = { ...ERRORS, teapot: { status: 418, title: 'x', ...colour } };
    const headers = { ...HEADERS, content: { ...HEADERS.content, video: {} }, future: {} };
    const { api } = parse({ future: { x: 1 }, routes, limits, errors, headers }).limits;
    expect(api.burst).toBe(60);
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
