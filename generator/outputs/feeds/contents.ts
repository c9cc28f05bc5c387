/** The contents of each feed, and so which feeds are unchanged. */
import { FEEDS, type FeedDeclaration } from '../../routes/feeds.js';
import type { Register } from '../../register/database.js';
import type { Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { item } from '../../schema/item.js';
import { user } from '../../schema/user.js';
import { isAnyChanged, type SourceChanges } from '../section.js';
import { DOCUMENT_ENTRIES } from './archive.js';
import { GROUP_CHANGES, USER_CHANGES, changes, type ChangeSource, type ValueChange } from './changes.js';
import { firstsOfMonths, newestFirsts, type First } from './firsts.js';

/** What an entry announces: a change of a value, or a record that was measured for the first time. */
export type News = ValueChange | First;

/** A feed of what tables of the register say. */
export interface NewsFeed {
  readonly feed: FeedDeclaration;
  readonly tables: readonly string[];
  /**
   * All that its archives are of, oldest reading first.
   * @param newest if set, only that many of the newest, in reverse order
   */
  readonly read: (register: Register, newest?: number) => Iterable<News>;
  /** How many archive documents it keeps, if not all. */
  readonly archives?: number;
}

/**
 * Every record is new once, so the whole archive would be as large as the register. These 2,000
 * entries are for readers that did not ask for a while; change lists have the rest.
 */
export const FIRSTS_ARCHIVES = 10;
/** Archives of as many entries are found in these: at most a document's are not archived yet. */
const FIRSTS_ENTRIES = (FIRSTS_ARCHIVES + 1) * DOCUMENT_ENTRIES;

const ofChanges = (feed: FeedDeclaration, sources: readonly ChangeSource[]): NewsFeed => ({
  feed,
  tables: sources.map(({ history }) => history.table),
  read: (register, newest) => changes(register, sources, newest),
});

const ofFirsts = (feed: FeedDeclaration, resource: Resource): NewsFeed => ({
  feed,
  tables: [resource.plural],
  read: (register, newest) =>
    newest === undefined
      ? firstsOfMonths(register, resource, FIRSTS_ENTRIES)
      : newestFirsts(register, resource, newest),
  archives: FIRSTS_ARCHIVES,
});

export const NEWS_FEEDS: readonly NewsFeed[] = [
  ofChanges(FEEDS.groups, GROUP_CHANGES),
  ofChanges(FEEDS.users, USER_CHANGES),
  ofFirsts(FEEDS.newGroups, group),
  ofFirsts(FEEDS.newUsers, user),
  ofFirsts(FEEDS.games, game),
  ofFirsts(FEEDS.items, item),
];

/** All rendered feeds; the one that combines the others comes last. */
export const RENDERED_FEEDS: readonly FeedDeclaration[] = [...NEWS_FEEDS.map(({ feed }) => feed), FEEDS.all];

/** The current month, whose archive is not complete. @param asOf the register's newest measurement */
export const openMonth = (asOf: string | null): string | undefined => asOf?.slice(0, 'YYYY-MM'.length);

/** The names of feeds whose documents are all unchanged, if the build key is the same. */
export function unchangedFeeds(changes: SourceChanges): readonly string[] {
  const [month, was] = changes.asOf.map(openMonth);
  if (changes.tables === undefined) return [];
  const unchanged = NEWS_FEEDS.filter(({ tables }) => !isAnyChanged(tables, changes));
  // The combined feed changes with any of the others, and has no archive.
  return [
    ...(month === was ? unchanged.map(({ feed }) => feed.name) : []),
    ...(unchanged.length === NEWS_FEEDS.length ? [FEEDS.all.name] : []),
  ];
}
