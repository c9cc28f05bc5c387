/** Who publishes the feeds of tests. */
import type { FeedOperator } from '../../../../generator/outputs/feeds/document.js';

export const IMPRINT: FeedOperator = {
  name: 'The Golden Register',
  url: 'https://golden.example/about?a=1&b=2',
  baseUrl: 'https://api.golden.example',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  tagAuthority: 'golden.example',
};
