/** The pages that browsers get instead of the problem documents of 404 and 429. */
import type { Limits } from '../../config/config.js';
import { PATHS } from '../../routes/paths.js';
import { pageLimitText } from '../api-index.js';
import type { LookupField } from './page-data.js';
import { span } from './words.js';

/** The data for the template of an error. */
interface ErrorPage {
  readonly heading: string;
  readonly lede: string;
  readonly points: { readonly id: string; readonly heading: string; readonly items: readonly string[] };
  /** Set if a record can be looked up here. */
  readonly lookup?: LookupField;
  readonly ways: readonly (readonly [path: string, name: string, what: string])[];
}

const HOME = ['/', 'Front page', 'what the register has'] as const;
const DOWNLOADS = [PATHS.bulk, 'Downloads', 'the whole register as files'] as const;
const DOCUMENTATION = [PATHS.docs, 'Documentation', 'every endpoint of the API, and its limits'] as const;

export const notFoundPage = (lookup: LookupField): ErrorPage => ({
  heading: 'Nothing is published at this address',
  lede: 'The address is not one of this site, or the register has no record for it.',
  points: {
    id: 'why',
    heading: 'Why there may be nothing here',
    items: [
      'There is a typo in the address, or in the link that led here.',
      'The record was never measured, so the register has nothing to say about it. It may be measured later.',
      'The record is withheld: it is not published, or no longer.',
    ],
  },
  lookup,
  ways: [HOME, DOCUMENTATION, DOWNLOADS],
});

/** With a limit that refills this fast, nobody counts the seconds. */
const FEW_SECONDS = 3;

export function tooManyPage(limits: Limits): ErrorPage {
  // A path without a page counts against the limit of the API.
  const seconds = Math.ceil(Math.max(limits.api.refillSeconds, limits.page.refillSeconds));
  const pause = seconds <= FEW_SECONDS ? 'a few seconds' : span(seconds);
  return {
    heading: 'Too many requests in a short time',
    lede: `You have reached the request limit. Wait ${pause}, then load this page again.`,
    points: {
      id: 'limit',
      heading: 'What the limit is',
      items: [
        pageLimitText(limits),
        'All requests from your IP address count together: a school, an office or a mobile network may have one for many people.',
        'For many records, don’t load pages: the downloads have all of them in a few files.',
      ],
    },
    ways: [DOWNLOADS, DOCUMENTATION, HOME],
  };
}
