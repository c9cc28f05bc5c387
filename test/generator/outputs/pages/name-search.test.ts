/** Which pages of names have those that begin with a text. */
import { expect, it } from 'vitest';
import { comparePoints, pagesWith } from '../../../../generator/outputs/pages/name-search.js';

const PAGES = ['', 'anna', 'anna', 'annabel', 'bob', '\u{1f98a} fox'].map((first, index) => ({
  first,
  path: `/${index}`,
}));
const found = (prefix: string) => pagesWith(PAGES, prefix).map(({ path }) => path);

it('pagesWith begins with the page before the first that begins so, since that may end with such names', () => {
  expect(found('anna')).toEqual(['/0', '/1', '/2', '/3']);
  expect(found('annab')).toEqual(['/2', '/3']);
  expect(found('b')).toEqual(['/3', '/4']);
  expect(found('zoe')).toEqual(['/4']);
  expect(found('\u{1f98a}')).toEqual(['/4', '/5']);
  expect(found('')).toHaveLength(PAGES.length);
  expect(pagesWith([], 'anna')).toEqual([]);
});

it('comparePoints has the order of UTF-8, where that of UTF-16 is another', () => {
  const names = ['', 'a', 'ab', 'b', '\ue000', '\uffff', '\u{10000}', '\u{10000}a', '\u{10ffff}'];
  const shuffled = names.toReversed();
  expect(shuffled.toSorted(comparePoints)).toEqual(names);
  const bytes = shuffled.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(bytes).toEqual(names);
});
