import { describe, expect, it } from 'vitest';
import type { FeedDocument } from '../../../../generator/outputs/feeds/document.js';
import { atom, jsonFeed } from '../../../../generator/outputs/feeds/render.js';
import { escaped, legible } from '../../../../generator/outputs/feeds/text.js';
import { IMPRINT } from './imprint.js';

/** A document with a text in every slot that text can reach, the entry's as entries.ts puts it there. */
const documentWith = (text: string): FeedDocument => ({
  id: 'tag:golden.example,2026:feeds/test',
  title: text,
  description: `x${text}x`,
  updated: '2026-11-20T08:00:00Z',
  self: 'https://api.golden.example/feeds/test.atom?a=1&b=2',
  entries: [
    {
      id: 'tag:golden.example,2026:test/0/name/2',
      title: `“${legible(text)}”`,
      content: `<dl><dt>To</dt><dd><bdi>${escaped(legible(text))}</bdi></dd></dl>`,
      published: '2026-11-19T08:00:00Z',
      updated: '2026-11-20T08:00:00Z',
      url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
      related: ['https://api.golden.example/group/7/history.json?a="<>"&b=2'],
    },
  ],
  previous: 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
});

describe('Atom', () => {
  const document: FeedDocument = {
    ...documentWith('Title'),
    current: 'https://api.golden.example/feeds/current.atom',
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
    expect(atom(documentWith('Title'), IMPRINT)).not.toContain('<fh:archive/>');
  });
});

describe('JSON Feed', () => {
  it('is version 1.1 with what that asks for, and has no texts that readers can’t show', () => {
    const operator = { ...IMPRINT, name: 'The Golden\u0007Register\ud83d' };
    expect(JSON.parse(jsonFeed(documentWith('Title\u0000'), operator))).toEqual({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Title␀',
      home_page_url: 'https://api.golden.example/feeds',
      feed_url: 'https://api.golden.example/feeds/test.atom?a=1&b=2',
      description: 'xTitle␀x',
      next_url: 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
      language: 'en',
      authors: [{ name: 'The Golden␇Register\ufffd', url: 'https://golden.example/about?a=1&b=2' }],
      items: [
        {
          id: 'tag:golden.example,2026:test/0/name/2',
          url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
          title: '“Title␀”',
          content_html: '<dl><dt>To</dt><dd><bdi>Title␀</bdi></dd></dl>',
          date_modified: '2026-11-20T08:00:00Z',
          date_published: '2026-11-19T08:00:00Z',
        },
      ],
    });
  });
});
