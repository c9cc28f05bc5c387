/** What all pages have in common: their head, their fonts, the icons and the map of the site. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
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
const ofClass = (suffix: string): string[] =>
  routes().flatMap(({ file, class: of }) =>
    of === 'asset' && !file.includes('{') && file.endsWith(suffix) ? file : [],
  );

/** The `meta` elements of a page, by name. */
const metaOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<meta (?:name|property)="([^"]*)" content="([^"]*)">/g)].map(
      ([, name = '', content = '']) => [name, content],
    ),
  );

/** `U+20-7E, U+B7` -> [[0x20, 0x7e], [0xb7, 0xb7]] */
const rangesOf = (rules: string): (readonly [low: number, high: number])[] =>
  [...(/unicode-range:([^;]*)/.exec(rules)?.[1] ?? '').matchAll(/U\+([\dA-F]+)(?:-([\dA-F]+))?/g)].map(
    ([, low = '', high = low]) => [Number.parseInt(low, 16), Number.parseInt(high, 16)],
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

  it('loads the display face early, as what it is', () => {
    const face = ofClass('.woff2').find((file) => /\/serif-[0-9a-f]{10}\.woff2$/.test(file));
    expect(face).toBeDefined();
    for (const { file } of pages())
      expect(text(file), file).toContain(
        `<link rel="preload" href="/${face}" as="font" type="font/woff2" crossorigin>`,
      );
  });
});

describe('the fonts', () => {
  it('weigh at most 30 kB together', () => {
    const sizes = ofClass('.woff2').map((file) => bytesOf(file).length);
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(30_000);
    for (const file of ofClass('.woff2')) expect(bytesOf(file).toString('latin1', 0, 4), file).toBe('wOF2');
  });

  it('are named by the style sheet, each for characters that no other one is for', () => {
    const style = text(ofClass('.css').find((file) => file.startsWith('assets/style-')) ?? '');
    const faces = [...style.matchAll(/@font-face\{([^}]*)\}/g)].flatMap(([, rules = '']) => {
      const file = /url\(\/([^)]+)\)/.exec(rules)?.[1];
      return file === undefined ? [] : [{ file, ranges: rangesOf(rules) }];
    });
    expect(faces.map(({ file }) => file).toSorted()).toEqual(ofClass('.woff2').toSorted());
    const all = faces.flatMap(({ ranges }) => ranges).toSorted(([a], [b]) => a - b);
    expect(all.length).toBeGreaterThan(faces.length);
    for (const [index, [low, high]] of all.entries()) {
      expect(high).toBeGreaterThanOrEqual(low);
      expect(low, `U+${low.toString(16)}`).toBeGreaterThan(all[index - 1]?.[1] ?? -1);
    }
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

  it.skipIf(!has('the sitemap as others read it', 'xmllint'))('is well-formed', () => {
    const { status, stderr } = spawnSync('xmllint', ['--noout', join(out, 'sitemap.xml')]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  it('is named by robots.txt', () => {
    expect(text('robots.txt')).toContain(`\nSitemap: ${BASE}/sitemap.xml\n`);
  });
});

describe('the pictures of the site', () => {
  it('are a PNG of the size that the pages say', () => {
    const png = bytesOf('preview.png');
    // RFC 2083: the signature, then the chunk IHDR with width and height.
    expect(png.toString('hex', 0, 8)).toBe('89504e470d0a1a0a');
    expect(png.toString('latin1', 12, 16)).toBe('IHDR');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(png.toString('latin1', png.length - 8, png.length - 4)).toBe('IEND');
  });
});
