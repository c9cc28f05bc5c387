/** `edge`: what it writes and what it refuses. The servers themselves are in the full tests. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostHeaders, hostNotFound, hostRedirects } from '../../../../generator/programs/edge/headers.js';
import { HTML_PATTERN, decimalsUpTo } from '../../../../generator/programs/edge/patterns.js';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { ratesOf } from '../../../../generator/programs/edge/rates.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { prefersHtml } from '../../../../proxy/http/negotiation.js';
import { sampleTree } from '../../../system/contract/sample-tree.js';
import { inProcess } from '../../../support/in-process.js';
import { filesByUrl } from '../../../support/published.js';
import { temporary } from '../../../support/folder.js';
import { writeFiles } from '../../../support/operator.js';

const path = temporary();
const out = await sampleTree();

const edge = (...args: string[]) => inProcess('edge', ...args);

const limits = (refill: number) => ({
  api: { tokens: 60, refill_seconds: refill },
  download: { tokens: 12, refill_seconds: refill, token_bytes: 1 },
  page: { tokens: 1, refill_seconds: refill },
});

it('the patterns match every decimal up to a maximum, and no other text', () => {
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

it('the pattern of an Accept that prefers HTML matches nothing that the proxy would not', () => {
  const pattern = new RegExp(HTML_PATTERN.replace('(?i)', ''), 'i');
  const ranges = 'text/html TEXT/html */* application/* application/json a/b *'.split(' ');
  const weights = ';q=1 ;q=0.5 ;q=0 ;q=.2 ;q=2 ;v=b3 ;v=b3;q=0.5 ;q=0.5;v=b3 ;'.split(' ');
  const weight = fc.constantFrom('', '; Q=1.000', ...weights);
  const member = fc.tuple(fc.constantFrom(...ranges), weight).map((parts) => parts.join(''));
  const commas = fc.constantFrom(',', ' , ', ',,');
  const fields = fc.property(fc.array(member, { maxLength: 4 }), commas, (of, comma) => {
    const field = of.join(comma);
    return !pattern.test(field) || prefersHtml(field);
  });
  expect(() => fc.assert(fields, { numRuns: 5000 })).not.toThrow();
});

describe('the rates of nginx', () => {
  it('are the published ones where one request is back after a whole part of a second', () => {
    for (const perSecond of [1, 2, 4, 1000]) {
      const expected = { rate: `${perSecond}r/s`, zone: 'zone=api burst=59 nodelay', note: undefined };
      expect(ratesOf(limits(1 / perSecond))[0]).toMatchObject(expected);
    }
    expect(ratesOf(limits(1)).map(({ policy, retryAfter }) => [policy, retryAfter])).toEqual([
      ['"api";q=60;w=60', 1],
      ['"download";q=12;w=12, "api";q=60;w=60', 1],
      ['"page";q=1;w=1', 1],
    ]);
  });

  it('are otherwise slower, by as little as nginx can, and say so; below one a minute they are refused', () => {
    expect(() => ratesOf(limits(63))).toThrow(
      'refill_seconds is 63 in the published tree, expected at most 62.5',
    );
    expect(ratesOf(limits(60))[1]).toMatchObject({
      rate: '1r/m',
      policy: '"download";q=12;w=750, "api";q=60;w=3750',
      retryAfter: 63,
      note: 'limit "download": one request is back after 62.5 s instead of 60 s',
    });
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
});

describe('edge', () => {
  it('writes a configuration once, and leaves it alone while nothing changes', async () => {
    const folder = path('etc');
    const file = `${folder}/nginx.conf`;
    const first = await edge('nginx', '--out', out, '--write', file);
    expect(first).toMatchObject({ code: 0, stdout: `Wrote "${file}" for the routes of snapshot 1\n` });
    expect(first.stderr).toContain('note: limit "download": one request is back after 62.5 s');
    // A bundle counts as a whole download, a small file as the least part of one.
    expect(readFileSync(file, 'utf8')).toMatch(/ndjson[^}]* limit_req zone=download burst=11 nodelay;/);
    expect(readFileSync(file, 'utf8')).toMatch(/groups[.]csv[^}]* limit_req zone=download_100 burst=1199 /);
    const { mtimeMs } = statSync(file);
    const second = await edge('nginx', '--out', out, '--write', file, '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({ snapshot: 1, files: [{ file, changed: false }] });
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await edge('nginx', '--out', out, '--write', file, '--quiet')).toEqual(nothing);
    const other = await edge('nginx', '--out', out, '--listen', '[::]:80', '--write', file);
    expect(other.stdout).toContain('Wrote');
    expect(readFileSync(file, 'utf8')).toContain('listen [::]:80 ipv6only=off;');
    expect(readdirSync(folder)).toEqual(['nginx.conf']);
  });

  it.each([
    [['nginx'], "required option '--write <file>' not specified"],
    [['nginx', '--write', 'x', '--listen', '127.0.0.1:80;include'], 'expected an address and a port'],
    [['nginx', '--write', 'x', '--trust-proxy', '10.0.0.1,0.0.0.0/0'], '"0.0.0.0/0": expected an address'],
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
    const manifest = readFileSync(`${out}/snapshot.json`, 'utf8').replace('"headers":', '"former":');
    writeFiles(old, { 'snapshot.json': manifest });
    const stderr = `error: "${old}/snapshot.json" is not as this version writes it (see "headers"): build the tree again\n`;
    expect(await edge('nginx', '--out', old, '--write', path('x'))).toMatchObject({ code: 1, stderr });
  });
});

/** A host finds x.html and x/index.html itself. */
const named = (name: string): string => name.replace(/\/index\.html$|\.html$|\/$/, '');

describe('the files for static hosts', () => {
  const published = readPublished(new Tree(out));
  const headers = hostHeaders(published);
  /** What `_headers` says of a path. */
  const ruleOf = (at: string): string => headers.split(`\n${at}\n`)[1]?.replace(/\n\/[^]*$/, '\n') ?? '';

  it('have the headers of each route, in few rules', () => {
    expect(ruleOf('/*')).toMatch(/^  Access-Control-Allow-Origin: \*\n/);
    const rule = ruleOf('/downloads/groups.csv');
    expect(rule).toContain('  Content-Type: text/csv; charset=utf-8; header=present\n');
    expect(rule).toContain('  Content-Disposition: attachment; filename="groups.csv"\n');
    expect(rule).toContain('  Cache-Control: public, max-age=3600, stale-if-error=86400\n');
    expect(ruleOf('/assets/*')).toContain('  Cache-Control: public, max-age=31536000, immutable\n');
    expect(headers.split('\n').filter((line) => line.length > 2000)).toEqual([]);
    // Routes of one folder with the same headers have one rule, or Cloudflare Pages would not read all: it
    // reads 100.
    const paths = headers.split('\n').filter((line) => line.startsWith('/'));
    expect(paths.length).toBeLessThanOrEqual(100);
    const some = ['/group', '/group/:id', '/group/:id/history.json', '/feeds/all.atom'];
    expect(paths).toEqual(expect.arrayContaining([...some, '/api/v1/ids/*']));
    const inFolders = paths.filter((each) => /^\/(assets|downloads\/documents)\//.test(each));
    expect(inFolders).toEqual(['/downloads/documents/*', '/assets/*']);
    // Also of paths by ids of the platform.
    expect(ruleOf('/api/v1/group/*')).toContain('  Content-Type: application/json; charset=utf-8\n');
    const documents = ruleOf('/downloads/documents/*');
    expect(documents).toContain('  Content-Type: application/gzip\n');
    expect(documents).toContain('  Content-Disposition: attachment\n');
    expect(JSON.parse(hostNotFound(published))).toMatchObject({ status: 404, error: 'not_found' });
  });

  it('lead from each URL to its file, where that has another name', () => {
    const lines = hostRedirects(published).split('\n');
    expect(lines).toContain('/docs /developers 301');
    /** PATH [QUERY] FILE STATUS */
    const rules = lines
      .filter((line) => line.startsWith('/'))
      .map((line) => {
        const words = line.split(' ');
        const pattern = new RegExp(`^${words[0]?.replaceAll(/:\w+/g, '(?<value>[^/]+)')}$`);
        return { pattern, hasQuery: words[1] === 'limit=:limit', to: words.at(-2) ?? '' };
      });
    /** As hosts do it: by the first rule that matches. */
    const fileOf = (url: string): string => {
      const { pathname, searchParams } = new URL(url, 'https://register.example');
      const limit = searchParams.get('limit');
      const rule = rules.find((each) => each.pattern.test(pathname) && (!each.hasQuery || limit !== null));
      const value = rule?.pattern.exec(pathname)?.groups?.['value'] ?? limit ?? '';
      return rule?.to.replace(/:\w+/, value) ?? pathname;
    };
    const files = filesByUrl(out).filter(([url]) => url !== '');
    expect(files.filter(([url, file]) => named(fileOf(url)) !== named(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(300);
  });
});
