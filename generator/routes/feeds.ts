/** The routes of the feeds: names, contents and URLs. */
import type { Measured } from '../schema/measured.js';
import type { InWords } from '../schema/words.js';
import type { UnlistedRoute } from './route.js';

/** The formats of each document, by the ending of its file. */
const FORMATS = {
  atom: { type: 'application/atom+xml; charset=utf-8', suffix: '' },
  json: { type: 'application/feed+json; charset=utf-8', suffix: '-json' },
} as const;

export type FeedFormat = keyof typeof FORMATS;
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
  /** Whether it has archive documents (RFC 5005, section 4), so no entry is lost between two builds. */
  readonly archived: boolean;
}

/** What is news in a register, by its table, or by the column that says when a record was new. */
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

/** What the list of the newest has. */
export const RECENT = { ...CHANGES, ...NEW_CREATIONS } as const;

const ALL_NEWS = { ...CHANGES, ...NEW_ACCOUNTS, ...NEW_CREATIONS } as const;

export const FEEDS = {
  all: {
    name: 'all',
    title: 'all changes',
    description: 'New names and owners of groups, new usernames, and records measured for the first time',
    measures: Object.keys(ALL_NEWS),
    contents: ALL_NEWS,
    archived: false,
  },
  groups: {
    name: 'groups',
    title: 'groups',
    description: 'Groups with a new name or a new owner',
    measures: ['group_names', 'group_owners'],
    contents: { group_names: 'groups with a new name', group_owners: 'groups with a new owner' },
    archived: true,
  },
  users: {
    name: 'users',
    title: 'users',
    description: 'Users with a new username',
    measures: ['usernames'],
    archived: true,
  },
  newGroups: {
    name: 'new-groups',
    title: 'new groups',
    description: 'Groups measured for the first time',
    measures: ['groups.first_measured_at'],
    archived: true,
  },
  newUsers: {
    name: 'new-users',
    title: 'new users',
    description: 'Users measured for the first time',
    measures: ['users.first_measured_at'],
    archived: true,
  },
  games: {
    name: 'games',
    title: 'games',
    description: 'Games measured for the first time',
    measures: ['games.first_measured_at'],
    archived: true,
  },
  items: {
    name: 'items',
    title: 'items',
    description: 'Catalogue items measured for the first time',
    measures: ['items.first_measured_at'],
    archived: true,
  },
  snapshots: {
    name: 'snapshots',
    title: 'snapshots',
    description:
      'Every snapshot in which records changed, with the number of those added, changed and removed',
    archived: false,
  },
} as const satisfies Readonly<Record<string, FeedDeclaration>>;

/** The name of the route of a feed's current document. */
export const feedRoute = ({ name }: FeedDeclaration, format: FeedFormat): string =>
  `feed-${name}${FORMATS[format].suffix}`;
/** The name of the route of its archive documents. */
export const archiveRoute = ({ name }: FeedDeclaration, format: FeedFormat): string =>
  `feed-${name}-archive${FORMATS[format].suffix}`;

/** The file of a feed's current document, which is also its URL path. */
export const documentFile = ({ name }: FeedDeclaration, format: FeedFormat): string =>
  `feeds/${name}.${format}`;

const olderOf = (description: string): string => `${description}: older entries, by month of measurement`;

const common = ({ measures }: FeedDeclaration, file: string, format: FeedFormat) =>
  ({
    class: 'feed',
    path: `/${file}`,
    file,
    type: FORMATS[format].type,
    ...(measures && { measures }),
  }) as const;

const currentIn = (feed: FeedDeclaration, format: FeedFormat): UnlistedRoute => ({
  ...common(feed, documentFile(feed, format), format),
  name: feedRoute(feed, format),
  description: feed.description,
  ...(feed.contents && { contents: feed.contents }),
});

const archiveIn = (feed: FeedDeclaration, format: FeedFormat): UnlistedRoute => ({
  ...common(feed, `feeds/${feed.name}/{month}.${format}`, format),
  name: archiveRoute(feed, format),
  description: olderOf(feed.description),
  ...(feed.contents && {
    contents: Object.fromEntries(
      Object.entries(feed.contents).map(([what, words]) => [what, olderOf(words)]),
    ),
  }),
  parameters: [
    {
      name: 'month',
      in: 'path',
      type: 'month',
      description: 'a month, such as 2026-11, or a numbered part of one, such as 2026-11-00001',
    },
  ],
  absent: 'no entries for {month}',
});

const routesOf = (feed: FeedDeclaration): readonly UnlistedRoute[] =>
  [currentIn, ...(feed.archived ? [archiveIn] : [])].flatMap((routeIn) =>
    FEED_FORMATS.map((format) => routeIn(feed, format)),
  );

export const FEED_ROUTES: readonly UnlistedRoute[] = Object.values(FEEDS).flatMap(routesOf);

/** The names of all routes of a feed. */
export const routeNames = (feed: FeedDeclaration): readonly string[] =>
  routesOf(feed).map(({ name }) => name);

/** A `<link>` for autodiscovery of a feed, in the head of a page. */
export interface FeedLink {
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
