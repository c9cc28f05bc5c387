/** Documents of feeds with a text in every slot that text can reach. */
import type { FeedDocument, FeedOperator } from '../../../../generator/outputs/feeds/document.js';
import { escaped, legible } from '../../../../generator/outputs/feeds/text.js';

export const IMPRINT: FeedOperator = {
  name: 'The Golden Register',
  url: 'https://golden.example/about?a=1&b=2',
  baseUrl: 'https://api.golden.example',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  tagAuthority: 'golden.example',
};

/** A document with the text in every slot that text can reach, the entry's as entries.ts puts it there. */
export const documentWith = (text: string, index: number): FeedDocument => ({
  id: 'tag:golden.example,2026:feeds/test',
  title: text,
  description: `x${text}x`,
  updated: '2026-11-20T08:00:00Z',
  self: `https://api.golden.example/feeds/test-${index}.atom?a=1&b=2`,
  entries: [
    {
      id: `tag:golden.example,2026:test/${index}/name/2`,
      title: `“${legible(text)}”`,
      content: `<dl><dt>To</dt><dd><bdi>${escaped(legible(text))}</bdi></dd></dl>`,
      published: '2026-11-19T08:00:00Z',
      updated: '2026-11-20T08:00:00Z',
      url: 'https://api.golden.example/api/v1/group/7?a=1&b=2',
      related: ['https://api.golden.example/group/7/history.json?a="<>"&b=2'],
    },
  ],
  previous: 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
  ...(index % 2 === 1 && { current: 'https://api.golden.example/feeds/current.atom' }),
});

export const imprintWith = (text: string): FeedOperator => ({
  ...IMPRINT,
  name: `x${text}x`,
  licence: { ...IMPRINT.licence, name: text },
});
