/**
 * What every server of a published tree must do, as requests and what to expect of each. Anything
 * with a base URL can be tested: the proxy, nginx, a cache before either, a CDN.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { parseSnapshot, type ErrorCode, type RouteDeclaration as Route } from '../../../proxy/tree/schema.js';
import { ask } from '../../support/ask.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

interface Options {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a request as it is, from a client that no limit knows yet. */
export type Send = (path: string, options?: Options) => Promise<Answer>;

export interface Case {
  readonly name: string;
  /** Differences from what is expected, one line each; none is success. */
  readonly run: (send: Send) => Promise<readonly string[]>;
}

/** The values of parameters that are no numbers. */
const VALUES: readonly (readonly [parameter: string, values: RegExp])[] = [
  ['{prefix}', /^[0-9a-f]+$/],
  ['{platform_id}', /^[\w-][\w.-]*$/],
];

/** Requests with paths that no URL parser touches. Each has an address of its own in X-Forwarded-For. */
export function sender(base: string): Send {
  const port = Number(new URL(base).port);
  let client = 0;
  return async (path, { method = 'GET', headers = {} } = {}) => {
    client += 1;
    const address = `198.18.${client >> 8}.${client & 255}`;
    const asked = { method, headers: { 'x-forwarded-for': address, ...headers } };
    const { status, fields, body } = await ask(port, path, asked);
    const all: Record<string, string> = {};
    for (let at = 0; at < fields.length; at += 2) {
      const [name = '', value = ''] = [fields[at]?.toLowerCase(), fields[at + 1]];
      all[name] = name in all ? `${all[name]} | ${value}` : value;
    }
    return { status, headers: all, body };
  };
}

interface Refusal extends Options {
  readonly detail?: RegExp;
  readonly extra?: Expected['headers'];
}

/** What to expect; a header that is null must be absent. */
interface Expected {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  readonly body?: Buffer;
}

const differences = (answer: Answer, { status, headers = {}, body }: Expected): string[] => {
  const found = answer.status === status ? [] : [`status ${answer.status}, expected ${status}`];
  for (const [name, expected] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    const fits = expected instanceof RegExp ? expected.test(value ?? '') : value === (expected ?? undefined);
    if (!fits) found.push(`${name}: ${value}, expected ${expected ?? 'none'}`);
  }
  if (body !== undefined && !answer.body.equals(body))
    found.push(`body of ${answer.body.length} bytes, expected ${body.length} others`);
  return found;
};

const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string().min(1),
  instance: z.string().optional(),
  error: z.string(),
});

/** The path as a URI reference, which `instance` is. */
const instanceOf = (path: string): string =>
  path
    .replace(/\?.*/, '')
    .slice(0, 256)
    .replace(/%(?![0-9A-Fa-f]{2})/, '%25')
    .replace('\\', '%5C')
    .replace(/^\/\//, '/%2F');

const EMPTY = Buffer.alloc(0);
const STRONG = /^"[^"]+"$/;
const DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;

/** A refusal by the limit. Each request has a parameter of its own, so that caches ask the server. */
const limited = async (send: Send, target: string, address: string, accept: string): Promise<Answer> => {
  const headers = { Accept: accept, 'x-forwarded-for': address };
  for (let count = 0; count < 100; count += 1) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(`${target}?${20 * count + index}`, { headers })),
    );
    const found = answers.find(({ status }) => status === 429);
    if (found !== undefined) return found;
  }
  throw new Error(`${target} was not refused 2,000 times`);
};

const minuteLater = (date: string): string => new Date(Date.parse(date) + 60_000).toUTCString();

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the tree has no group, page, summary or download');
  return value;
}

/** @param dist the tree that is served, or an equal one */
export function contractCases(dist: string): readonly Case[] {
  const read = (file: string): Buffer => readFileSync(join(dist, file));
  const {
    service,
    headers: published,
    errors,
    compressed_from: compressedFrom = 0,
    routes,
    redirects,
  } = parseSnapshot(read('snapshot.json').toString());
  const NO_CONTENT = { status: 204, headers: { ...published.all, ...published.options }, body: EMPTY };
  const leadsTo = (location: string): Expected => ({
    status: 308,
    headers: { ...published.all, ...published.not_found, Location: location },
  });
  const cases: Case[] = [];
  const add = (name: string, run: Case['run']): void => void cases.push({ name, run });
  const one = (
    name: string,
    path: string,
    options: Options,
    expected: Expected,
    more: (answer: Answer) => string[] = () => [],
  ): void =>
    add(name, async (send) => {
      const answer = await send(path, options);
      return [...differences(answer, expected), ...more(answer)];
    });

  /** The headers of a route's content. @param path of the request, for a page that names its document */
  const contentHeaders = (route: Route, path = ''): Record<string, string | RegExp> => ({
    ...published.all,
    ...published.content[route.class],
    ...route.headers,
    ...(route.requires === undefined
      ? {}
      : { Link: `</api/v1${path}>; rel="alternate"; type="application/json"` }),
    'Content-Type': route.type,
    ETag: STRONG,
    'Last-Modified': DATE,
    'RateLimit-Policy': new RegExp(`^"${route.bucket}";q=\\d+;w=\\d+`),
    ...(route.attachment === undefined
      ? {}
      : { 'Content-Disposition': `attachment; filename="${route.attachment}"` }),
  });

  const refused = (
    name: string,
    path: string,
    code: ErrorCode,
    { detail, extra = {}, ...options }: Refusal = {},
  ): void => {
    const { status, title } = errors[code];
    const headers = {
      ...published.all,
      ...(status === 404 ? published.not_found : published.error),
      ...extra,
      'Content-Type': 'application/problem+json',
      ETag: null,
      'Content-Encoding': null,
      'RateLimit-Policy': /^"\w+";q=\d+;w=\d+/,
    };
    one(name, path, options, { status, headers }, ({ body }) => {
      const parsed = problem.safeParse(jsonOf(body));
      if (!parsed.success) return [`body: no problem details (${parsed.error.issues[0]?.message})`];
      const { type, instance, ...rest } = parsed.data;
      const expectedType = `${service.base_url}${service.docs}#error-${code}`;
      const isSame = rest.title === title && rest.status === status && rest.error === code;
      return [
        ...(type === expectedType ? [] : [`type ${type}, expected ${expectedType}`]),
        ...(isSame ? [] : [`error ${rest.error} (${rest.status}), expected ${code} (${status})`]),
        ...(instance === instanceOf(path) ? [] : [`instance ${instance}, expected the path`]),
        ...(detail?.test(rest.detail) === false ? [`detail "${rest.detail}", expected ${detail}`] : []),
      ];
    });
  };

  const routeOf = (name: string): Route => {
    const found = routes.find((route) => route.name === name);
    if (found === undefined) throw new Error(`the tree has no route "${name}"`);
    return found;
  };
  /** A URL of a route, and its file. Templates are filled with the first file that is there. */
  const exampleOf = (route: Route): { path: string; file: string } | undefined => {
    const { path, file, name } = route;
    if (route.requires !== undefined) {
      const document = exampleOf(routeOf(route.requires));
      return document && { path: document.path.replace('/api/v1', ''), file };
    }
    if (name === 'largest') return { path, file: file.replace('{limit}', '100') };
    if (!file.includes('{')) return { path, file };
    const [before = '', after = ''] = file.split(/\{\w+\}/);
    const folder = join(dist, before);
    const value =
      statSync(folder, { throwIfNoEntry: false }) &&
      readdirSync(folder)
        .map((entry) => entry.replace(after.replace(/^\//, ''), ''))
        .find(
          (entry) =>
            statSync(join(dist, before + entry + after), { throwIfNoEntry: false })?.isFile() === true &&
            (VALUES.find(([parameter]) => file.includes(parameter))?.[1] ?? /^\d+(-\d+)*$/).test(entry),
        );
    if (value === undefined) return undefined;
    return { path: path.replace(/\{\w+\}/, value), file: before + value + after };
  };
  const examples = routes.flatMap((route) => {
    // The page of a 404 is one at its own path, too.
    const example = route.path === errors.not_found.page ? undefined : exampleOf(route);
    return example ? [{ route, ...example, size: statSync(join(dist, example.file)).size }] : [];
  });
  const exampleFor = (name: string) => found(examples.find(({ route }) => route.name === name));
  const group = exampleFor('group');
  const groupPage = exampleFor('group-page');
  const summary = exampleFor('largest');
  const download = exampleFor('download-groups-csv');
  const pages = examples.filter(({ route }) => route.class === 'page');
  const page = found(pages.toSorted((a, b) => b.size - a.size)[0]);

  for (const { route, path, file } of examples) {
    const body = read(file);
    const length = { 'Content-Length': String(body.length), 'Content-Encoding': null };
    const headers = { ...contentHeaders(route, path), ...length };
    one(`content: ${route.name}`, path, {}, { status: 200, headers, body });
  }
  const feed = examples.filter(({ route }) => route.class === 'feed').slice(0, 1);
  const documents = examples.filter(({ route }) => route.name === 'download-documents-other');
  for (const { route, path, file } of [group, groupPage, page, download, ...documents, ...feed]) {
    const headers = { ...contentHeaders(route, path), 'Content-Length': String(read(file).length) };
    one(`HEAD: ${route.name}`, path, { method: 'HEAD' }, { status: 200, headers, body: EMPTY });
  }

  // Preconditions
  for (const { route, path, file } of [group, groupPage, download]) {
    const conditional = (
      name: string,
      headersFor: (etag: string, date: string) => Record<string, string>,
      expected: 200 | 304 | 412,
    ): void =>
      add(`condition: ${name}, ${route.name}`, async (send) => {
        const { etag = '', 'last-modified': date = '' } = (await send(path)).headers;
        const answer = await send(path, { headers: headersFor(etag, date) });
        if (expected === 412) return differences(answer, { status: 412, headers: published.error });
        const { 'Cache-Control': lifetime = null, Link: link = null } = contentHeaders(route, path);
        const headers = { ...published.all, ETag: etag, 'Last-Modified': date, 'Cache-Control': lifetime };
        const linked = route.requires === undefined ? {} : { Link: link };
        const body = expected === 200 ? read(file) : EMPTY;
        return differences(answer, { status: expected, headers: { ...headers, ...linked }, body });
      });
    const EARLIER = 'Sat, 01 Jan 2000 00:00:00 GMT';
    conditional('its ETag', (etag) => ({ 'If-None-Match': etag }), 304);
    conditional('its ETag among others', (etag) => ({ 'If-None-Match': `"x", ${etag}` }), 304);
    conditional('its ETag as a weak one', (etag) => ({ 'If-None-Match': `W/${etag}` }), 304);
    conditional('any ETag', () => ({ 'If-None-Match': '*' }), 304);
    conditional('If-Match with its ETag as a weak one', (etag) => ({ 'If-Match': `W/${etag}` }), 412);
    conditional('its date', (_, date) => ({ 'If-Modified-Since': date }), 304);
    conditional('an earlier date', () => ({ 'If-Modified-Since': EARLIER }), 200);
    conditional('a date a minute later', (_, date) => ({ 'If-Modified-Since': minuteLater(date) }), 200);
    conditional('If-Match with its ETag', (etag) => ({ 'If-Match': etag }), 200);
    conditional('If-Match with another', () => ({ 'If-Match': '"x"' }), 412);
    conditional('If-Unmodified-Since with an earlier date', () => ({ 'If-Unmodified-Since': EARLIER }), 412);
  }

  // Codings
  const decode: Readonly<Record<string, (body: Buffer) => Buffer>> = {
    br: brotliDecompressSync,
    gzip: gunzipSync,
  };
  for (const { route, path, file, size } of [summary, page]) {
    if (size < compressedFrom) throw new Error(`${file} has no compressed siblings`);
    for (const [accepted, coding] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['gzip;q=0.5, br;q=0.4', 'gzip'],
      ['GZIP', 'gzip'],
      ['x-gzip', 'gzip'],
      ['br;q=0, gzip;q=0', undefined],
      ['identity;q=0', undefined],
      ['br, gzip, zstd, deflate', 'br'],
      ['identity', undefined],
      ['*', 'br'],
    ] as const) {
      const coded = { 'Content-Encoding': coding ?? null, Vary: /\bAccept-Encoding\b/i };
      one(
        `coding: ${accepted}, ${route.name}`,
        path,
        { headers: { 'Accept-Encoding': accepted } },
        { status: 200, headers: { ...contentHeaders(route, path), ...coded } },
        ({ body, headers }) => {
          const own = headers['content-encoding'];
          const plain = own === undefined ? body : decode[own]?.(body);
          return plain?.equals(read(file)) === true
            ? []
            : [`body of ${body.length} bytes, expected ${file} in ${own ?? 'no coding'}`];
        },
      );
    }
    add(`coding: each has an ETag of its own, ${route.name}`, async (send) => {
      const tags = await Promise.all(
        ['identity', 'gzip', 'br'].map(
          async (accepted) =>
            (await send(path, { headers: { 'Accept-Encoding': accepted } })).headers['etag'],
        ),
      );
      return new Set(tags).size === 3 ? [] : [`ETags ${tags.join(' ')}, expected three`];
    });
  }
  for (const [name, { path, file }] of [
    ['a small document', group],
    ['a download', download],
  ] as const) {
    const headers = { 'Content-Encoding': null, Vary: null };
    const expected = { status: 200, headers, body: read(file) };
    one(`coding: none of ${name}`, path, { headers: { 'Accept-Encoding': 'gzip, br' } }, expected);
  }

  // Ranges
  for (const { route, path, file } of [download, group, groupPage]) {
    const body = read(file);
    const asked = (name: string, headers: Record<string, string>, expected: Expected, method = 'GET'): void =>
      one(`range: ${name}, ${route.name}`, path, { method, headers }, expected);
    const ranged = (name: string, range: string, first: number, last: number): void => {
      const place = { 'Content-Range': `bytes ${first}-${last}/${body.length}` };
      const headers = { ...contentHeaders(route, path), ...place };
      asked(name, { Range: range }, { status: 206, headers, body: body.subarray(first, last + 1) });
    };
    ranged('a part', 'bytes=10-19', 10, 19);
    ranged('the rest', 'bytes=50-', 50, body.length - 1);
    ranged('the end', 'bytes=-5', body.length - 5, body.length - 1);
    asked('two of them', { Range: 'bytes=0-1,3-4' }, { status: 200, body });
    for (const [range, first, last] of [
      [`bytes=${body.length - 1}-`, body.length - 1, body.length - 1],
      [`bytes=-${body.length + 7}`, 0, body.length - 1],
      ['BYTES=3-4', 3, 4],
    ] as const)
      ranged(range, range, first, last);
    asked('another unit', { Range: 'lines=0-1' }, { status: 200, body });
    const headers = { 'Content-Length': String(body.length), 'Content-Range': null };
    asked('HEAD', { Range: 'bytes=0-1' }, { status: 200, headers }, 'HEAD');
    for (const range of ['bytes=-0', 'bytes=99999999999999999999-'])
      refused(`range: ${range}, ${route.name}`, path, 'range_not_satisfiable', { headers: { Range: range } });
    refused(`range: after the end, ${route.name}`, path, 'range_not_satisfiable', {
      headers: { Range: `bytes=${body.length}-` },
      extra: { 'Content-Range': `bytes */${body.length}` },
    });
    for (const [name, prefix, expected] of [
      ['its ETag', '', { status: 206, body: body.subarray(0, 10) }],
      ['its ETag as a weak one', 'W/', { status: 200, body }],
    ] as const)
      add(`range: If-Range with ${name}, ${route.name}`, async (send) => {
        const { etag = '' } = (await send(path)).headers;
        const conditional = { Range: 'bytes=0-9', 'If-Range': prefix + etag };
        return differences(await send(path, { headers: conditional }), expected);
      });
    asked('If-Range with another ETag', { Range: 'bytes=0-9', 'If-Range': '"x"' }, { status: 200, body });
  }

  // Parameters
  const largest = routeOf('largest');
  for (const [query, limit] of [
    ['', 100],
    ['?limit=1', 1],
    ['?limit=200', 200],
    ['?limit=7&x=1', 7],
    ['?%6cimit=5', 5],
    ['?limit=%35', 5],
  ] as const) {
    const body = read(largest.file.replace('{limit}', String(limit)));
    const vary = { Vary: limit === 100 ? 'Accept-Encoding' : null };
    const expected = { status: 200, headers: { ...contentHeaders(largest), ...vary }, body };
    one(`limit: ${query || 'none'}`, largest.path + query, {}, expected);
  }
  for (const query of [...'0 201 -1 1.5 007 5%20 ten 1&limit=2 1&%6Cimit=1'.split(' '), '']) {
    refused(`limit: refuses ${query || 'nothing'}`, `${largest.path}?limit=${query}`, 'invalid_limit', {
      detail: /1 to 200/,
    });
  }
  refused('limit: refuses a name alone', `${largest.path}?limit`, 'invalid_limit');
  const same = { status: 200, body: read(group.file) };
  one('parameters that no route has change nothing', `${group.path}?x=1&y=2`, {}, same);

  // Parameters in paths
  /** What a route says where it has nothing by this value of its parameter. */
  const absent = (name: string, value: string): RegExp => {
    const text = routeOf(name).absent?.replace(/\{\w+\}/, value) ?? '';
    return new RegExp(`^${text.replaceAll('.', String.raw`\.`)}$`);
  };
  for (const [code, names, nothing, invalid, detail] of [
    [
      'invalid_id',
      'group user-page group-history user-usernames change-bundle ids-game',
      '9007199254740991 999999999999',
      '9007199254740992 10000000000000000 01 -1 1.5 abc 0x1',
      /decimal digits/,
    ],
    [
      'invalid_prefix',
      'lookup-username lookup-group owners-user owners-group',
      '0123456789abcdef fffffffff',
      '0123456789abcdef0 A 0x1 -1 a.json',
      /^(prefix ".*": )?expected 1 to 16 lower-case hexadecimal digits$/,
    ],
  ] as const)
    for (const name of names.split(' ')) {
      const pathOf = (value: string): string => routeOf(name).path.replace(/\{\w+\}/, value);
      for (const value of nothing.split(' '))
        refused(`parameter: no ${name} ${value}`, pathOf(value), 'not_found', {
          detail: absent(name, value),
        });
      for (const value of invalid.split(' '))
        refused(`parameter: refuses ${value} of ${name}`, pathOf(value), code, { detail });
    }

  // Paths
  const NOTHING = /^nothing is published at this path$/;
  for (const path of [
    ...'/nothing /api /api/v1/groups /api/v1/movers/h23 /api/v1/largest/10 /api/v1.json /index.html'.split(
      ' ',
    ),
    ...'/.git/config /.well-known/nothing /api//v1 //api/v1 /snapshot.json.gz /.snapshot'.split(' '),
    ...'/feeds/x.atom /downloads/documents/nothing.ndjson.gz /API/v1 /assets /- /api/v1/owners'.split(' '),
    ...'/api/v1/group/.7 /api/v1/lookup/user/0 /group.html /group/7/history /404'.split(' '),
    `/${summary.file}.br`,
  ]) {
    refused(`path: nothing at ${path}`, path, 'not_found', { detail: NOTHING });
  }
  for (const [path, location] of [
    ['/api/v1/', '/api/v1'],
    [`${group.path}/`, group.path],
    [`${groupPage.path}/`, groupPage.path],
    ['/developers/?a=b&limit=3', '/developers'],
    ['/api/v1/largest/?a=b&limit=3', '/api/v1/largest?limit=3'],
    ['/api/v%31', '/api/v1'],
    ['/nothing/', '/nothing'],
  ] as const) {
    one(`path: ${path} leads to ${location}`, path, {}, leadsTo(location));
  }
  for (const { path, to } of redirects) {
    for (const query of ['', '?a=b']) {
      one(`redirect: ${path}${query} leads to ${to}`, path + query, {}, leadsTo(to));
    }
  }
  for (const path of (
    '/../etc/passwd /api/../api/v1 /api/v1/. /api/%2e%2e/v1 /api%2fv1 /api/v1%00 /api/v1%5c /%ff ' +
    '/%zz /api/v1\\x'
  ).split(' ')) {
    refused(`path: refuses ${path}`, path, 'invalid_path');
  }
  for (const path of ['http://register.example', 'http://register.example:8080', 'HTTPS://[2001:db8::1]']) {
    const expected = { status: 200, headers: contentHeaders(group.route), body: read(group.file) };
    one(`path: in absolute form, ${path}`, path + group.path, {}, expected);
  }
  refused('path: refuses one of 2049 bytes', `/${'a'.repeat(2048)}`, 'uri_too_long');
  refused('path: reads one of 2048 bytes', `/${'a'.repeat(2047)}`, 'not_found');

  // The pages of errors
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
  const VARIES = { Vary: 'Accept' };
  const { 'Content-Security-Policy': policy = '' } = published.content.page;
  /** An error as the page that snapshot.json names. */
  const paged = (code: ErrorCode): Expected => {
    const { status, page: own } = errors[code];
    const route = routes.find((candidate) => candidate.path === own);
    if (route === undefined) throw new Error(`the tree has no page for "${code}"`);
    const body = read(route.file);
    const headers = {
      ...published.all,
      ...(status === 404 ? published.not_found : published.error),
      ...VARIES,
      'Content-Security-Policy': policy,
      'Content-Type': route.type,
      'Content-Length': String(body.length),
      'Content-Encoding': null,
      ETag: null,
      'RateLimit-Policy': /^"\w+";q=\d+;w=\d+/,
    };
    return { status, headers, body };
  };
  for (const path of ['/nothing', '/404', '/nothing/here', '/v1.0/nothing', '/nothing?x=y.json', '/API/v1']) {
    one(`error page: of a browser, ${path}`, path, { headers: { Accept: BROWSER } }, paged('not_found'));
  }
  for (const accept of ['text/html', 'TEXT/HTML , */*; q=0.5', 'text/html;q=0.9, application/json;q=0.1']) {
    one(`error page: ${accept}`, '/nothing', { headers: { Accept: accept } }, paged('not_found'));
  }
  const head = { method: 'HEAD', headers: { Accept: BROWSER, 'Accept-Encoding': 'br, gzip' } };
  one('error page: HEAD', '/nothing', head, { ...paged('not_found'), body: EMPTY });
  for (const accept of [
    '*/*',
    'application/json, text/html;q=0.5',
    'text/html, */*',
    'text/html;q=0',
    'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
  ]) {
    refused(`error page: none for ${accept}`, '/nothing', 'not_found', {
      headers: { Accept: accept },
      extra: VARIES,
    });
  }
  refused('error page: none without Accept', '/nothing', 'not_found', { extra: VARIES });
  for (const path of ['/api', '/api/nothing', '/nothing.json', '/downloads/nothing', '/feeds/nothing']) {
    refused(`error page: none at ${path}`, path, 'not_found', {
      headers: { Accept: BROWSER },
      extra: { Vary: null, 'Content-Security-Policy': null },
    });
  }
  const refusals = [
    ['/', BROWSER, 'page'],
    ['/nothing', '*/*', 'problem'],
    ['/api/nothing', BROWSER, 'only problem'],
  ] as const;
  for (const [index, [path, accept, form]] of refusals.entries()) {
    add(`error page: a 429 at ${path} for ${accept}, ${form}`, async (send) => {
      const answer = await limited(send, path, `198.19.0.${index + 1}`, accept);
      const found = differences(answer, {
        status: 429,
        headers: { 'Retry-After': /^\d+$/, RateLimit: /^"\w+";r=0;t=\d+$/, ...published.error },
      });
      if (form === 'page') return [...found, ...differences(answer, paged('rate_limited'))];
      const headers = {
        'Content-Type': 'application/problem+json',
        Vary: form === 'problem' ? 'Accept' : null,
        'Content-Security-Policy': null,
      };
      return [...found, ...differences(answer, { status: 429, headers })];
    });
  }

  // Methods
  for (const path of [group.path, groupPage.path, page.path, '/docs', '/nothing', '/api/v1/group/abc']) {
    const headers = { Origin: 'https://x.example', 'Access-Control-Request-Method': 'GET' };
    one(`OPTIONS ${path}`, path, { method: 'OPTIONS', headers }, NO_CONTENT);
  }
  const extra = { Allow: published.options['Allow'] ?? '' };
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PURGE'])
    refused(`method: refuses ${method} ${group.path}`, group.path, 'method_not_allowed', { method, extra });

  // Every response
  add('no response names the software', async (send) => {
    const requests = [send(group.path), send('/nothing'), send(group.path, { method: 'POST' })];
    const answers = await Promise.all(requests);
    return answers.flatMap(({ headers }) =>
      ['server', 'x-powered-by', 'via'].flatMap((name) =>
        headers[name] === undefined ? [] : [`${name}: ${headers[name]}, expected none`],
      ),
    );
  });
  return cases;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
