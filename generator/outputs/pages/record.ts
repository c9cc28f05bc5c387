/** The pages of records: one a kind, which its script fills with the record of the address. */
import type { SiteConfig } from '../../config/config.js';
import { FEEDS, feedRoute } from '../../routes/feeds.js';
import type { Overview } from '../../register/overview.js';
import { isMeasured, measuredDocuments, routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { PATHS } from '../../routes/paths.js';
import { recordPage } from '../../routes/pages.js';
import { shapeOf, type Kind, type Resource } from '../../schema/field.js';
import { measuredFields } from '../../schema/measured.js';
import type { Shape } from '../../schema/shape.js';
import { allWords, wordsIn, type InWords } from '../../schema/words.js';
import type { LookupField, PageField, RecordPage } from './page-data.js';
import { dataBlock } from './render.js';

const FEED_OF = { group: 'groups', user: 'users', game: 'games', item: 'items' } as const satisfies Readonly<
  Record<Kind, keyof typeof FEEDS>
>;

/** A list of the first of a kind, the member that has them, the column that it is by, and that in words. */
type Standing = readonly [route: string, list: string, column: string, by: string];

/** The lists of kinds without a history: the first that is measured is shown. */
const STANDINGS: Readonly<Partial<Record<Kind, readonly Standing[]>>> = {
  game: [
    ['largest-games', 'playing', 'playing', 'players'],
    ['largest-games', 'visits', 'visits', 'visits'],
    ['newest', 'games', 'created_at', 'date of creation, newest first'],
  ],
  item: [
    ['largest-items', 'favourites', 'favourites', 'favourites'],
    ['newest', 'items', 'created_at', 'date of creation, newest first'],
  ],
};

/** What the template shows, and what the script needs to know of a kind. */
export function recordPageContent(
  resource: Resource,
  { operator }: Pick<SiteConfig, 'operator'>,
  table: readonly Route[],
  { measured }: Overview,
  lookup: LookupField,
) {
  const { kind, record, histories } = resource;
  const pathOf = (route: string): string => routeNamed(table, route).path;
  const history = measuredDocuments(resource, measured).find((document) => document === resource.history);
  const feed = routeNamed(table, feedRoute(FEEDS[FEED_OF[kind]], 'atom'));
  const paths = {
    page: pathOf(recordPage(kind)),
    record: pathOf(record.route),
    ...(history === undefined ? {} : { history: pathOf(history.route) }),
    ...(isMeasured(feed, measured) && { feed: feed.path }),
    snapshot: pathOf('snapshot'),
    docs: PATHS.docs,
    embed: PATHS.embed,
  };
  const standing = (STANDINGS[kind] ?? [])
    .filter(([, , column]) => measured.has(`${resource.plural}.${column}`))
    .map(([route, list, column, by]) => ({ path: pathOf(route), list, column, by }))[0];
  const inWords = wordsIn(operator);
  const { name, baseUrl, licence, words } = operator;
  const called = allWords(words);
  const fields = measuredFields(resource, measured).map((field) =>
    factOf(shapeOf(field, histories), inWords),
  );
  return {
    ...called[kind],
    kind,
    lookup,
    paths,
    data: dataBlock({
      kind,
      name,
      base: baseUrl,
      licence,
      words: called,
      kinds: lookup.kinds.map((each) => each.kind),
      paths,
      fields,
      standing,
    } satisfies RecordPage),
  };
}

/** What the script says of a field. */
function factOf(shape: Shape, inWords: InWords): PageField {
  const { name } = shape;
  const description = inWords(shape.description);
  if (shape.is !== 'value') return { name, type: shape.is, description };
  const { type, unit, nullMeans, meanings } = shape;
  return {
    name,
    type,
    description,
    unit: unit && inWords(unit),
    nullMeans: nullMeans && inWords(nullMeans),
    meanings:
      meanings &&
      Object.fromEntries(Object.entries(meanings).map(([word, meaning]) => [word, inWords(meaning)])),
  };
}
