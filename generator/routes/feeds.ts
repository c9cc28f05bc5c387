/** The routes of the feeds: names, contents and URLs. */
import type { Measured } from '../schema/measured.js';
import type { InWords } from '../schema/words.js';
import type { UnlistedRoute } from './route.js';

/** The formats of a feed, by the ending of its file. */
const FORMATS = {
  atom: { type: 'application/atom+xml; charset=utf-8', suffix: '' },
  json: { type: 'application/feed+json; charset=utf-8', suffix: '-json' },
} as const;

type FeedFormat = keyof typeof FORMATS;
export const FEED_FORMATS = ['atom', 'json'] as const satisfies readonly FeedFormat[];

/** A feed, published as Atom and as JSON Feed 1.1. */
export interface FeedDeclaration {
  readonly name: string;
  /** For people, after the register's name. */
  readonly title: string;
  readonly description: string;
  /** As for a route. */
  readonly measures?: readonly string[];
  readonly contents?: Readonly<Record<string, string>>;
}

/** What is news, by the table of a history, or by the column that says when a record was new. */
const CHANGES = {
  group_names: 'new names of groups',
  group_owners: 'new owners of groups',
  usernames: 'new usernames',
} as const;

const NEW_ACCOUNTS = {
  'groups.first_measured_at': 'groups measured for the first time',
  'users.first_measured_at': 'users measured for the first time',
} as const;

const NEW_CREATIONS = {
  'games.first_measured_at': 'games measured for the first time',
  'items.first_measured_at': 'items measured for the first time',
} as const;

/** What /api/v1/recent lists. */
export const RECENT = { ...CHANGES, ...NEW_CREATIONS } as const;

const ALL_NEWS = { ...CHANGES, ...NEW_ACCOUNTS, ...NEW_CREATIONS } as const;

export const FEEDS = {
  all: {
    name: 'all',
    title: 'all changes',
    description: 'New names and owners of groups, new usernames, and records measured for the first time',
    measures: Object.keys(ALL_NEWS),
    contents: ALL_NEWS,
  },
  groups: {
    name: 'groups',
    title: 'groups',
    description: 'Groups with a new name or a new owner',
    measures: ['group_names', 'group_owners'],
    contents: { group_names: 'groups with a new name', group_owners: 'groups with a new owner' },
  },
  users: {
    name: 'users',
    title: 'users',
    description: 'Users with a new username',
    measures: ['usernames'],
  },
  newGroups: {
    name: 'new-groups',
    title: 'new groups',
    description: 'Groups measured for the first time',
    measures: ['groups.first_measured_at'],
  },
  newUsers: {
    name: 'new-users',
    title: 'new users',
    description: 'Users measured for the first time',
    measures: ['users.first_measured_at'],
  },
  games: {
    name: 'games',
    title: 'games',
    description: 'Games measured for the first time',
    measures: ['games.first_measured_at'],
  },
  items: {
    name: 'items',
    title: 'items',
    description: 'Catalogue items measured for the first time',
    measures: ['items.first_measured_at'],
  },
  snapshots: {
    name: 'snapshots',
    title: 'snapshots',
    description:
      'Every snapshot in which records changed, with the number of those added, changed and removed',
  },
} as const satisfies Readonly<Record<string, FeedDeclaration>>;

/** The name of the route of a feed. */
export const feedRoute = ({ name }: FeedDeclaration, format: FeedFormat): string =>
  `feed-${name}${FORMATS[format].suffix}`;
/** The file of a feed, which is also its URL path. */
export const documentFile = ({ name }: FeedDeclaration, format: FeedFormat): string =>
  `feeds/${name}.${format}`;

const routeIn = (feed: FeedDeclaration, format: FeedFormat): UnlistedRoute => ({
  class: 'feed',
  path: `/${documentFile(feed, format)}`,
  file: documentFile(feed, format),
  type: FORMATS[format].type,
  ...(feed.measures && { measures: feed.measures }),
  name: feedRoute(feed, format),
  description: feed.description,
  ...(feed.contents && { contents: feed.contents }),
});

export const FEED_ROUTES: readonly UnlistedRoute[] = Object.values<FeedDeclaration>(FEEDS).flatMap((feed) =>
  FEED_FORMATS.map((format) => routeIn(feed, format)),
);

/** The names of the routes of a feed. */
export const routeNames = (feed: FeedDeclaration): readonly string[] =>
  FEED_FORMATS.map((format) => feedRoute(feed, format));

/** A `<link>` for autodiscovery of a feed, in the head of a page. */
interface FeedLink {
  readonly rel: 'alternate';
  readonly type: string;
  readonly title: string;
  readonly href: string;
}

/** The feeds of what a register measures. */
export const feedsOf = (measured: Measured): readonly FeedDeclaration[] =>
  Object.values<FeedDeclaration>(FEEDS).filter(({ measures }) => measured.hasAny(measures));

/**
 * Every feed in both formats, for autodiscovery.
 * @param register the register's name
 */
export const feedLinks = (register: string, measured: Measured, inWords: InWords): readonly FeedLink[] =>
  feedsOf(measured).flatMap((feed) => {
    const link = (format: FeedFormat, title: string): FeedLink => ({
      rel: 'alternate',
      type: `application/${format === 'atom' ? 'atom+xml' : 'feed+json'}`,
      title,
      href: `/${documentFile(feed, format)}`,
    });
    const title = `${register}: ${inWords(feed.title)}`;
    return [link('atom', title), link('json', `${title} (JSON Feed)`)];
  });
