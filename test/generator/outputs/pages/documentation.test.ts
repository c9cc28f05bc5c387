/** The documentation is true: what it shows is what the service answers, and what it names is there. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { DOCUMENTS } from '../../../../generator/outputs/openapi/documents.js';
import { PROBLEMS } from '../../../../generator/outputs/openapi/problems.js';
import { newFolder, temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { snapshotOf } from '../../../support/published.js';
import { fields } from '../../../support/values.js';
import {
  DOCUMENTATION_FILES,
  DOCUMENTATION_PAGES,
  PAGES,
  between,
  codeOf,
  publishSite,
  textOf,
  type Site,
} from './site.js';

const path = temporary();
const run = promisify(execFile);
let site: Site;
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  site = await publishSite();
  pages = new Map(
    await Promise.all(PAGES.map(async (page) => [page, await (await site.proxy.get(page)).text()] as const)),
  );
});

afterAll(() => site.proxy.stop());

const documentation = (): string => DOCUMENTATION_PAGES.map((page) => pages.get(page) ?? '').join('');
/** The same, asked of the service under test instead of where it says that it is. */
const here = (text: string): string => text.replaceAll(site.base, site.proxy.base);

it.skipIf(!has('curl lines', 'curl'))('every curl line of a page is answered as it says', async () => {
  const lines = [...pages].flatMap(([page, html]) =>
    codeOf(html)
      .flatMap((code) => code.split('\n'))
      .filter((line) => line.startsWith('curl '))
      .map((line) => ({ page, line })),
  );
  expect(lines.length).toBeGreaterThan(14);
  const cwd = newFolder(path('curl'));
  for (const { page, line } of lines) {
    expect(line).toContain(site.base);
    const options = String.raw`--silent --show-error --write-out '\n%{http_code} %{content_type}'`;
    const { stdout } = await run('sh', ['-c', `${here(line)} ${options}`], { cwd, maxBuffer: 1e9 });
    const json = `application/${line.includes('/api-catalog') ? 'linkset+json; profile=' : 'json; charset=utf-8'}`;
    const [, suffix = ''] = /\/clients\/\w+\.(ts|py)"/.exec(line) ?? [];
    const api =
      { ts: 'application/typescript; charset=utf-8', py: 'text/x-python; charset=utf-8' }[suffix] ?? json;
    const type = ['/downloads', '/feeds'].includes(page) || line.includes('.ndjson.gz') ? '' : api;
    const expected = line.includes('/abc') ? '400 application/problem+json' : `200 ${type}`;
    expect(stdout.split('\n').at(-1), line).toContain(expected);
    // The next line is to get something again.
    for (const file of readdirSync(cwd).filter((name) => name.endsWith('.etag'))) rmSync(join(cwd, file));
  }
});

/** A sample as JSON, with `{"…": 7}` where it says that 7 entries are left out. */
const readSample = (text: string): unknown =>
  JSON.parse(text.replaceAll(/^( *)… (\d+) more$/gm, '$1{"…": $2}'));

/** The value, cut where the sample is cut. */
function cutLike(value: unknown, shown: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shown)) {
    const entries: readonly unknown[] = value;
    const cut = shown.findIndex((entry) => typeof entry === 'object' && entry !== null && '…' in entry);
    if (cut === -1) return entries.map((entry, index) => cutLike(entry, shown[index]));
    const kept = entries.slice(0, cut).map((entry, index) => cutLike(entry, shown[index]));
    return [...kept, { '…': entries.length - cut }];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const like = typeof shown === 'object' && shown !== null ? fields(shown) : {};
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutLike(member, like[key])]));
}

const samples = (): [url: string, text: string][] =>
  [...documentation().matchAll(/<code class="json" data-url="([^"]*)">([^]*?)<\/code>/g)].map(
    ([, url = '', text = '']) => [textOf(url), textOf(text)],
  );

it('the badge asks shields.io for a member of a document that is there, percent-encoded', async () => {
  const code = codeOf(pages.get('/developers/guides/tools') ?? '').join('\n');
  const [, query = ''] =
    /^!\[\w+\]\(https:\/\/img\.shields\.io\/badge\/dynamic\/json\?([^\s()]+)\)$/m.exec(code) ?? [];
  const url = new URLSearchParams(query).get('url') ?? '';
  expect(query).toBe(`url=${encodeURIComponent(url)}&query=%24.member_count&label=member%20count`);
  const answer = await fetch(here(url));
  expect(await answer.json()).toHaveProperty('member_count', expect.any(Number));
});

const HAS_PYTHON = has('examples in Python', 'python3');
it.skipIf(!HAS_PYTHON)('the example that looks up a name finds a user, in each language', async () => {
  const codes = codeOf(pages.get('/developers/guides/finding') ?? '');
  const [, name = ''] = /const name = ("[^"]*")\./.exec(codes.join('')) ?? [];
  expect(codes).toHaveLength(2);
  const env = { ...process.env, PYTHONUTF8: '1', NODE_NO_WARNINGS: '1' };
  for (const code of codes) {
    const [program, ...args] = code.startsWith('import ')
      ? ['python3', '-c']
      : [process.execPath, '--input-type=module', '--eval'];
    const { stdout } = await run(program, [...args, here(code)], { env });
    const [, id] = /'?id'?: (\d+)/.exec(stdout) ?? [];
    const user = fields(await (await site.proxy.get(`/api/v1/user/${id}`)).json());
    expect(JSON.stringify(user['username'])).toBe(name);
  }
});

it('the contents of each page lead to every page once, and nothing that is measured is said not to be', () => {
  for (const page of DOCUMENTATION_PAGES) {
    const [contents = ''] = between(pages.get(page) ?? '', '<ul id="pages">', '</nav>');
    const hrefs = [...contents.matchAll(/<a href="(\/[^"#]*)"/g)].map(([, href]) => href);
    expect([hrefs.length, new Set(hrefs)], page).toEqual([
      DOCUMENTATION_PAGES.length,
      new Set(DOCUMENTATION_PAGES),
    ]);
  }
  expect(documentation()).not.toContain('this register does not measure it');
});

it('the search finds every page, and every place of it, where it is', async () => {
  const place = z.tuple([z.union([z.literal(0), z.literal(1)]), z.string(), z.string(), z.string()]);
  const index = z
    .object({ pages: z.array(z.object({ path: z.string(), title: z.string(), places: z.array(place) })) })
    .parse(await (await site.proxy.get('/developers.json')).json());
  expect(index.pages.map((page) => page.path)).toEqual(DOCUMENTATION_PAGES);
  const ids = new Set<string>();
  for (const { path: page, places: found } of index.pages) {
    const html = pages.get(page) ?? '';
    const unique = new Set(found.map(([, id]) => id));
    expect(unique.size, page).toBe(found.length);
    for (const [, id, text] of found) {
      const [after = ''] = between(html, ` id="${id}"`, '</d');
      expect(textOf(`<${after}`).replaceAll(/\s+/g, ' '), id).toContain(text);
      // An address of when all was on one page leads to one place.
      expect(ids.has(id), id).toBe(false);
      ids.add(id);
    }
  }
  for (const { code } of PROBLEMS) expect(ids).toContain(`error-${code}`);
  const routes = snapshotOf(site.out).routes.map(({ name }) => name);
  const listed = routes.filter((name) => DOCUMENTS.some((document) => document.name === name));
  expect(listed.length).toBeGreaterThan(20);
  for (const name of listed) expect(ids).toContain(`endpoint-${name}`);
  const old = 'first endpoints types limits caching errors headers bulk changes terms policy';
  for (const id of old.split(' ')) expect(ids).toContain(id);
});

it('every sample is what the service answers, cut where it says so', async () => {
  // A section each, but for the publisher's own four; and on the first page, a record and an error.
  expect(samples()).toHaveLength(25);
  for (const [url, text] of samples()) {
    const answer: unknown = await (await site.proxy.get(url)).json();
    expect(readSample(text), url).toEqual(cutLike(answer, readSample(text)));
  }
});

it('the headers of answers are all explained, and as the page says for caching and for scripts', async () => {
  const limits = pages.get('/developers/guides/limits') ?? '';
  const rows = [...limits.matchAll(/<th scope="row"><code>([\w-]+)<\/code><\/th>/g)];
  const explained = new Set(rows.map(([, name]) => name?.toLowerCase()));
  const ofHttp = new Set(['connection', 'keep-alive', 'date', 'content-type', 'transfer-encoding']);
  for (const url of ['/api/v1/stats', '/developers', '/group/0', '/nothing']) {
    const { headers } = await site.proxy.get(url, { headers: { 'Accept-Encoding': 'br' } });
    expect([...headers.keys()].filter((name) => !explained.has(name) && !ofHttp.has(name))).toEqual([]);
    for (const name of ['cache-control', 'access-control-expose-headers'])
      expect(limits, url).toContain(`<code>${headers.get(name)}</code>`);
  }
});

it('every link of a page leads somewhere, fragments included', async () => {
  const targets = new Set(
    [...pages].flatMap(([page, html]) =>
      [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(
        ([, url]) => new URL(textOf(url ?? ''), site.base + page),
      ),
    ),
  );
  const own = [...targets].filter(({ origin }) => origin === site.base);
  expect(own.length).toBeGreaterThan(60);
  const bodies = new Map<string, string>();
  for (const url of new Set(own.map(({ pathname, search }) => pathname + search))) {
    const answer = await site.proxy.get(url);
    expect(answer.status, url).toBe(200);
    bodies.set(url, await answer.text());
  }
  for (const { pathname, search, hash } of own) {
    const begin = hash === '' ? '' : ` id="${hash.slice(1)}"`;
    expect(bodies.get(pathname + search), pathname + hash).toContain(begin);
  }
});

it('the catalog of the API leads to it and its descriptions, and names itself on HEAD', async () => {
  const answer = await site.proxy.get('/.well-known/api-catalog');
  expect(answer.headers.get('content-type')).toBe(
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  const all = [...(await answer.text()).matchAll(/"(?:anchor|href)":"([^"]*)"/g)];
  const hrefs = all.map(([, href = '']) => href).filter((href) => href.startsWith(site.base));
  const paths = ['/.well-known/api-catalog', '/api/v1', '/api/v1/openapi.json', '/developers'];
  expect(new Set(hrefs)).toEqual(new Set(paths.map((each) => site.base + each)));
  for (const href of hrefs) expect((await fetch(here(href))).status, href).toBe(200);
  const head = await site.proxy.get('/.well-known/api-catalog', { method: 'HEAD' });
  expect(head.headers.get('link')).toContain('</.well-known/api-catalog>; rel="api-catalog"');
});

it('robots.txt keeps crawlers from records and downloads, not from pages', async () => {
  const text = await (await site.proxy.get('/robots.txt')).text();
  const rules = [...text.matchAll(/^Disallow: (.+)$/gm)].map(([, rule = '']) => rule);
  const isKept = (file: string): boolean => rules.some((rule) => file.startsWith(rule));
  expect(PAGES.filter(isKept)).toEqual([]);
  const files = ['/api/v1/group/7', '/group/7/history.json', '/downloads/groups.csv'];
  expect(files.filter(isKept)).toEqual(files);
});

it('all that a page loads is less than 60 kB, compressed, whatever letters its names have', () => {
  const files = snapshotOf(site.out).routes.map(({ file }) => file);
  const fonts = files.filter((file) => /^[^{]*[.]woff2$/.test(file));
  const chart = files.filter((file) => /^assets\/chart-\w+\.(css|js)$/.test(file));
  const weight = (page: string, names: readonly string[]): number => {
    // What is imported later is loaded when it is needed.
    const named = /(?<!\bimport\()["']\/(assets\/[^"']*)["']/g;
    const loaded = new Set([page, ...names]);
    for (const file of loaded) {
      if (!/\.(?:html|js)$/.test(file)) continue;
      const content = readFileSync(join(site.out, file), 'utf8');
      for (const [, asset = ''] of content.matchAll(named)) loaded.add(asset);
    }
    expect(loaded.size, page).toBeGreaterThan(2);
    // As they travel.
    const sizes = [...loaded].map((file) => join(site.out, file));
    return sizes.reduce(
      (sum, file) => sum + statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size,
      0,
    );
  };
  const records = ['group.html', 'user.html', 'game.html', 'item.html'];
  for (const page of ['index.html', ...records, ...DOCUMENTATION_FILES, 'downloads.html', 'feeds.html']) {
    const names = page === 'index.html' ? fonts : records.includes(page) ? chart : [];
    expect(weight(page, names), page).toBeLessThan(60_000);
  }
});
