/** What of the register is in each feed, and so which feeds are what they were. */
import { FEEDS } from '../../feed-routes.js';
import type { FeedDeclaration } from '../../feed-routes.js';
import type { Resource } from '../../resources/field.js';
import { game } from '../../resources/game.js';
import { item } from '../../resources/item.js';
import { GROUP_CHANGES, USER_CHANGES } from './changes.js';
import type { ChangeSource } from './changes.js';

/** Feeds of changes, which keep all their entries. */
export const CHANGE_FEEDS: readonly (readonly [FeedDeclaration, readonly ChangeSource[]])[] = [
  [FEEDS.groups, GROUP_CHANGES],
  [FEEDS.users, USER_CHANGES],
];

/** Feeds of records that were measured for the first time. */
export const FIRST_FEEDS: readonly (readonly [FeedDeclaration, Resource])[] = [
  [FEEDS.games, game],
  [FEEDS.items, item],
];

/** Each feed that the register is rendered to, with the tables it is made of. */
const TABLES: readonly (readonly [FeedDeclaration, readonly string[]])[] = [
  ...CHANGE_FEEDS.map(([feed, sources]) => [feed, sources.map(({ history }) => history.table)] as const),
  ...FIRST_FEEDS.map(([feed, { plural }]) => [feed, [plural]] as const),
];

/** The month that is not over, so that its archive is not complete. @param asOf the register's newest reading */
export const openMonth = (asOf: string | null): string | undefined => asOf?.slice(0, 'YYYY-MM'.length);

/**
 * The feeds all of whose documents are those of the last snapshot, where all that is made of but the rows is the same.
 * @param changed the tables in which something changed
 * @param asOf the newest readings, of the register as it is and as the last snapshot had it
 */
export function stayingFeeds(
  changed: ReadonlySet<string>,
  asOf: readonly [now: string | null, then: string | null],
): readonly FeedDeclaration[] {
  const [month, was] = asOf.map(openMonth);
  const staying = TABLES.filter(([{ archived }, tables]) => {
    return tables.every((table) => !changed.has(table)) && (!archived || month === was);
  }).map(([feed]) => feed);
  // What has the newest of all changes with any of them.
  return staying.length === TABLES.length ? [...staying, FEEDS.all] : staying;
}
