import { array, assert as check, constantFrom, oneof, property, string as anyString } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Router } from '../../../proxy/tree/router.js';
import { parseSnapshot } from '../../../proxy/tree/schema.js';
import { ROUTES, route, snapshotJson } from '../support.js';

const router = routerOf(ROUTES);

function routerOf(routes: readonly object[]): Router {
  return new Router(parseSnapshot(JSON.stringify(snapshotJson({ routes }))));
}

/** "file NAME", "308 LOCATION" or the error's code. */
function outcome(target: string): string {
  const match = router.match(target);
  if (match.kind === 'file') return `file ${match.file}`;
  return match.kind === 'redirect' ? `308 ${match.location}` : match.code;
}

function detail(target: string): string {
  const match = router.match(target);
  return match.kind === 'refusal' ? match.detail : '';
}

const others = (targets: readonly string[], expected: string): string[] =>
  targets.filter((target) => outcome(target) !== expected);

/**
 * The file that a table has for a target, or what else it has.
 * @param table the type of the parameter and the path of each route, whose files are in folders 0, 1, …
 */
function fileIn(table: string): (target: string) => string {
  const routes = table.split(' | ').map((pair, index) => {
    const [type, path = ''] = pair.split(' ');
    const parameters = (path.match(/(?<=\{)\w+/g) ?? []).map((name) => ({ name, in: 'path', type }));
    return route(String(index), path, `${index}${path}`, 'record', { parameters });
  });
  const some = routerOf(routes);
  return (target) => {
    const match = some.match(target);
    return match.kind === 'file' ? match.file : match.kind === 'refusal' ? match.code : match.kind;
  };
}

/** Beyond those of the contract, which has what a server sees. */
const INVALID_PATHS = [
  // No path at all, and fragments.
  '',
  ...'/api/v1#x /api/v1?x#y * register.example:80 api/v1 ftp://register.example/api/v1 http:///api/v1'.split(
    ' ',
  ),
  // Dot segments, and separators in disguise.
  ...'/api/v1/.. /.%2E/secret.json /%2e/api/v1 /../ /api/v1/group/7%2f..%2f8 /api/v1/group/..%5c..%5c8'.split(
    ' ',
  ),
  // Controls and raw bytes.
  ...'/api/v1/group/7%0a /api/v1/group/%7F /api/v1/group/%C2%85 /api/v1/\0 /api/v1/\xe9'.split(' '),
  '/api/v1 ',
  // Escapes that are no UTF-8: cut, overlong, surrogates, beyond Unicode, alone.
  ...'/api/v1/% /api/v1/%2 /%c0%af /%c0%ae%c0%ae/secret.json /%e0%80%ae/secret.json'.split(' '),
];

const NOT_FOUND = [
  ...'/api/v1/group/7/more /api/v1/group /secret.json /%252e%252e/secret.json /%2egit/config'.split(' '),
  ...'/.well-knownx // //evil.example/ /api/v1// http://register.example//evil.example/'.split(' '),
  ...'/changes/3 /changes/3.ndjson.gzx /changes/3.ndjson-gz /changes/.ndjson.gz'.split(' '),
];

/** Targets with the files they name, beyond those of the contract. */
const FILES = [
  ...'/?x index.html | http://register.example index.html | http://register.example?x index.html'.split(
    ' | ',
  ),
  ...'http://register.example/api/v1 api/v1.json | http://[2001:db8::1]:80/api/v1 api/v1.json'.split(' | '),
  'HTTPS://register.example:8080/api/v1?x=1 api/v1.json',
  ...'/api/v1/group/0 api/v1/group/0.json | /api/v1/group/7?id=8&limit=x api/v1/group/7.json'.split(' | '),
  '/api/v1/group/9007199254740991 api/v1/group/9007199254740991.json',
  '/changes/3.ndjson.gz changes/3.ndjson.gz',
  '/api/v1/largest? api/v1/largest/100.json',
  '/api/v1/largest?limit=200&limits=x&LIMIT=0&limit[]=3 api/v1/largest/200.json',
  '/api/v1/largest?%6cimit=%31%30 api/v1/largest/10.json',
  // A second "?" is a part of the name.
  '/api/v1/largest??limit=5&limit=6 api/v1/largest/6.json',
].map((pair) => pair.split(' '));

const CANONICAL = [
  ...'/nothing/ /nothing | /api/v1/?limit=1&x /api/v1 | /api/v1/? /api/v1'.split(' | '),
  ...'http://register.example/api/v1/ /api/v1 | http://register.example/%61pi/v1 /api/v1'.split(' | '),
  // Caches keep the response for all, so of the query it has what its target takes.
  '/api/v1/largest/?x=1 /api/v1/largest',
  '/api/v1/largest/?x=1&%6cimit=3&y /api/v1/largest?limit=3',
  '/api/v1/largest/?limit="<é>\\&limit=5+ /api/v1/largest?limit=%22%3C%C3%A9%3E%5C&limit=5+',
  ...'/%61/ /a | /api/v1/group/%34%35/?x=%31 /api/v1/group/45 | /a%2eb%2Ec /a.b.c'.split(' | '),
  ...'/%41%5A%61%7a%30%39%2d%2D%5f%5F%7e%7E /AZaz09--__~~ | /evil.example/ /evil.example'.split(' | '),
  '/%2ewell-known/security.txt /.well-known/security.txt',
  // Only unreserved characters: the others may mean something else where they are escaped.
  ...'/%61%3A%40%2561%C3%A9 /a%3A%40%2561%C3%A9 | /%61;%3b /a;%3b'.split(' | '),
].map((pair) => pair.split(' '));

const INVALID_IDS = '00 +7 7.0 7.json %207 7%20 99999999999999999999 %D9%A7';

const INVALID_LIMITS =
  'limit=%2B5 limit=%205 limit=5+ limit limit=5&limit=5 limit=5&limit limit=0x10 limit=%D9%A5 ' +
  'limit=99999999999999999999999 limit=% limit=10%00';

describe('Router.match', () => {
  it('refuses a path that is not plainly one, and finds nothing at what no route names', () => {
    expect(others(INVALID_PATHS, 'invalid_path')).toEqual([]);
    expect(others(NOT_FOUND, 'not_found')).toEqual([]);
  });

  it('finds the file that a route names', () => {
    for (const [target = '', file] of FILES) expect(outcome(target), target).toBe(`file ${file}`);
  });

  it('refuses what is no id, under whatever name', () => {
    const ids = INVALID_IDS.split(' ').map((id) => `/api/v1/group/${id}`);
    expect(others([...ids, '/changes/x.ndjson.gz', '/changes/03.ndjson.gz'], 'invalid_id')).toEqual([]);
    expect(detail('/changes/3.ndjson.gz.ndjson.gz')).toMatch(/^sequence "/);
  });

  it('names the id, cut to 100 characters, and what was expected', () => {
    expect(detail('/api/v1/group/a%22b')).toBe(
      'id "a"b": expected decimal digits without a sign or leading zero, at most 9007199254740991',
    );
    expect(detail(`/api/v1/group/${'x'.repeat(500)}`)).toContain(`"${'x'.repeat(100)}…"`);
    // The hundredth character is the first half of a pair.
    expect(detail(`/api/v1/group/${'x'.repeat(99)}%F0%9F%A6%94`)).toContain(`"${'x'.repeat(99)}…"`);
  });

  it('refuses what is no limit, naming the bounds', () => {
    const targets = INVALID_LIMITS.split(' ').map((query) => `/api/v1/largest?${query}`);
    expect(others(targets, 'invalid_limit')).toEqual([]);
    for (const target of targets)
      expect(detail(target)).toMatch(/: expected one integer from 1 to 200 in plain decimal digits$/);
  });

  it('sends to the one URL of each path', () => {
    for (const [target = '', location] of CANONICAL) expect(outcome(target)).toBe(`308 ${location}`);
  });

  it('never sends anyone to another host, nor names a file that no route names, whatever the target', () => {
    const piece = constantFrom(
      ...'/ // . .. %2e %2f %5c \\ %00 http: evil.example @ ? 7 %37 %61 .git api v1'.split(' '),
      '',
    );
    const target = oneof(
      array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`),
      array(piece, { maxLength: 12 }).map((pieces) => `http://${pieces.join('')}`),
      anyString({ unit: 'binary-ascii', maxLength: 60 }).map((text) => `/${text}`),
    );
    const file =
      /^(?:api\/v1\.json|api\/v1\/group\/\d+\.json|api\/v1\/largest\/\d+\.json|group\/\d+\/history\.json|downloads\/(?:groups\.csv|SHA256SUMS)|assets\/style-1a2b3c4d5e\.css|feeds\/all\.atom|changes\/(?:\d+|index)\.json|index\.html|\.well-known\/security\.txt|snapshot\.json)$/;
    const isSafe = property(target, (text) => {
      const match = router.match(text);
      const location = match.kind === 'redirect' ? match.location : '/';
      const { host } = new URL(location, 'http://register.example');
      return (
        file.test(match.kind === 'file' ? match.file : 'index.html') &&
        /^\/(?![/\\])/.test(location) &&
        host === 'register.example'
      );
    });
    expect(() => check(isSafe, { numRuns: 2_000 })).not.toThrow();
  });

  it.each([
    // A literal segment to a parameter, to which it falls back.
    [
      'id /a/{id} | id /a/newest | id /a/7/deep',
      '/a/newest /a/7/deep /a/7 /a/8/deep',
      '1/a/newest 2/a/7/deep 0/a/7 not_found',
    ],
    // The segment with more literal text around its parameter.
    [
      'id /a/{id} | id /a/{id}.atom | id /a/v{id}.atom',
      '/a/7 /a/7.atom /a/v7.atom /a/v.atom /a/v7',
      '0/a/7 1/a/7.atom 2/a/v7.atom invalid_id invalid_id',
    ],
  ])('prefers what is nearer: of %s', (routes, targets, files) => {
    expect(targets.split(' ').map(fileIn(routes)).join(' ')).toBe(files);
  });
});
