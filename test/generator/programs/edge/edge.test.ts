/** `edge`: what it writes and what it refuses. The servers themselves are in the full tests. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hostHeaders, hostNotFound, hostRedirects } from '../../../../generator/programs/edge/headers.js';
import {
  HTML_PATTERN,
  decimalsUpTo,
  namePattern,
  pagePattern,
} from '../../../../generator/programs/edge/patterns.js';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { ratesOf } from '../../../../generator/programs/edge/rates.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { prefersHtml } from '../../../../proxy/http/negotiation.js';
import { buildSigned } from '../../../system/contract/signed-tree.js';
import { inProcess } from '../../publish/support.js';
import { publishedSample } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';

const path = temporary();
const out = path('dist');
const register = path('register.sqlite');

beforeAll(async () => {
  await publishedSample(register, out);
});

const edge = (...args: string[]) => inProcess('edge', ...args);

const limits = (refill: number) => ({
  api: { tokens: 60, refill_seconds: refill },
  download: { tokens: 12, refill_seconds: refill, token_bytes: 1 },
  page: { tokens: 1, refill_seconds: refill },
});

describe('the patterns', () => {
  it('match every decimal up to a maximum, and no other text', () => {
    const number = fc.maxSafeNat();
    const decimals = fc.property(number, fc.oneof(number, fc.nat(1000)), (maximum, value) => {
      const pattern = new RegExp(`^${decimalsUpTo(maximum)}$`);
      // The numbers next to the maximum are where such patterns are wrong.
      const others = [String(BigInt(maximum) + 1n), `0${value}`];
      return (
        pattern.test(String(value)) === value <= maximum &&
        pattern.test(String(maximum)) &&
        !others.some((text) => pattern.test(text))
      );
    });
    expect(() => fc.assert(decimals, { numRuns: 2000 })).not.toThrow();
  });

  it('match the name of a parameter in any spelling that means it', () => {
    const pattern = new RegExp(`^${namePattern('limit')}$`);
    for (const name of ['limit', '%6cimit', '%6Cimit', '%6c%69%6D%69%74', 'li%6dit'])
      expect(name).toMatch(pattern);
    for (const name of ['LIMIT', 'limits', '%4Cimit', 'l%49mit', '']) expect(name).not.toMatch(pattern);
  });
});

describe('the pattern of an Accept that prefers HTML', () => {
  const pattern = new RegExp(HTML_PATTERN.replace('(?i)', ''), 'i');

  it('matches nothing that the proxy would not', () => {
    const range = fc.constantFrom(
      ...'text/html TEXT/html */* application/* application/json a/b *'.split(' '),
    );
    const weight = fc.constantFrom(
      '',
      '; Q=1.000',
      ...';q=1 ;q=0.5 ;q=0 ;q=.2 ;q=2 ;v=b3 ;v=b3;q=0.5 ;q=0.5;v=b3 ;'.split(' '),
    );
    const member = fc.tuple(range, weight).map((parts) => parts.join(''));
    const fields = fc.property(
      fc.array(member, { maxLength: 4 }),
      fc.constantFrom(',', ' , ', ',,'),
      (of, comma) => {
        const field = of.join(comma);
        return !pattern.test(field) || prefersHtml(field);
      },
    );
    expect(() => fc.assert(fields, { numRuns: 5000 })).not.toThrow();
  });

  it('is quick with a field of 16 KiB', () => {
    const startedMs = performance.now();
    for (const part of ', |a/b,| |\t;|*/*;q=0.1,| , |a/b ; c=d |text/html,|text/html ;q=1 '.split('|'))
      pattern.test(`${part.repeat(16_384 / part.length)}!`);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('is for paths without extension, apart from those for programs', () => {
    const page = new RegExp(pagePattern(['/api', '/.well-known']));
    for (const url of ['/x', '/', '/x.y/z', '/apis', '/a//b', '/.git/config']) expect(url).toMatch(page);
    for (const url of ['/api', '/api/x', '/x.json', '/x/y.z', '/.well-known/x', ''])
      expect(url).not.toMatch(page);
  });
});

describe('the rates of nginx', () => {
  it('are the published ones where one request is back after a whole part of a second', () => {
    for (const [refill, rate] of [
      [1, '1r/s'],
      [0.5, '2r/s'],
      [0.25, '4r/s'],
      [0.001, '1000r/s'],
    ] as const) {
      expect(ratesOf(limits(refill))[0]).toMatchObject({
        rate,
        zone: 'zone=api burst=59 nodelay',
        note: undefined,
      });
    }
    expect(ratesOf(limits(1)).map(({ policy, retryAfter }) => [policy, retryAfter])).toEqual([
      ['"api";q=60;w=60', 1],
      ['"download";q=12;w=12, "api";q=60;w=60', 1],
      ['"page";q=1;w=1', 1],
    ]);
  });

  it('are otherwise slower, by as little as nginx can, and say so', () => {
    const [, download] = ratesOf(limits(60));
    expect(download).toMatchObject({
      rate: '1r/m',
      policy: '"download";q=12;w=750, "api";q=60;w=3750',
      retryAfter: 63,
    });
    expect(download?.note).toBe('limit "download": one request is back after 62.5 s instead of 60 s');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 62_500 }), (milliseconds) => {
        const [rate] = ratesOf(limits(milliseconds / 1000));
        const [, count, unit] = /^(\d+)r\/([sm])$/.exec(rate?.rate ?? '') ?? [];
        // As ngx_http_limit_req_module.c computes it: thousandths of a request a second.
        const perSecond = Math.trunc((Number(count) * 1000) / (unit === 's' ? 1 : 60)) / 1000;
        expect(1 / perSecond).toBeGreaterThanOrEqual(milliseconds / 1000 - 1e-9);
      }),
    );
  });

  it('are refused below one a minute', () => {
    expect(() => ratesOf(limits(63))).toThrow(
      'limits.api.refill_seconds is 63 in the published tree, expected at most 62.5',
    );
  });
});

describe('edge', () => {
  it('writes a configuration once, and leaves it alone while nothing changes', async () => {
    const folder = path('etc');
    const file = `${folder}/nginx.conf`;
    const first = await edge('nginx', '--out', out, '--write', file);
    expect(first).toMatchObject({ code: 0, stdout: `Wrote "${file}" for the routes of snapshot 1\n` });
    expect(first.stderr).toContain('note: limit "download": one request is back after 62.5 s');
    // A bundle counts as a whole download.
    expect(readFileSync(file, 'utf8')).toMatch(/ndjson[^}]* limit_req zone=download burst=11 nodelay;/);
    const { mtimeMs } = statSync(file);
    const second = await edge('nginx', '--out', out, '--write', file, '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({ snapshot: 1, files: [{ file, changed: false }] });
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    expect(await edge('nginx', '--out', out, '--write', file, '--quiet')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const other = await edge('nginx', '--out', out, '--listen', '[::]:80', '--write', file);
    expect(other.stdout).toContain('Wrote');
    expect(readFileSync(file, 'utf8')).toContain('listen [::]:80 ipv6only=off;');
    expect(readdirSync(folder)).toEqual(['nginx.conf']);
  });

  it.each([
    [['nginx'], "required option '--write <file>' not specified"],
    [['nginx', '--write', 'x', '--listen', '127.0.0.1:80;include'], 'expected an address and a port'],
    [['nginx', '--write', 'x', '--trust-proxy', '10.0.0.1,0.0.0.0/0'], '"0.0.0.0/0": expected an address'],
    [['nginx', '--write', 'x', '--trust-proxy', '::/0'], 'expected an address or a CIDR range'],
    [['nginx', '--write', 'x', '--listen', '[fe80::1%lo]:80'], 'expected an address and a port'],
    [['varnish', '--write', 'x'], "unknown command 'varnish'"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await edge(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('refuses to write into the tree, and needs one', async () => {
    const inside = `${out}/nginx.conf`;
    expect(await edge('nginx', '--out', out, '--write', inside)).toMatchObject({
      code: 2,
      stderr: `error: "${inside}" lies in the tree "${out}", expected a place outside\n`,
    });
    expect(existsSync(inside)).toBe(false);
    const none = path('none');
    expect(await edge('headers', '--out', none, '--write', path('site'))).toMatchObject({ code: 3 });
    const old = path('old');
    mkdirSync(old);
    const { headers: _, ...manifest } = z
      .looseObject({ headers: z.unknown() })
      .parse(JSON.parse(readFileSync(`${out}/snapshot.json`, 'utf8')));
    writeFileSync(`${old}/snapshot.json`, JSON.stringify(manifest));
    expect(await edge('nginx', '--out', old, '--write', path('x.conf'))).toMatchObject({
      code: 1,
      stderr: `error: "${old}/snapshot.json" is not as this version writes it (see "headers"): build the tree again\n`,
    });
  });
});

/** Documents of the API whose files have another name. */
const REWRITTEN =
  'stats ids lookup lookup/names largest/games largest/items movers/h24 movers/d7 movers/d30 recent newest largest/usernames group/:id user/:id game/:id item/:id ' +
  'ids/group/:first_id ids/user/:first_id ids/game/:first_id ids/item/:first_id lookup/username/:prefix ' +
  'lookup/group/:prefix lookup/game/:prefix lookup/item/:prefix lookup/names/:page owners/user/:prefix owners/group/:prefix ' +
  'lookup/platform-id/group/:prefix lookup/platform-id/user/:prefix lookup/platform-id/game/:prefix ' +
  'lookup/platform-id/item/:prefix';

describe('the files for static hosts', () => {
  it('have rules for a signed log: types, and no tile of a year, since a 404 has the header as well', async () => {
    const signed = path('signed');
    await buildSigned(register, signed);
    const published = readPublished(new Tree(signed));
    const headers = hostHeaders(published);
    const ruleOf = (at: string): string =>
      headers.split(`\n${at}\n`)[1]?.replace(/\n\/[^]*$/, '\n') ?? `no rule of ${at}`;
    for (const at of ['/log/:tree/checkpoint', '/log/:tree/index/*']) {
      expect(ruleOf(at)).toContain('  Content-Type: text/plain; charset=utf-8\n');
      expect(ruleOf(at)).toContain('  Cache-Control: public, max-age=5, stale-if-error=60\n');
    }
    const tile = ruleOf('/log/:tree/tile/*');
    expect(tile).toContain('  Content-Type: application/octet-stream\n');
    expect(tile).toContain('  Cache-Control: public, max-age=60\n  CDN-Cache-Control: max-age=60\n');
    expect(tile).not.toContain('31536000');
    expect(headers.match(/^\/log/gm)).toHaveLength(3);
    // The files have the names of their URLs.
    expect(hostRedirects(published)).toBe(hostRedirects(readPublished(new Tree(out))));
  });

  it('have the headers of each route, and a rewrite where the file has another name', () => {
    const published = readPublished(new Tree(out));
    const headers = hostHeaders(published);
    expect(headers).toContain('\n/*\n  Access-Control-Allow-Origin: *\n');
    const rule = /\n\/downloads\/groups\.csv\n((?: {2}.*\n)+)/.exec(headers)?.[1];
    expect(rule).toContain('  Content-Type: text/csv; charset=utf-8; header=present\n');
    expect(rule).toContain('  Content-Disposition: attachment; filename="groups.csv"\n');
    expect(rule).toContain('  Cache-Control: public, max-age=3600, stale-if-error=86400\n');
    expect(/\n\/assets\/\*\n((?: {2}.*\n)+)/.exec(headers)?.[1]).toContain(
      '  Cache-Control: public, max-age=31536000, immutable\n',
    );
    expect(headers).not.toContain('\n/assets/style');
    expect(headers.split('\n').filter((line) => line.length > 2000)).toEqual([]);
    // Routes of one folder with the same headers have one rule, or Cloudflare Pages would not read all: it
    // reads 100, and a signed tree has 3 more.
    const paths = headers.split('\n').filter((line) => line.startsWith('/'));
    expect(paths.length).toBeLessThanOrEqual(97);
    const some = ['/group', '/group/:id', '/group/:id/history.json', '/feeds/:any/:month.atom', '/assets/*'];
    expect(paths).toEqual(expect.arrayContaining([...some, '/feeds/:any/:month.json', '/api/v1/ids/*']));
    expect(paths.filter((each) => /^\/(assets|downloads\/documents)\//.test(each))).toEqual([
      '/downloads/documents/*',
      '/assets/*',
    ]);
    const documents = /\n\/downloads\/documents\/\*\n((?: {2}.*\n)+)/.exec(headers)?.[1];
    expect(documents).toContain('  Content-Type: application/gzip\n');
    expect(documents).toContain('  Content-Disposition: attachment\n');
    expect(JSON.parse(hostNotFound(published))).toMatchObject({ status: 404, error: 'not_found' });
    expect(
      hostRedirects(published)
        .split('\n')
        .filter((line) => !line.startsWith('#')),
    ).toEqual([
      '/docs /developers 301',
      '/openapi.json /api/v1/openapi.json 301',
      '/developers/reference /developers/reference/groups 301',
      '/developers/guides /developers/guides/limits 301',
      '/api/v1 /api/v1.json 200',
      '/api/v1/largest limit=:limit /api/v1/largest/:limit.json 200',
      '/api/v1/largest /api/v1/largest/100.json 200',
      ...REWRITTEN.split(' ').map((each) => `/api/v1/${each} /api/v1/${each}.json 200`),
      '/group/:id /group 200',
      '/user/:id /user 200',
      '/game/:id /game 200',
      '/item/:id /item 200',
      '',
    ]);
  });
});
