import { describe, expect, it } from 'vitest';

import { describeSnapshot, parseSnapshot, SnapshotError } from '../../../proxy/tree/schema.js';
import { LIMITS } from '../../support/snapshot.js';
import { ERRORS, HEADERS, ROUTES, SERVICE, route, snapshotJson } from '../support.js';

const parse = (changes: object) => parseSnapshot(JSON.stringify(snapshotJson({ ...changes })));
/** A snapshot with one more route, which says this. */
const withRoute = (changes: object) => ({
  routes: [...ROUTES, route('odd', '/odd', 'odd.json', 'record', changes)],
});
const withHeaders = (table: string, field: object) => ({ headers: { ...HEADERS, [table]: field } });
const withContent = (name: string, field: object | undefined) =>
  withHeaders('content', { ...HEADERS.content, [name]: field });
const withPage = (limit: object) => ({ limits: { ...LIMITS, page: { ...LIMITS.page, ...limit } } });
const each = <T>(values: readonly T[], change: (value: T) => object): object[] => values.map(change);

const FILES =
  '../odd.json api/../../odd.json /etc/passwd api\\..\\odd.json odd.json\0.json api//odd.json ./odd.json  ' +
  '.snapshot/ledger.json api/.env api/.well-known/x {ID}.json {id:all}.json {id}{id}.json';
const TIMES = ['', 'yesterday', '2026-11-20', '2026-02-30T00:00:00Z', '\u001b[31m'];
const FIELDS = [
  ...['X_Y', 'X-1', 'X Y', 'X-Y: z\r\nW', ''].map((name) => ({ [name]: '1' })),
  ...['a\r\nSet-Cookie: x=1', '', 'é', 7].map((value) => ({ 'X-Y': value })),
  // The server sets these itself.
  ...'content-length Transfer-Encoding CONNECTION content-range content-encoding date keep-alive upgrade trailer'
    .split(' ')
    .map((name) => ({ [name]: '1' })),
];
const odd = (key: string): string => `routes.${ROUTES.length}.${key}`;

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

  it.each<[string, string, object[]]>([
    ['a file that could lead elsewhere', odd('file'), each(FILES.split(' '), (file) => withRoute({ file }))],
    ['what would split a header', odd('type'), [withRoute({ type: 'text/html\r\nSet-Cookie: x=1' })]],
    ['no name', odd('attachment'), each(['x";y="z', '../x.csv'], (name) => withRoute({ attachment: name }))],
    [
      'a path to another host, or with one parameter twice',
      odd('path'),
      each(['/odd>; rel="x"', '//odd', '/odd/{id}/{id}', '/{a}/{id}/{a}'], (path) => withRoute({ path })),
    ],
    [
      'a redirect to another host',
      'redirects.0.to',
      each(['//evil.example', '/x\r\nSet-Cookie: a', 'x'], (to) => ({ redirects: [{ path: '/docs', to }] })),
    ],
    ['no hash', 'files.0.sha256', [{ files: [{ file: '/x', bytes: 1, sha256: '"\r\nX: y' }] }]],
    ['an unknown class', odd('class'), [withRoute({ class: 'secret' })]],
    ['an unknown bucket', odd('bucket'), each(['secret', undefined], (bucket) => withRoute({ bucket }))],
    [
      'an unknown parameter',
      odd('parameters.0'),
      each([{ in: 'path', type: 'uuid' }, { in: 'header' }], (parameter) =>
        withRoute({ parameters: [{ name: 'id', ...parameter }] }),
      ),
    ],
    ['fields that could not be sent', 'headers.all', each(FIELDS, (field) => withHeaders('all', field))],
    ['such of errors', 'headers.error', each(FIELDS, (field) => withHeaders('error', field))],
    ['such of pages', 'headers.content.page', each(FIELDS, (field) => withContent('page', field))],
    ['such of a route', odd('headers'), each(FIELDS, (headers) => withRoute({ headers }))],
    ['a class without headers', 'headers.content.asset', [withContent('asset', undefined)]],
    [
      'a status that is none of an error',
      'errors.not_found.status',
      each([99, 200, 304, 600, 404.5, '404'], (status) => ({
        errors: { ...ERRORS, not_found: { status, title: 'x' } },
      })),
    ],
    ['no time, which would never be too old', 'built_at', each(TIMES, (time) => ({ built_at: time }))],
    ['no date', 'as_of', each(TIMES, (time) => ({ as_of: time }))],
    [
      'limits with which times would not be exact',
      'limits.page',
      [
        ...each([1_000_001, 0], (tokens) => withPage({ tokens })),
        ...each([86_401, 0], (seconds) => withPage({ refill_seconds: seconds })),
      ],
    ],
  ])('refuses %s: %s', (_what, place, changes) => {
    for (const change of changes)
      expect(() => parse(change), JSON.stringify(change)).toThrow(`snapshot.json is malformed at ${place}`);
  });

  it('takes the largest limits, fields and paths of any name, and a base URL with a slash at its end', () => {
    const { burst, emissionIntervalMs } = parse(withPage({ tokens: 1_000_000, refill_seconds: 86_400 }))
      .limits.page;
    expect(Number.isSafeInteger(Date.UTC(9999, 0) + burst * emissionIntervalMs)).toBe(true);
    const more = { path: '/odd/{id}/{idx}', headers: { 'Content-Language': 'en', Dated: 'x' } };
    expect(parse(withRoute(more)).routes).toHaveLength(ROUTES.length + 1);
    const service = { ...SERVICE, base_url: 'https://register.example/' };
    expect(parse({ service }).service.base_url).toBe('https://register.example');
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
});

it('describeSnapshot names sequence and date, and an empty register, whose as_of is null', () => {
  expect(describeSnapshot(parse({}))).toBe('snapshot 3, as of 2026-11-20T08:00:00Z');
  expect(describeSnapshot(parse({ as_of: null }))).toBe('snapshot 3, of an empty register');
});
