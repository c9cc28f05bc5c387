/** What of the register is in each feed, and so which feeds are what they were. */
import { FEEDS } from '../../routes/feeds.js';
import type { FeedDeclaration } from '../../routes/feeds.js';
import type { Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { item } from '../../schema/item.js';
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

/** Every feed of the register, the one that others go into last. */
export const RENDERED_FEEDS: readonly FeedDeclaration[] = [...TABLES.map(([feed]) => feed), FEEDS.all];

/** The hash file of what the documents of a feed's route were made from. */
export const inputsFile = (route: string): string => `inputs-${route}`;

/** The month that is not over, so that its archive is not complete. @param asOf the register's newest reading */
export const openMonth = (asOf: string | null): string | undefined => asOf?.slice(0, 'YYYY-MM'.length);

/**
 * The names of feeds all of whose documents are those of the last snapshot, where all that is made of but the rows is the same.
 * @param changed the tables in which something changed; undefined where that is not known
 * @param asOf the newest readings, of the register as it is and as the last snapshot had it
 */
export function stayingFeeds(
  changed: ReadonlySet<string> | undefined,
  asOf: readonly [now: string | null, then: string | null],
): readonly string[] {
  if (changed === undefined) return [];
  const [month, was] = asOf.map(openMonth);
  const staying = TABLES.filter(([{ archived }, tables]) => {
    return tables.every((table) => !changed.has(table)) && (!archived || month === was);
  }).map(([{ name }]) => name);
  // What has the newest of all changes with any of them.
  return staying.length === TABLES.length ? [...staying, FEEDS.all.name] : staying;
}
