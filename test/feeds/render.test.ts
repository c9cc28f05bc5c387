import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FeedDocument, FeedOperator } from '../../generator/outputs/feeds/document.js';
import { atom, jsonFeed } from '../../generator/outputs/feeds/render.js';
import { escaped, legible } from '../../generator/outputs/feeds/text.js';
import { temporary } from '../support/folder.js';
import { HAS_CHECKERS, read, validate } from './checkers.js';
import type { Parsed } from './checkers.js';
import { NASTY } from './nasty.js';

const path = temporary();

const IMPRINT: FeedOperator = {
  name: 'The Golden Register',
  url: 'https://golden.example/about?a=1&b=2',
  baseUrl: 'https://api.golden.example',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  tagAuthority: 'golden.example',
};

/** A document with the text in every slot that text can reach, the entry's as entries.ts puts it there. */
const documentWith = (text: string, index: number): FeedDocument => ({
  id: 'tag:golden.example,2026:feeds/test',
  title: text,
  description: `x${text}x`,
  updated: '2026-11-20T08:00:00Z',
  self: `https://api.golden.example/feeds/test-${index}.atom?a=1&b=2`,
  entries: [
    {
      id: `tag:golden.example,2026:test/${index}/name/2`,
      title: `\u2068${legible(text)}\u2069`,
      content: `<dl><dt>To</dt><dd><bdi>${escaped(legible(text))}</bdi></dd></dl>`,
      published: '2026-11-19T08:00:00Z',
      updated: '2026-11-20T08:00:00Z',
      url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
      history: 'https://api.golden.example/group/7/history.json?a="<>"&b=2',
    },
  ],
  links: { 'prev-archive': 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2' },
  isArchive: index % 2 === 1,
});

const imprintWith = (text: string): FeedOperator => ({
  ...IMPRINT,
  name: `x${text}x`,
  licence: { ...IMPRINT.licence, name: text },
});

const item = z.looseObject({ id: z.string(), title: z.string(), content_html: z.string() });
const json = z.looseObject({
  title: z.string(),
  description: z.string(),
  authors: z.array(z.object({ name: z.string(), url: z.string() })),
  items: z.array(item),
});

describe.skipIf(!HAS_CHECKERS)('a feed with a nasty text in every slot', () => {
  const files = NASTY.map(() => path('feed.atom'));
  let found: readonly Parsed[];
  beforeAll(() => {
    for (const [index, { text }] of NASTY.entries()) {
      writeFileSync(files[index]!, atom(documentWith(text, index), imprintWith(text)));
    }
    found = read(files);
  });

  it('is well-formed and keeps the schema of RFC 4287', () => {
    expect(() => validate(files)).not.toThrow();
  });

  it('would be refused if a text came through raw', () => {
    const file = path('raw.atom');
    writeFileSync(file, atom(documentWith('x', 1), IMPRINT).replace('>x<', '>\u0007<'));
    expect(() => validate([file])).toThrow('xmllint');
    writeFileSync(file, atom(documentWith('x', 1), IMPRINT).replaceAll('updated>', 'renewed>'));
    expect(() => validate([file])).toThrow('jing');
  });

  it.each(NASTY.map(({ what }, index) => [what, index] as const))('reads back %s', (_, index) => {
    const { shown } = NASTY[index]!;
    const { bozo, entries, title, subtitle, author, links } = found[index]!;
    expect(bozo).toBe('');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ title: `\u2068${shown}\u2069`, facts: { To: shown } });
    // feedparser takes away outer white space of a feed's own texts.
    expect(title).toBe(trimmed(shown));
    expect(subtitle).toBe(trimmed(`x${shown}x`));
    expect(author).toBe(trimmed(`x${shown}x`));
    expect(links).toMatchObject({
      self: `https://api.golden.example/feeds/test-${index}.atom?a=1&b=2`,
      'prev-archive': 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
    });
    expect(entries[0]?.links).toMatchObject({
      related: 'https://api.golden.example/group/7/history.json?a="<>"&b=2',
    });
  });

  it.each(NASTY)('is JSON Feed with $what', ({ text, shown }) => {
    const body = jsonFeed(documentWith(text, 0), imprintWith(text));
    expect(Buffer.from(body).toString()).toBe(body);
    const feed = json.parse(JSON.parse(body));
    expect(feed).toMatchObject({
      title: shown,
      description: `x${shown}x`,
      authors: [{ name: `x${shown}x` }],
    });
    expect(feed.items[0]?.title).toBe(`\u2068${shown}\u2069`);
    expect(feed.items[0]?.content_html).toContain(`<bdi>${escaped(shown)}</bdi>`);
  });
});

/** What Python's strip() takes away. */
const trimmed = (text: string): string =>
  text.replaceAll(/^[ \t\n\u00a0\u2028\u2029]+|[ \t\n\u00a0\u2028\u2029]+$/g, '');

describe('Atom', () => {
  const document: FeedDocument = {
    ...documentWith('Title', 1),
    self: 'https://api.golden.example/feeds/test.atom',
    links: { current: 'https://api.golden.example/feeds/current.atom' },
  };

  it('says who, under which terms, in which language, and that an archive is one', () => {
    const text = atom(document, IMPRINT);
    for (const part of [
      'xml:lang="en"',
      '<fh:archive/>',
      '<link rel="current" href="https://api.golden.example/feeds/current.atom"/>',
      '<link rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/"/>',
      '<link rel="self" href="https://api.golden.example/feeds/test.atom"/>',
      '<link rel="alternate" href="https://api.golden.example/feeds"/>',
      '<uri>https://golden.example/about?a=1&amp;b=2</uri>',
      '<updated>2026-11-20T08:00:00Z</updated>',
      '<generator>register-api</generator>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text.match(/<rights>/g)).toHaveLength(1);
    expect(atom({ ...document, isArchive: false }, IMPRINT)).not.toContain('<fh:archive/>');
  });
});

describe('JSON Feed', () => {
  it('is version 1.1 with what that asks for', () => {
    expect(JSON.parse(jsonFeed(documentWith('Title', 0), IMPRINT))).toEqual({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Title',
      home_page_url: 'https://api.golden.example/feeds',
      feed_url: 'https://api.golden.example/feeds/test-0.atom?a=1&b=2',
      description: 'xTitlex',
      language: 'en',
      authors: [{ name: 'The Golden Register', url: 'https://golden.example/about?a=1&b=2' }],
      items: [
        {
          id: 'tag:golden.example,2026:test/0/name/2',
          url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
          title: '\u2068Title\u2069',
          content_html: '<dl><dt>To</dt><dd><bdi>Title</bdi></dd></dl>',
          date_modified: '2026-11-20T08:00:00Z',
          date_published: '2026-11-19T08:00:00Z',
        },
      ],
    });
  });
});
