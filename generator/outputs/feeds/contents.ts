/** The contents of each feed, and so which feeds are unchanged. */
import { FEEDS } from '../../routes/feeds.js';
import type { FeedDeclaration } from '../../routes/feeds.js';
import type { Resource } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { item } from '../../schema/item.js';
import { isAnyChanged } from '../section.js';
import type { SourceChanges } from '../section.js';
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

/** Each feed rendered from the register, with the tables it reads. */
const TABLES: readonly (readonly [FeedDeclaration, readonly string[]])[] = [
  ...CHANGE_FEEDS.map(([feed, sources]) => [feed, sources.map(({ history }) => history.table)] as const),
  ...FIRST_FEEDS.map(([feed, { plural }]) => [feed, [plural]] as const),
];

/** All rendered feeds; the one that combines the others comes last. */
export const RENDERED_FEEDS: readonly FeedDeclaration[] = [...TABLES.map(([feed]) => feed), FEEDS.all];

/** The current month, whose archive is not complete. @param asOf the register's newest measurement */
export const openMonth = (asOf: string | null): string | undefined => asOf?.slice(0, 'YYYY-MM'.length);

/** The names of feeds whose documents are all unchanged, if the build key is the same. */
export function unchangedFeeds(changes: SourceChanges): readonly string[] {
  if (changes.tables === undefined) return [];
  const [month, was] = changes.asOf.map(openMonth);
  const unchanged = TABLES.filter(
    ([{ archived }, tables]) => !isAnyChanged(tables, changes) && (!archived || month === was),
  ).map(([{ name }]) => name);
  // The combined feed changes with any of the others.
  return unchanged.length === TABLES.length ? [...unchanged, FEEDS.all.name] : unchanged;
}
