/** The feeds page: what each feed announces, and how to subscribe. */
import { PATHS } from '../../routes/paths.js';

/** A feed in both of its formats, by URL path. */
export interface PublishedFeed {
  readonly title: string;
  readonly description: string;
  readonly atom: string;
  readonly json: string;
}

/** The data for the template of the feeds page. */
export const feedsPage = (feeds: readonly PublishedFeed[], baseUrl: string) => ({
  feeds: feeds.map((feed) => ({ ...feed, atomUrl: baseUrl + feed.atom, jsonUrl: baseUrl + feed.json })),
  path: PATHS.feeds,
});
