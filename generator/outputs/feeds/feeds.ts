/** The feeds of changes and of new records. */
import { FEEDS, FEED_FORMATS, feedRoute, routeNames, type FeedDeclaration } from '../../routes/feeds.js';
import { PATHS } from '../../routes/paths.js';
import type { Register } from '../../register/database.js';
import { ROUTES, isMeasured } from '../../routes/routes.js';
import { descriptionFor } from '../../schema/measured.js';
import { wordsIn } from '../../schema/words.js';
import type { Output } from '../output.js';
import { integer } from '../pages/words.js';
import type { Section, SectionInputs } from '../section.js';
import { NEWS_FEEDS, WINDOW, combined, inWindow, windowStart, type News } from './contents.js';
import { NEVER, tag } from './document.js';
import { EntryMaker, absolute } from './entries.js';
import { RENDERED } from './render.js';

const ROUTE_NAMES = [...NEWS_FEEDS.map(({ feed }) => feed), FEEDS.all].flatMap(routeNames);

/** The feeds together: one of them combines the newest entries of the others. */
export const FEEDS_SECTION: Section = {
  name: 'feeds',
  routes: ROUTE_NAMES,
  render: feeds,
};

function* feeds(register: Register, { operator, asOf }: SectionInputs): Generator<Output> {
  const { measured } = register;
  const since = windowStart(asOf);
  const maker = new EntryMaker(operator, measured, ROUTES);
  const inWords = wordsIn(operator);
  const { baseUrl, name } = operator;
  function* rendered(feed: FeedDeclaration, news: readonly News[]): Generator<Output> {
    const document = {
      id: tag(operator, `feeds/${feed.name}`),
      title: `${name}: ${inWords(feed.title)}`,
      description:
        `${inWords(descriptionFor(feed, measured))}: the newest ${WINDOW.entries}, or all of the last` +
        ` ${WINDOW.hours} hours up to ${integer(WINDOW.most)}. The rest is in ${baseUrl}${PATHS.bulk};` +
        ` to miss nothing, follow ${baseUrl}${PATHS.changes}`,
      updated: news[0]?.measuredAt ?? NEVER,
      entries: news.map((each) => maker.entry(each)),
    };
    for (const format of FEED_FORMATS) {
      const route = feedRoute(feed, format);
      const self = absolute(operator, ROUTES, route)(0);
      yield { route, key: 0, body: RENDERED[format]({ ...document, self }, operator) };
    }
  }
  const all: News[] = [];
  for (const { feed, read } of NEWS_FEEDS) {
    if (!isMeasured(feed, measured)) continue;
    const news = inWindow([...read(register, WINDOW.most)], since);
    all.push(...news);
    yield* rendered(feed, news);
  }
  if (isMeasured(FEEDS.all, measured)) yield* rendered(FEEDS.all, combined(all, since));
}
