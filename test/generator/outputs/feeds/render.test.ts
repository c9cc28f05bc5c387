import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FeedDocument } from '../../../../generator/outputs/feeds/document.js';
import { atom, jsonFeed } from '../../../../generator/outputs/feeds/render.js';
import { escaped } from '../../../../generator/outputs/feeds/text.js';
import { NASTY } from './nasty.js';
import { IMPRINT, documentWith, imprintWith } from './nasty-document.js';

const item = z.looseObject({ id: z.string(), title: z.string(), content_html: z.string() });
const json = z.looseObject({
  title: z.string(),
  description: z.string(),
  authors: z.array(z.object({ name: z.string(), url: z.string() })),
  items: z.array(item),
});

describe('a feed with a nasty text in every slot', () => {
  it.each(NASTY)('is JSON Feed with $what', ({ text, shown }) => {
    const body = jsonFeed(documentWith(text, 0), imprintWith(text));
    expect(Buffer.from(body).toString()).toBe(body);
    const feed = json.parse(JSON.parse(body));
    expect(feed).toMatchObject({
      title: shown,
      description: `x${shown}x`,
      authors: [{ name: `x${shown}x` }],
    });
    expect(feed.items[0]?.title).toBe(`“${shown}”`);
    expect(feed.items[0]?.content_html).toContain(`<bdi>${escaped(shown)}</bdi>`);
  });
});

describe('Atom', () => {
  const document: FeedDocument = {
    ...documentWith('Title', 1),
    self: 'https://api.golden.example/feeds/test.atom',
    next: 'https://api.golden.example/feeds/test/2026-12.atom',
  };

  it('says who, under which terms, in which language, and that an archive is one', () => {
    const text = atom(document, IMPRINT);
    for (const part of [
      'xml:lang="en"',
      '<fh:archive/>',
      '<link rel="current" href="https://api.golden.example/feeds/current.atom"/>',
      '<link rel="next-archive" href="https://api.golden.example/feeds/test/2026-12.atom"/>',
      '<link rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/"/>',
      '<link rel="self" href="https://api.golden.example/feeds/test.atom"/>',
      '<link rel="alternate" href="https://api.golden.example/feeds"/>',
      '<uri>https://golden.example/about?a=1&amp;b=2</uri>',
      '<updated>2026-11-20T08:00:00Z</updated>',
      '<generator>register-api</generator>',
      // Of the entry: a JSON document.
      ' type="application/json"/>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text.match(/<rights>/g)).toHaveLength(1);
    expect(atom(documentWith('Title', 0), IMPRINT)).not.toContain('<fh:archive/>');
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
      next_url: 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
      language: 'en',
      authors: [{ name: 'The Golden Register', url: 'https://golden.example/about?a=1&b=2' }],
      items: [
        {
          id: 'tag:golden.example,2026:test/0/name/2',
          url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
          title: '“Title”',
          content_html: '<dl><dt>To</dt><dd><bdi>Title</bdi></dd></dl>',
          date_modified: '2026-11-20T08:00:00Z',
          date_published: '2026-11-19T08:00:00Z',
        },
      ],
    });
  });
});
