/** Feeds as texts: what is legible, what entries say, and the documents of both formats. */
import { describe, expect, it } from 'vitest';
import { NAMES, OWNERS } from '../../../../generator/outputs/feeds/changes.js';
import type { FeedDocument } from '../../../../generator/outputs/feeds/document.js';
import { EntryMaker } from '../../../../generator/outputs/feeds/entries.js';
import { atom, jsonFeed } from '../../../../generator/outputs/feeds/render.js';
import { escaped, legible, quoted } from '../../../../generator/outputs/feeds/text.js';
import { cut } from '../../../../generator/outputs/pages/words.js';
import { ROUTES } from '../../../../generator/routes/routes.js';
import { Measured } from '../../../../generator/schema/measured.js';
import { IMPRINT } from './imprint.js';
import { NASTY } from './nasty.js';

describe('legible', () => {
  it.each(NASTY)('shows $what', ({ text, shown }) => {
    expect(legible(text)).toBe(shown);
    expect(legible(shown)).toBe(shown);
  });

  it('leaves nothing that XML 1.0 can’t say, of all code units', () => {
    const all = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).join(' ');
    // The production Char of XML 1.0, section 2.2.
    const chars = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
    expect(chars.test(all)).toBe(false);
    expect(chars.test(legible(all))).toBe(true);
  });
});

it('escaped text has no markup and no end of CDATA', () => {
  expect(escaped(`]]>]]> <b a="x">'&amp;`)).toBe(`]]&gt;]]&gt; &lt;b a=&quot;x&quot;&gt;'&amp;amp;`);
});

it.each([
  ['plain text', 'abc', '“abc”'],
  ['marks of its own', 'a “b” c', '“a “b” c”'],
  ['right to left', 'שלום', '“שלום”'],
  ['marks that last no longer than a character', '\u200f\u200ea\u061c', '“\u200f\u200ea\u061c”'],
  ['isolates', '\u2066a\u2067b\u2068c\u2069', '“\ufffda\ufffdb\ufffdc\ufffd”'],
  ['embeddings', '\u202aa\u202bb\u202c', '“\ufffda\ufffdb\ufffd”'],
  ['overrides', '\u202dx\u202eevil', '“\ufffdx\ufffdevil”'],
])('quoted text keeps %s between its marks', (_, text, expected) => {
  expect(quoted(text)).toBe(expected);
});

it('text is cut between characters, whatever they take, and says so', () => {
  expect(['abc', '😀😀😀', 'abcd', '😀😀😀😀'].map((text) => cut(text, 3))).toEqual([
    'abc',
    '😀😀😀',
    'abc…',
    '😀😀😀…',
  ]);
  expect(cut('a😀b😀c', 2)).toBe('a😀…');
});

describe('an entry', () => {
  const change = {
    source: NAMES,
    id: 7,
    position: 2,
    from: ['Old'],
    to: ['New'],
    changedAt: null,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
    name: null,
  };
  const makeEntry = (more: object) =>
    new EntryMaker(IMPRINT, new Measured(), ROUTES).entry({ ...change, ...more });

  it.each([
    ['that the platform dates years back', '2012-05-26T08:00:00Z'],
    ['that nobody dates', null],
    ['that the platform dates after its reading', '2026-05-28T08:00:00Z'],
  ])('of a change %s is published at its reading', (_, changedAt) => {
    expect(makeEntry({ changedAt }).published).toBe(change.measuredAt);
  });

  it('of an owner names the group by its id, where it had no name', () => {
    const owner = { source: OWNERS, from: ['none', null, null], to: ['owned', 8, null] };
    const { title, content } = makeEntry(owner);
    expect(title).toBe('Owner of group 7 changed from no owner to user 8');
    expect(content).not.toContain('<dt>Group</dt>');
  });
});

/** A document with a text that readers can't show in every slot that text can reach, the entry's as entries.ts puts it there. */
const DOCUMENT: FeedDocument = {
  id: 'tag:golden.example,2026:feeds/test',
  title: 'Title\u0000',
  description: 'xTitle\u0000x',
  updated: '2026-11-20T08:00:00Z',
  self: 'https://api.golden.example/feeds/test.atom?a=1&b=2',
  entries: [
    {
      id: 'tag:golden.example,2026:test/0/name/2',
      title: '“Title␀”',
      content: '<dl><dt>To</dt><dd><bdi>Title␀</bdi></dd></dl>',
      published: '2026-11-19T08:00:00Z',
      url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
      related: ['https://api.golden.example/group/7/history.json?a="<>"&b=2'],
    },
  ],
  previous: 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
};

it('Atom says who, under which terms, in which language, and that an archive is one', () => {
  const text = atom(
    {
      ...DOCUMENT,
      current: 'https://api.golden.example/feeds/current.atom',
      self: 'https://api.golden.example/feeds/test.atom',
      next: 'https://api.golden.example/feeds/test/2026-12.atom',
    },
    IMPRINT,
  );
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
  ])
    expect(text).toContain(part);
  expect(text.match(/<rights>/g)).toHaveLength(1);
  expect(atom(DOCUMENT, IMPRINT)).not.toContain('<fh:archive/>');
});

it('JSON Feed is version 1.1 with what that asks for, and has no texts that readers can’t show', () => {
  const operator = { ...IMPRINT, name: 'The Golden\u0007Register\ud83d' };
  expect(JSON.parse(jsonFeed(DOCUMENT, operator))).toEqual({
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
        date_modified: '2026-11-19T08:00:00Z',
        date_published: '2026-11-19T08:00:00Z',
      },
    ],
  });
});
