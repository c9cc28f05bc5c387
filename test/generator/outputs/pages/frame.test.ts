/** What all pages have in common: their head, what they load, the map of the site; and the pages of errors. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assets as presentAssets } from '../../../../generator/base/assets.js';
import { buildConfig } from '../../../../generator/config/config.js';
import { bundled } from '../../../../generator/outputs/pages/bundle.js';
import { tooManyPage } from '../../../../generator/outputs/pages/errors.js';
import { OPERATOR, published } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeOperator } from '../../../support/operator.js';
import { snapshotOf } from '../../../support/published.js';
import { writeRegister } from '../../../support/register.js';
import { readTree } from '../../../support/tree.js';
import { between, textOf } from './site.js';

const path = temporary();
const BASE = 'https://register.example';
const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
const out = path('dist');
const operator = writeOperator(path('site'), { limits: { page: { tokens: 5, refill_seconds: 29.5 } } });
await published({ register, out, operator, baseUrl: BASE });
const tree = readTree(out);
const { routes } = snapshotOf(out);
const text = (file: string): string => tree.get(file)?.text ?? '';
/** The pages with an address of their own; those of errors have none. */
const pages = () =>
  routes.filter(({ path: url, file }) => file.endsWith('.html') && !/{|^\/4\d\d$/.test(url));
const hashes = (all: ReadonlyMap<string, { path: string; body: Uint8Array | string }>): object =>
  Object.fromEntries(
    [...all.values()].map(({ path: url, body }) => [url, createHash('sha256').update(body).digest('hex')]),
  );
const assets = () => routes.flatMap((r) => (r.class === 'asset' && !r.file.includes('{') ? r.file : []));

const metaOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<meta (?:name|property)="([^"]*)" content="([^"]*)">/g)].map(
      ([, name = '', content = '']) => [name, content],
    ),
  );

it('the head of every page has a title and a description of its own, and what a link to it shows elsewhere', () => {
  expect(pages().length).toBeGreaterThanOrEqual(4);
  const titles = new Set<string>();
  const descriptions = new Set<string>();
  for (const { path: url, file } of pages()) {
    const html = text(file);
    const title = /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? '';
    const meta = metaOf(html);
    expect(title.length, file).toBeGreaterThan(10);
    expect(meta['description']?.length, file).toBeGreaterThan(40);
    titles.add(title);
    descriptions.add(meta['description'] ?? '');
    expect(meta, file).toMatchObject({
      'og:title': title,
      'og:description': meta['description'],
      'og:type': 'website',
      'og:image': `${BASE}/preview.png`,
      'og:image:width': '1200',
      'og:image:height': '630',
      'twitter:card': 'summary_large_image',
    });
    expect(meta['og:image:alt'], file).not.toBe('');
    // The page of a record is at the URLs of all records, so its file can't name one.
    const isShared = routes.some((route) => route.file === file && route.path.includes('{'));
    expect(between(html, '<link rel="canonical" href="', '"'), file).toEqual(isShared ? [] : [BASE + url]);
    expect(meta['og:url'], file).toBe(isShared ? undefined : BASE + url);
  }
  expect(titles.size).toBe(pages().length);
  expect(descriptions.size).toBe(pages().length);
});

it('the sitemap is XML with the absolute address of every page and of nothing else, and robots.txt names it', () => {
  expect(text('sitemap.xml').trim().split('\n')).toEqual([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...pages().map(({ path: url }) => `<url><loc>${BASE}${url}</loc></url>`),
    '</urlset>',
  ]);
  expect(text('robots.txt')).toContain(`\nSitemap: ${BASE}/sitemap.xml\n`);
});

describe('every asset', () => {
  it('has the hash of its content in its name, and is all there is below /assets/', () => {
    expect(assets().length).toBeGreaterThan(0);
    for (const file of assets()) {
      const [, digits] = /^assets\/[a-z\d-]+-([0-9a-f]{10})\.(?:css|js|woff2)$/.exec(file) ?? [];
      expect(digits, file).toBe(tree.get(file)?.sha256.slice(0, 10));
    }
    const below = [...tree.keys()].filter((file) => file.startsWith('assets/'));
    expect(below.toSorted()).toEqual(assets().toSorted());
  });

  it('that a page or a script names is there', () => {
    const named = [...pages().map(({ file }) => file), ...assets()].flatMap((file) =>
      [...text(file).matchAll(/["'(]\/(assets\/[^"')]*)["')]/g)].map(([, url = '']) => url),
    );
    expect(new Set(named).size).toBe(assets().length);
    for (const url of named) expect(tree.has(url), url).toBe(true);
  });

  it('is what was made last, with the same bytes', async () => {
    expect(hashes(await bundled())).toEqual(hashes(presentAssets()));
  });

  it('that has a library in it has the notice that its licence requires, and no other comment', () => {
    const licence = readFileSync(join(PROJECT, 'node_modules/uplot/LICENSE'), 'utf8');
    const chart = text(assets().find((file) => /chart-\w+\.js$/.test(file)) ?? '');
    expect(chart.startsWith(`/*!\n${licence}*/\n`)).toBe(true);
    expect(chart.split('/*')).toHaveLength(2);
  });
});

describe('the page of an error', () => {
  it.each(['404.html', '429.html'])('%s is no content of the site, and leads on without a script', (file) => {
    const html = text(file);
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).not.toMatch(/rel="canonical"|og:url/);
    const [, main = ''] = /<main[^>]*>([^]*)<\/main>/.exec(html) ?? [];
    expect(new Set(between(main, '<a href="', '"'))).toEqual(new Set(['/', '/developers', '/downloads']));
    // It stands for addresses of any depth.
    expect(html).not.toMatch(/(?:href|src)="(?!\/|#|https:|mailto:)/);
  });

  it('of a 429 says how long to wait, by the limits', () => {
    const shown = textOf(text('429.html'));
    expect(shown).toContain('Wait 30 seconds, then load this page again.');
    expect(shown).toContain(
      'Pages and their assets: 5 requests at once per IP address, refilled continuously at about 1 request every 29.5 seconds.',
    );
    const { limits } = buildConfig({ operator: OPERATOR });
    expect(tooManyPage(limits).lede).toContain('Wait a few seconds, then');
    const slow = { ...limits, api: { tokens: 5, refillSeconds: 60 } };
    expect(tooManyPage(slow).lede).toContain('Wait 1 minute, then');
  });
});
