/** The feeds page: what each feed announces, and how to subscribe. */
import { PATHS } from '../../routes/paths.js';
import { feedsOf } from '../../routes/feeds.js';
import { enumerated, type Measured } from '../../schema/measured.js';
import { DOCUMENT_ENTRIES } from '../feeds/archive.js';
import { FIRSTS_ARCHIVES, NEWS_FEEDS } from '../feeds/contents.js';
import { integer } from './words.js';
import { RESOURCES } from '../../schema/schema.js';

/** A feed in both of its formats, by URL path. */
export interface PublishedFeed {
  readonly title: string;
  readonly description: string;
  readonly atom: string;
  readonly json: string;
}

/** The names of feeds that keep some of their archives alone. */
const BOUNDED: ReadonlySet<string> = new Set(
  NEWS_FEEDS.filter(({ archives }) => archives !== undefined).map(({ feed }) => feed.name),
);

/** The data for the template of the feeds page. */
export function feedsPage(feeds: readonly PublishedFeed[], baseUrl: string, measured: Measured) {
  const changes = changesIn(measured);
  const archived = feedsOf(measured).filter((feed) => feed.archived);
  return {
    feeds: feeds.map((feed) => ({ ...feed, atomUrl: baseUrl + feed.atom, jsonUrl: baseUrl + feed.json })),
    hasChanges: changes.length > 0,
    hasNews: changes.length + arrivalsIn(measured).length > 0,
    /** Whether the feed of all changes can lack entries that others have. */
    isCombined: archived.length > 1,
    archived: enumerated(archived.map(({ title }) => title)),
    bounded: enumerated(archived.filter((feed) => BOUNDED.has(feed.name)).map(({ title }) => title)),
    /** How many entries the archives of new records have at most. */
    most: integer(FIRSTS_ARCHIVES * DOCUMENT_ENTRIES),
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
