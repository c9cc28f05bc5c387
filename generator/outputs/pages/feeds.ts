/** The feeds page: what each feed announces, and how to subscribe. */
import { PATHS } from '../../routes/paths.js';
import type { Measured } from '../../schema/measured.js';
import { WINDOW } from '../feeds/contents.js';
import { integer } from './words.js';
import { RESOURCES } from '../../schema/schema.js';

/** A feed in both of its formats, by URL path. */
export interface PublishedFeed {
  readonly title: string;
  readonly description: string;
  readonly atom: string;
  readonly json: string;
}

/** The data for the template of the feeds page. */
export function feedsPage(feeds: readonly PublishedFeed[], baseUrl: string, measured: Measured) {
  const changes = changesIn(measured);
  return {
    feeds,
    baseUrl,
    hasChanges: changes.length > 0,
    hasNews: changes.length + arrivalsIn(measured).length > 0,
    hasBoth: changes.length > 0 && arrivalsIn(measured).length > 0,
    window: { ...WINDOW, most: integer(WINDOW.most) },
    path: PATHS.feeds,
  };
}

/** What the feeds announce, in short. */
export function feedsSummary(measured: Measured): string {
  const found = [
    ...(measured.has('group_names') ? ['renamed groups'] : []),
    ...(measured.has('group_owners') ? ['new owners'] : []),
    ...(measured.has('usernames') ? ['new usernames'] : []),
    ...arrivalsIn(measured).map((plural) => `new ${plural}`),
  ];
  return found.length > 0 ? found.join(', ') : 'every snapshot in which records changed';
}

/** Of what feeds announce changes: `names`, `owners`. */
export const changesIn = (measured: Measured): readonly string[] => [
  ...(measured.hasAny(['group_names', 'usernames']) ? ['names'] : []),
  ...(measured.has('group_owners') ? ['owners'] : []),
];

/** Of which kinds feeds announce new records: `groups`, `items`. */
export const arrivalsIn = (measured: Measured): readonly string[] =>
  RESOURCES.map(({ plural }) => plural).filter((plural) => measured.has(`${plural}.first_measured_at`));
