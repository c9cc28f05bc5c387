/** The feeds of changes and of new records, and their archives. */
import { hash } from 'node:crypto';
import {
  FEEDS,
  FEED_FORMATS,
  archiveRoute,
  feedRoute,
  routeNames,
  type FeedDeclaration,
  type FeedFormat,
} from '../../routes/feeds.js';
import type { Register } from '../../register/database.js';
import { ROUTES, isMeasured } from '../../routes/routes.js';
import { descriptionFor, type Measured } from '../../schema/measured.js';
import { wordsIn } from '../../schema/words.js';
import type { IsSame, Kept, Output } from '../output.js';
import type { Section, SectionInputs } from '../section.js';
import { DOCUMENT_ENTRIES, archive } from './archive.js';
import {
  NEWS_FEEDS,
  RENDERED_FEEDS,
  openMonth,
  unchangedFeeds,
  type News,
  type NewsFeed,
} from './contents.js';
import { NEVER, tag, type FeedDocument, type FeedEntry, type FeedOperator } from './document.js';
import { EntryMaker, absolute } from './entries.js';
import { RENDERED } from './render.js';

/** The feeds together: one of them combines the newest entries of the others. */
export const FEEDS_SECTION: Section = {
  name: 'feeds',
  routes: RENDERED_FEEDS.flatMap(routeNames),
  // What is noted of a document in Atom holds for its twin.
  compared: NEWS_FEEDS.flatMap(({ feed }) => [archiveRoute(feed, 'atom'), feedRoute(feed, 'atom')]),
  due: (changes) => {
    const unchanged = unchangedFeeds(changes);
    return RENDERED_FEEDS.filter(({ name }) => !unchanged.includes(name)).flatMap(routeNames);
  },
  render: feeds,
};

function* feeds(
  register: Register,
  { operator, changes }: SectionInputs,
  isSame: IsSame,
): Generator<Output | Kept> {
  const { measured } = register;
  const unchanged = unchangedFeeds(changes);
  const stays = ({ name }: FeedDeclaration): boolean => unchanged.includes(name);
  const renderer = new Renderer(operator, measured);
  const all: Newest[] = [];
  for (const each of NEWS_FEEDS) {
    if (!isMeasured(each.feed, measured)) continue;
    if (stays(each.feed)) all.push({ isSame: true, read: () => [...each.read(register, DOCUMENT_ENTRIES)] });
    else all.push(yield* renderer.documents(each, register, openMonth(changes.asOf[0]), isSame));
  }
  if (stays(FEEDS.all) || !isMeasured(FEEDS.all, measured)) return;
  if (all.every((newest) => newest.isSame)) yield* kept(FEEDS.all, feedRoute, 0);
  else yield* renderer.current(FEEDS.all, combined(all.flatMap(({ read }) => read())));
}

/** The newest entries of a feed, newest first. */
interface Newest {
  /** Whether they are those of the previous snapshot. */
  readonly isSame: boolean;
  readonly read: () => readonly News[];
}

/** So that the records of a register that grows don't drown the changes. */
const MOST_FIRSTS = DOCUMENT_ENTRIES / 2;

/** The newest of several feeds, newest first; those of one reading in the order of the feeds. */
function combined(news: readonly News[]): readonly News[] {
  // Sorting is stable.
  const sorted = news.toSorted(({ measuredAt: a }, { measuredAt: b }) => (a === b ? 0 : a < b ? 1 : -1));
  let firsts = 0;
  return sorted.filter((each) => 'source' in each || (firsts += 1) <= MOST_FIRSTS).slice(0, DOCUMENT_ENTRIES);
}

type RouteOf = (feed: FeedDeclaration, format: FeedFormat) => string;

/** The documents of both formats, kept. */
function* kept(feed: FeedDeclaration, routeOf: RouteOf, key: number): Generator<Kept> {
  for (const format of FEED_FORMATS) yield { route: routeOf(feed, format), key };
}

/** The keys of archive documents that a document leads to. */
interface Neighbours {
  readonly previous?: number | undefined;
  readonly next?: number | undefined;
}

class Renderer {
  readonly #operator: FeedOperator;
  readonly #measured: Measured;
  readonly #maker: EntryMaker;

  constructor(operator: FeedOperator, measured: Measured) {
    this.#operator = operator;
    this.#measured = measured;
    this.#maker = new EntryMaker(operator, measured, ROUTES);
  }

  /**
   * All documents of a feed.
   * @param month the month of the register's newest measurement
   */
  *documents(
    { feed, read, archives }: NewsFeed,
    register: Register,
    month: string | undefined,
    isSame: IsSame,
  ): Generator<Output | Kept, Newest> {
    const parts = archive(read(register), month, archives);
    try {
      let step = parts.next();
      for (; step.done !== true; step = parts.next()) {
        const { key, entries, previous, next } = step.value;
        if (isSame(archiveRoute(feed, 'atom'), key, inputsOf([previous, next], entries)))
          yield* kept(feed, archiveRoute, key);
        else yield* this.#both(feed, entries.toReversed(), { previous, next }, key);
      }
      const { newest, last } = step.value;
      const isNewestSame = isSame(feedRoute(feed, 'atom'), 0, inputsOf([last], newest));
      if (isNewestSame) yield* kept(feed, feedRoute, 0);
      else yield* this.current(feed, newest, last);
      return { isSame: isNewestSame, read: () => newest };
    } finally {
      // A connection can't be closed while a query is open.
      parts.return({ newest: [], last: undefined });
    }
  }

  /** The document that readers subscribe to. @param previous the key of the newest archive document */
  current(feed: FeedDeclaration, news: readonly News[], previous?: number): Generator<Output> {
    return this.#both(feed, news, { previous });
  }

  /** A document in both formats. @param news newest first @param key the key of an archive document */
  *#both(
    feed: FeedDeclaration,
    news: readonly News[],
    neighbours: Neighbours,
    key?: number,
  ): Generator<Output> {
    const routeOf = key === undefined ? feedRoute : archiveRoute;
    const document = {
      ...this.#described(feed),
      updated: news[0]?.measuredAt ?? NEVER,
      entries: news.map((each): FeedEntry => this.#maker.entry(each)),
    };
    for (const format of FEED_FORMATS) {
      const archived = (at: number | undefined) =>
        at === undefined ? undefined : this.#url(archiveRoute(feed, format), at);
      const body = RENDERED[format](
        {
          ...document,
          self: this.#url(routeOf(feed, format), key),
          ...(key !== undefined && { current: this.#url(feedRoute(feed, format)) }),
          previous: archived(neighbours.previous),
          next: archived(neighbours.next),
        },
        this.#operator,
      );
      yield { route: routeOf(feed, format), key: key ?? 0, body };
    }
  }

  /** What a feed says of itself: in the operator's words, without what is not measured. */
  #described(feed: FeedDeclaration): Pick<FeedDocument, 'id' | 'title' | 'description'> {
    const inWords = wordsIn(this.#operator);
    return {
      id: tag(this.#operator, `feeds/${feed.name}`),
      title: `${this.#operator.name}: ${inWords(feed.title)}`,
      description: inWords(descriptionFor(feed, this.#measured)),
    };
  }

  #url(route: string, key = 0): string {
    return absolute(this.#operator, ROUTES, route)(key);
  }
}

/** The SHA-256 of what a document is made from, besides what is common to all of a build. */
function inputsOf(links: readonly unknown[], news: readonly News[]): Buffer {
  const facts = news.map((each) =>
    'source' in each ? { ...each, source: each.source.field } : { ...each, resource: each.resource.kind },
  );
  return hash('sha256', JSON.stringify([links, facts]), 'buffer');
}
