import { describe, expect, it } from 'vitest';
import { escaped, legible, quoted } from '../../../../generator/outputs/feeds/text.js';
import { cut } from '../../../../generator/outputs/pages/words.js';
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

describe('escaped', () => {
  it('leaves no markup and no end of CDATA', () => {
    expect(escaped(`]]>]]> <b a="x">'&amp;`)).toBe(`]]&gt;]]&gt; &lt;b a=&quot;x&quot;&gt;'&amp;amp;`);
  });
});

describe('quoted', () => {
  it.each([
    ['plain text', 'abc', '“abc”'],
    ['marks of its own', 'a “b” c', '“a “b” c”'],
    ['right to left', 'שלום', '“שלום”'],
    ['marks that last no longer than a character', '\u200f\u200ea\u061c', '“\u200f\u200ea\u061c”'],
    ['isolates', '\u2066a\u2067b\u2068c\u2069', '“\ufffda\ufffdb\ufffdc\ufffd”'],
    ['embeddings', '\u202aa\u202bb\u202c', '“\ufffda\ufffdb\ufffd”'],
    ['overrides', '\u202dx\u202eevil', '“\ufffdx\ufffdevil”'],
  ])('keeps %s between its marks', (_, text, expected) => {
    expect(quoted(text)).toBe(expected);
  });
});

describe('cut', () => {
  it('leaves text of that many characters whole, whatever they take', () => {
    expect(cut('abc', 3)).toBe('abc');
    expect(cut('😀😀😀', 3)).toBe('😀😀😀');
  });

  it('cuts between characters and says so', () => {
    expect(cut('abcd', 3)).toBe('abc…');
    expect(cut('😀😀😀😀', 3)).toBe('😀😀😀…');
    expect(cut('a😀b😀c', 2)).toBe('a😀…');
  });
});
