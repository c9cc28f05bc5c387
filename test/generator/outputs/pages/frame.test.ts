/** What all pages have in common: their head, their fonts, the icons and the map of the site. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { between, manifestOf } from './site.js';

const path = temporary();
const out = path('dist');
const BASE = 'https://register.example';
const bytesOf = (file: string): Buffer => readFileSync(join(out, file));
const text = (file: string): string => bytesOf(file).toString('utf8');
const routes = (): ReturnType<typeof manifestOf>['routes'] => manifestOf(out).routes;
/** The pages with an address of their own; those of errors have none. */
const pages = () =>
  routes().filter(({ path: url, file }) => file.endsWith('.html') && !/[{]|^\/4\d\d$/.test(url));

/** The `meta` elements of a page, by name. */
const metaOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<meta (?:name|property)="([^"]*)" content="([^"]*)">/g)].map(
      ([, name = '', content = '']) => [name, content],
    ),
  );

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
  await published({ register, out, baseUrl: BASE });
});

describe('the head of every page', () => {
  it('has a title and a description of its own, and what a link to it shows elsewhere', () => {
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
      const isShared = routes().some((route) => route.file === file && route.path.includes('{'));
      expect(between(html, '<link rel="canonical" href="', '"'), file).toEqual(isShared ? [] : [BASE + url]);
      expect(meta['og:url'], file).toBe(isShared ? undefined : BASE + url);
    }
    expect(titles.size).toBe(pages().length);
    expect(descriptions.size).toBe(pages().length);
  });
});

describe('the sitemap', () => {
  it('is XML with the absolute address of every page, and of nothing else', () => {
    expect(text('sitemap.xml').trim().split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
      ...pages().map(({ path: url }) => `<url><loc>${BASE}${url}</loc></url>`),
      '</urlset>',
    ]);
  });

  it('is named by robots.txt', () => {
    expect(text('robots.txt')).toContain(`\nSitemap: ${BASE}/sitemap.xml\n`);
  });
});
