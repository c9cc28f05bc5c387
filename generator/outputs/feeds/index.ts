/** The feeds of changes, and the archives of those that have one. */
import type { BuildConfig } from '../../config.js';
import { FEEDS, archiveRoute, atomRoute, jsonRoute } from '../../feed-routes.js';
import type { FeedDeclaration } from '../../feed-routes.js';
import type { Register } from '../../register/open.js';
import type { Overview } from '../../register/published.js';
import { game } from '../../resources/game.js';
import { item } from '../../resources/item.js';
import type { Route } from '../../routes.js';
import type { Output } from '../output.js';
import { DOCUMENT_ENTRIES, archive } from './archive.js';
import { GROUP_CHANGES, USER_CHANGES, changes } from './changes.js';
import type { ChangeSource } from './changes.js';
import { NEVER, tag } from './document.js';
import type { FeedDocument, Imprint } from './document.js';
import { EntryMaker, absolute } from './entries.js';
import type { Dated } from './entries.js';
import { firsts } from './firsts.js';
import { atom, jsonFeed } from './render.js';

export function* feeds(
  register: Register,
  { operator }: BuildConfig,
  { asOf }: Overview,
  table: readonly Route[],
): Generator<Output> {
  const maker = new EntryMaker(operator, table);
  const archived = function* (
    feed: FeedDeclaration,
    sources: readonly ChangeSource[],
  ): Generator<Output, readonly Dated[]> {
    const entries = function* (): Generator<Dated> {
      for (const change of changes(register, sources)) yield maker.change(change);
    };
    return yield* withArchive(feed, entries(), asOf?.slice(0, 'YYYY-MM'.length), operator, table);
  };
  const newest = {
    groups: yield* archived(FEEDS.groups, GROUP_CHANGES),
    users: yield* archived(FEEDS.users, USER_CHANGES),
    games: [...firsts(register, game, DOCUMENT_ENTRIES)].map((first) => maker.first(first)),
    items: [...firsts(register, item, DOCUMENT_ENTRIES)].map((first) => maker.first(first)),
  };
  yield* current(FEEDS.games, newest.games, operator, table);
  yield* current(FEEDS.items, newest.items, operator, table);
  const all = Object.values(newest).flat().toSorted(lateReadingFirst).slice(0, DOCUMENT_ENTRIES);
  yield* current(FEEDS.all, all, operator, table);
}

/** The order of the readings, newest first; sorting leaves the rest as it was. */
const lateReadingFirst = (a: Dated, b: Dated): number => descending(a.measuredAt, b.measuredAt);
/** The order of the changes, as documents list them: what a reading learned may have happened long before. */
const lateChangeFirst = (a: Dated, b: Dated): number => descending(a.entry.updated, b.entry.updated);

const descending = (a: string, b: string): number => (a === b ? 0 : a < b ? 1 : -1);

/** @returns the newest entries, newest first */
function* withArchive(
  feed: FeedDeclaration,
  entries: Iterable<Dated>,
  openMonth: string | undefined,
  imprint: Imprint,
  table: readonly Route[],
): Generator<Output, readonly Dated[]> {
  const route = archiveRoute(feed);
  const url = absolute(imprint, table, route);
  const link = (rel: string, key: number | undefined) => (key === undefined ? {} : { [rel]: url(key) });
  const subscription = absolute(imprint, table, atomRoute(feed))(0);
  const parts = archive(entries, openMonth);
  let step = parts.next();
  for (; step.done !== true; step = parts.next()) {
    const { key, previous, next, entries: oldestFirst } = step.value;
    const links = { current: subscription, ...link('prev-archive', previous), ...link('next-archive', next) };
    const document = documentOf(feed, oldestFirst.toReversed(), imprint);
    yield { route, key, body: atom({ ...document, self: url(key), links, isArchive: true }, imprint) };
  }
  const { newest, last } = step.value;
  yield* current(feed, newest, imprint, table, link('prev-archive', last));
  return newest;
}

/** The document that is subscribed to, in both formats. */
function* current(
  feed: FeedDeclaration,
  entries: readonly Dated[],
  imprint: Imprint,
  table: readonly Route[],
  links: FeedDocument['links'] = {},
): Generator<Output> {
  const document = { ...documentOf(feed, entries, imprint), links, isArchive: false };
  const self = (route: string): string => absolute(imprint, table, route)(0);
  const [inAtom, inJson] = [atomRoute(feed), jsonRoute(feed)];
  yield { route: inAtom, key: 0, body: atom({ ...document, self: self(inAtom) }, imprint) };
  yield { route: inJson, key: 0, body: jsonFeed({ ...document, self: self(inJson) }, imprint) };
}

function documentOf(
  { name, title, description }: FeedDeclaration,
  entries: readonly Dated[],
  imprint: Imprint,
): Omit<FeedDocument, 'self' | 'links' | 'isArchive'> {
  return {
    id: tag(imprint, `feeds/${name}`),
    title: `${imprint.name}: ${title}`,
    description,
    updated: entries[0]?.measuredAt ?? NEVER,
    entries: entries.toSorted(lateChangeFirst).map(({ entry }) => entry),
  };
}
