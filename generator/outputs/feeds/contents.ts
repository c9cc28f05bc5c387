/** What each feed announces, newest first, and how far back it goes. */
import { FEEDS, type FeedDeclaration } from '../../routes/feeds.js';
import type { Register } from '../../register/database.js';
import type { Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { item } from '../../schema/item.js';
import { millisecondsOf, timeAt } from '../../schema/time.js';
import { user } from '../../schema/user.js';
import { GROUP_CHANGES, USER_CHANGES, changes, type ChangeSource, type ValueChange } from './changes.js';
import { newestFirsts, type First } from './firsts.js';

/** What an entry announces: a change of a value, or a record that was measured for the first time. */
export type News = ValueChange | First;

/** A feed of what tables of the register say. */
interface NewsFeed {
  readonly feed: FeedDeclaration;
  /** So many of the newest, newest first. */
  readonly read: (register: Register, count: number) => Iterable<News>;
}

const ofChanges = (feed: FeedDeclaration, sources: readonly ChangeSource[]): NewsFeed => ({
  feed,
  read: (register, count) => changes(register, sources, count),
});

const ofFirsts = (feed: FeedDeclaration, resource: Resource): NewsFeed => ({
  feed,
  read: (register, count) => newestFirsts(register, resource, count),
});

export const NEWS_FEEDS: readonly NewsFeed[] = [
  ofChanges(FEEDS.groups, GROUP_CHANGES),
  ofChanges(FEEDS.users, USER_CHANGES),
  ofFirsts(FEEDS.newGroups, group),
  ofFirsts(FEEDS.newUsers, user),
  ofFirsts(FEEDS.games, game),
  ofFirsts(FEEDS.items, item),
];

/** A feed has so many entries, or all of the last hours, up to the most. */
export const WINDOW = { entries: 200, hours: 48, most: 2000 } as const;

/** The first time of the hours that a feed has all entries of. @param asOf the register's newest measurement */
export const windowStart = (asOf: string | null): string =>
  asOf === null ? '' : timeAt(millisecondsOf(asOf) - WINDOW.hours * 3_600_000);

/** The entries that a feed has. @param news newest first @param since see `windowStart` */
export const inWindow = (news: readonly News[], since: string): readonly News[] =>
  news.slice(0, WINDOW.most).filter(({ measuredAt }, index) => index < WINDOW.entries || measuredAt >= since);

/**
 * The entries of all feeds as one, newest first; those of one reading in the order of the feeds. At most half of the
 * room is for first measurements, so that the records of a register that grows don't drown the changes.
 */
export function combined(news: readonly News[], since: string): readonly News[] {
  // Sorting is stable.
  const sorted = news.toSorted(({ measuredAt: a }, { measuredAt: b }) => (a === b ? 0 : a < b ? 1 : -1));
  const isChange = (each: News): boolean => 'source' in each;
  const recent = sorted.filter((each) => isChange(each) && each.measuredAt >= since).length;
  const mostFirsts = Math.min(WINDOW.most, Math.max(WINDOW.entries, 2 * recent)) / 2;
  let firsts = 0;
  return inWindow(
    sorted.filter((each) => isChange(each) || (firsts += 1) <= mostFirsts),
    since,
  );
}
