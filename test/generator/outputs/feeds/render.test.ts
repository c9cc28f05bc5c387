/** Feeds as texts: what is legible, what entries say, and the documents of both formats. */
import { describe, expect, it } from 'vitest';
import { OWNERS } from '../../../../generator/outputs/feeds/changes.js';
import type { FeedDocument, FeedOperator } from '../../../../generator/outputs/feeds/document.js';
import { EntryMaker } from '../../../../generator/outputs/feeds/entries.js';
import { atom, jsonFeed } from '../../../../generator/outputs/feeds/render.js';
import { escaped, legible, quoted } from '../../../../generator/outputs/feeds/text.js';
import { cut } from '../../../../generator/outputs/pages/words.js';
import { ROUTES } from '../../../../generator/routes/routes.js';
import { Measured } from '../../../../generator/schema/measured.js';
import { NASTY } from './nasty.js';

const IMPRINT: FeedOperator = {
  name: 'The Golden Register',
  url: 'https://golden.example/about?a=1&b=2',
  baseUrl: 'https://api.golden.example',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  tagAuthority: 'golden.example',
};

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

it('an entry about an owner names the group by its id, where it had no name', () => {
  const { title, content } = new EntryMaker(IMPRINT, new Measured(), ROUTES).entry({
    source: OWNERS,
    id: 7,
    position: 2,
    from: ['none', null, null],
    to: ['owned', 8, null],
    changedAt: null,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
    name: null,
  });
  expect(title).toBe('Owner of group 7 changed from no owner to user 8');
  expect(content).not.toContain('<dt>Group</dt>');
});

it.each([
  ['Atom', atom, '<uri>https://golden.example/about?a=1&amp;b=2</uri>'],
  ['JSON Feed', jsonFeed, '"url":"https://golden.example/about?a=1&b=2"'],
])('%s has no texts of its operator that readers can’t show, and URLs as they are', (_, render, url) => {
  const document: FeedDocument = {
    id: 'tag:golden.example,2026:feeds/test',
    title: 'Title\u0000',
    description: 'About\u0000',
    updated: '2026-11-20T08:00:00Z',
    self: 'https://api.golden.example/feeds/test.atom?a=1&b=2',
    entries: [],
  };
  const text = render(document, { ...IMPRINT, name: 'The Golden\u0007Register\ud83d' });
  for (const shown of ['Title␀', 'About␀', 'The Golden␇Register\ufffd', url]) expect(text).toContain(shown);
  for (const hidden of ['\u0000', '\u0007', '\ud83d', String.raw`\u`]) expect(text).not.toContain(hidden);
});
