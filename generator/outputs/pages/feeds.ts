/** The feeds page: what each feed announces, and how to subscribe. */
import { PATHS } from '../../routes/paths.js';
import { feedsOf } from '../../routes/feeds.js';
import { enumerated } from '../../schema/measured.js';
import type { Measured } from '../../schema/measured.js';
import { DOCUMENT_ENTRIES } from '../feeds/archive.js';
import { FIRSTS_ARCHIVES } from '../feeds/contents.js';
import { arrivalsIn, changesIn } from './news.js';
import { integer } from './words.js';

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
  const archived = feedsOf(measured).filter((feed) => feed.archived);
  return {
    feeds: feeds.map((feed) => ({ ...feed, atomUrl: baseUrl + feed.atom, jsonUrl: baseUrl + feed.json })),
    hasChanges: changes.length > 0,
    hasNews: changes.length + arrivalsIn(measured).length > 0,
    /** Whether many new records can hide others in the feed of all. */
    isCrowded: measured.has('items.first_measured_at') && archived.length > 1,
    archived: enumerated(archived.map(({ title }) => title)),
    bounded: enumerated(arrivalsIn(measured)),
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
