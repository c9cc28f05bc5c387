/** The feeds of changes and their archives. */
import { hash } from 'node:crypto';
import { FEEDS, archiveRoute, atomRoute, jsonRoute, routeNames } from '../../routes/feeds.js';
import type { FeedDeclaration } from '../../routes/feeds.js';
import type { Register } from '../../register/database.js';
import { ROUTES, isMeasured } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';
import { descriptionFor } from '../../schema/measured.js';
import type { Measured } from '../../schema/measured.js';
import { wordsIn } from '../../schema/words.js';
import type { IsSame, Kept, Output } from '../output.js';
import type { Section, SectionInputs } from '../section.js';
import { DOCUMENT_ENTRIES, archive } from './archive.js';
import type { LinkedPart } from './archive.js';
import { changes } from './changes.js';
import type { ValueChange } from './changes.js';
import { CHANGE_FEEDS, FIRST_FEEDS, RENDERED_FEEDS, openMonth, unchangedFeeds } from './contents.js';
import { NEVER, tag } from './document.js';
import type { FeedDocument, FeedOperator } from './document.js';
import { EntryMaker, absolute } from './entries.js';
import type { Dated } from './entries.js';
import { firsts } from './firsts.js';
import type { First } from './firsts.js';
import { atom, jsonFeed } from './render.js';

/** The feeds together: one of them combines the newest entries of the others. */
export const FEEDS_SECTION: Section = {
  name: 'feeds',
  routes: RENDERED_FEEDS.flatMap(routeNames),
  compared: [...CHANGE_FEEDS.map(([feed]) => archiveRoute(feed)), atomRoute(FEEDS.all)],
  due: (changes) => {
    const unchanged = unchangedFeeds(changes);
    return RENDERED_FEEDS.filter(({ name }) => !unchanged.includes(name)).flatMap(routeNames);
  },
  render: feeds,
};

function* feeds(
  register: Register,
  { operator, changes: sources }: SectionInputs,
  isSame: IsSame,
): Generator<Output | Kept> {
  const table = ROUTES;
  const [asOf] = sources.asOf;
  const unchanged = unchangedFeeds(sources);
  const { measured } = register;
  const stays = ({ name }: FeedDeclaration): boolean => unchanged.includes(name);
  const isThere = (feed: FeedDeclaration): boolean => isMeasured(feed, measured);
  const maker = new EntryMaker(operator, table);
  const changed: (() => readonly Dated[])[] = [];
  for (const [feed, histories] of CHANGE_FEEDS) {
    if (!isThere(feed)) continue;
    if (stays(feed)) {
      const newest = (): Iterable<ValueChange> => changes(register, histories, DOCUMENT_ENTRIES);
      changed.push(() => Array.from(newest(), (change) => maker.change(change)));
    } else {
      const made = new Archive(inWordsOf(feed, operator, measured), maker, operator, table);
      const newest = yield* made.documents(changes(register, histories), openMonth(asOf), isSame);
      changed.push(() => newest);
    }
  }
  const found: First[] = [];
  for (const [feed, resource] of FIRST_FEEDS) {
    const newest = [...firsts(register, resource, DOCUMENT_ENTRIES)];
    found.push(...newest);
    const entries = newest.map((first) => maker.first(first));
    if (isThere(feed) && !stays(feed))
      yield* current(inWordsOf(feed, operator, measured), entries, operator, table);
  }
  if (stays(FEEDS.all) || !isThere(FEEDS.all)) return;
  const areSameFirsts = isSame(atomRoute(FEEDS.all), 0, hashOf(found.map(factsOfFirst)));
  if (areSameFirsts && CHANGE_FEEDS.every(([feed]) => stays(feed))) {
    for (const route of routeNames(FEEDS.all)) yield { route, key: 0 };
    return;
  }
  const newest = [...changed.flatMap((entries) => entries()), ...found.map((first) => maker.first(first))];
  const all = inWordsOf(FEEDS.all, operator, measured);
  yield* current(all, newest.toSorted(lateReadingFirst).slice(0, DOCUMENT_ENTRIES), operator, table);
}

/** What a feed says of itself: in the operator's words, without what is not measured. */
function inWordsOf(feed: FeedDeclaration, { words }: FeedOperator, measured: Measured): FeedDeclaration {
  const inWords = wordsIn(words);
  return { ...feed, title: inWords(feed.title), description: inWords(descriptionFor(feed, measured)) };
}

/** Newest reading first. Sorting is stable, so ties keep their order. */
const lateReadingFirst = (a: Dated, b: Dated): number => descending(a.measuredAt, b.measuredAt);
/** Newest change first, as in documents; a reading may discover an old change. */
const lateChangeFirst = (a: Dated, b: Dated): number => descending(a.entry.updated, b.entry.updated);

const descending = (a: string, b: string): number => (a === b ? 0 : a < b ? 1 : -1);

/** A feed that keeps all its entries. */
class Archive {
  readonly #feed: FeedDeclaration;
  readonly #maker: EntryMaker;
  readonly #operator: FeedOperator;
  readonly #table: readonly Route[];

  constructor(feed: FeedDeclaration, maker: EntryMaker, operator: FeedOperator, table: readonly Route[]) {
    this.#feed = feed;
    this.#maker = maker;
    this.#operator = operator;
    this.#table = table;
  }

  /**
   * All documents of the feed.
   * @param month the month of the register's newest measurement
   * @returns the newest entries, newest first
   */
  *documents(
    all: Iterable<ValueChange>,
    month: string | undefined,
    isSame: IsSame,
  ): Generator<Output | Kept, readonly Dated[]> {
    const route = archiveRoute(this.#feed);
    const url = absolute(this.#operator, this.#table, route);
    const link = (rel: string, key: number | undefined) => (key === undefined ? {} : { [rel]: url(key) });
    const subscription = absolute(this.#operator, this.#table, atomRoute(this.#feed))(0);
    const parts = archive(all, month);
    try {
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
        const document = documentOf(this.#feed, this.#dated(step.value.entries).toReversed(), this.#operator);
        const body = atom({ ...document, self: url(key), links, isArchive: true }, this.#operator);
        yield { route, key, body };
      }
      const newest = this.#dated(step.value.newest);
      yield* current(this.#feed, newest, this.#operator, this.#table, link('prev-archive', step.value.last));
      return newest;
    } finally {
      // A connection can't be closed while a query is open.
      parts.return({ newest: [], last: undefined });
    }
  }

  #dated(entries: readonly ValueChange[]): readonly Dated[] {
    return entries.map((change) => this.#maker.change(change));
  }
}

/** The inputs of an archive document, besides those common to all. */
function inputsOf({ previous, next, entries }: LinkedPart<ValueChange>): Buffer {
  const facts = entries.map(
    ({ source, id, position, from, to, changedAt, measuredAt, changedAfter, name }) => [
      [source.field, id, position, changedAt, measuredAt, changedAfter, name],
      [from, to],
    ],
  );
  return hashOf([previous, next, facts]);
}

const factsOfFirst = ({ resource, id, name, measuredAt }: First): readonly unknown[] => [
  resource.kind,
  id,
  name,
  measuredAt,
];

const hashOf = (facts: readonly unknown[]): Buffer => hash('sha256', JSON.stringify(facts), 'buffer');

/** The document that readers subscribe to, in both formats. */
function* current(
  feed: FeedDeclaration,
  entries: readonly Dated[],
  operator: FeedOperator,
  table: readonly Route[],
  links: FeedDocument['links'] = {},
): Generator<Output> {
  const document = { ...documentOf(feed, entries, operator), links, isArchive: false };
  const self = (route: string): string => absolute(operator, table, route)(0);
  const [inAtom, inJson] = [atomRoute(feed), jsonRoute(feed)];
  yield { route: inAtom, key: 0, body: atom({ ...document, self: self(inAtom) }, operator) };
  yield { route: inJson, key: 0, body: jsonFeed({ ...document, self: self(inJson) }, operator) };
}

function documentOf(
  { name, title, description }: FeedDeclaration,
  entries: readonly Dated[],
  operator: FeedOperator,
): Omit<FeedDocument, 'self' | 'links' | 'isArchive'> {
  return {
    id: tag(operator, `feeds/${name}`),
    title: `${operator.name}: ${title}`,
    description,
    updated: entries[0]?.measuredAt ?? NEVER,
    entries: entries.toSorted(lateChangeFirst).map(({ entry }) => entry),
  };
}
