/** The feeds of changes, and the archives of those that have one. */
import { hash } from 'node:crypto';
import { FEEDS, archiveRoute, atomRoute, jsonRoute } from '../../feed-routes.js';
import type { FeedDeclaration } from '../../feed-routes.js';
import type { Register } from '../../register/open.js';
import { game } from '../../resources/game.js';
import { item } from '../../resources/item.js';
import type { Route } from '../../routes.js';
import type { IsSame, Kept, Output } from '../output.js';
import { DOCUMENT_ENTRIES, archive } from './archive.js';
import type { LinkedPart } from './archive.js';
import { GROUP_CHANGES, USER_CHANGES, changes } from './changes.js';
import type { Change, ChangeSource } from './changes.js';
import { NEVER, tag } from './document.js';
import type { FeedDocument, Imprint } from './document.js';
import { EntryMaker, absolute } from './entries.js';
import type { Dated } from './entries.js';
import { firsts } from './firsts.js';
import { atom, jsonFeed } from './render.js';

/**
 * @param asOf the newest measurement of the register
 * @param isSame of archive documents, which are many; told of each, in order of the key
 */
export function* feeds(
  register: Register,
  operator: Imprint,
  asOf: string | null,
  table: readonly Route[],
  isSame: IsSame = () => false,
): Generator<Output | Kept> {
  const maker = new EntryMaker(operator, table);
  const archived = function* (
    feed: FeedDeclaration,
    sources: readonly ChangeSource[],
  ): Generator<Output | Kept, readonly Dated[]> {
    const made = new Archive(feed, maker, operator, table);
    return yield* made.documents(changes(register, sources), asOf?.slice(0, 'YYYY-MM'.length), isSame);
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

/** A feed that keeps all its entries. */
class Archive {
  readonly #feed: FeedDeclaration;
  readonly #maker: EntryMaker;
  readonly #imprint: Imprint;
  readonly #table: readonly Route[];

  constructor(feed: FeedDeclaration, maker: EntryMaker, imprint: Imprint, table: readonly Route[]) {
    this.#feed = feed;
    this.#maker = maker;
    this.#imprint = imprint;
    this.#table = table;
  }

  /**
   * All documents of the feed.
   * @param openMonth the month of the register's newest reading
   * @returns the newest entries, newest first
   */
  *documents(
    all: Iterable<Change>,
    openMonth: string | undefined,
    isSame: IsSame,
  ): Generator<Output | Kept, readonly Dated[]> {
    const route = archiveRoute(this.#feed);
    const url = absolute(this.#imprint, this.#table, route);
    const link = (rel: string, key: number | undefined) => (key === undefined ? {} : { [rel]: url(key) });
    const subscription = absolute(this.#imprint, this.#table, atomRoute(this.#feed))(0);
    const parts = archive(all, openMonth);
    let step = parts.next();
    for (; step.done !== true; step = parts.next()) {
      const { key, previous, next } = step.value;
      if (isSame(route, key, inputsOf(step.value))) {
        yield { route, key };
        continue;
      }
      const links = {
        current: subscription,
        ...link('prev-archive', previous),
        ...link('next-archive', next),
      };
      const document = documentOf(this.#feed, this.#dated(step.value.entries).toReversed(), this.#imprint);
      const body = atom({ ...document, self: url(key), links, isArchive: true }, this.#imprint);
      yield { route, key, body };
    }
    const newest = this.#dated(step.value.newest);
    yield* current(this.#feed, newest, this.#imprint, this.#table, link('prev-archive', step.value.last));
    return newest;
  }

  #dated(entries: readonly Change[]): readonly Dated[] {
    return entries.map((change) => this.#maker.change(change));
  }
}

/** All that goes into an archive document, beside what goes into every one. */
function inputsOf({ previous, next, entries }: LinkedPart<Change>): Buffer {
  const facts = entries.map(({ source, id, position, from, to, changedAt, measuredAt, changedAfter }) => [
    [source.field, id, position, changedAt, measuredAt, changedAfter],
    [from, to],
  ]);
  return hash('sha256', JSON.stringify([previous, next, facts]), 'buffer');
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
