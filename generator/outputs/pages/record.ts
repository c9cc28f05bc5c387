/** The pages of records: one a kind, which its script fills with the record of the address. */
import type { BuildConfig } from '../../config.js';
import { LOG_GUIDE } from '../../routes/documentation.js';
import { FEEDS, atomRoute } from '../../routes/feeds.js';
import type { Overview } from '../../register/overview.js';
import { routeNamed } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';
import { PATHS } from '../../routes/paths.js';
import { recordPage } from '../../routes/record-pages.js';
import type { Kind, Resource } from '../../schema/field.js';
import { shapeOf } from '../../schema/shape.js';
import type { Shape } from '../../schema/shape.js';
import { dataBlock } from './render.js';

const FEED_OF = { group: 'groups', user: 'users', game: 'games', item: 'items' } as const satisfies Readonly<
  Record<Kind, keyof typeof FEEDS>
>;

/** What the template shows, and what the script needs to know of a kind. */
export function recordPageContent(
  { kind, plural, record, history, histories }: Resource,
  { operator: { name, baseUrl, licence }, isSigned }: Pick<BuildConfig, 'operator' | 'isSigned'>,
  table: readonly Route[],
  { populations }: Overview,
) {
  const pathOf = (route: string): string => routeNamed(table, route).path;
  const paths = {
    page: pathOf(recordPage(kind)),
    record: pathOf(record.route),
    ...(history === undefined ? {} : { history: pathOf(history.route) }),
    feed: pathOf(atomRoute(FEEDS[FEED_OF[kind]])),
    snapshot: pathOf('snapshot'),
    docs: PATHS.docs,
  };
  const log = isSigned ? { guide: LOG_GUIDE.path, record: record.route, history: history?.route } : undefined;
  const kinds = populations.flatMap(({ resource, records }) => (records > 0 ? [resource.kind] : []));
  const fields = record.fields.map((field) => factOf(shapeOf(field, histories)));
  return {
    kind,
    plural,
    paths,
    data: dataBlock({ kind, name, base: baseUrl, licence, log, kinds, paths, fields }),
  };
}

/** What the script says of a field. */
function factOf(shape: Shape) {
  const { name, description } = shape;
  if (shape.is !== 'value') return { name, type: shape.is, description };
  const { type, unit, nullMeans, meanings } = shape;
  return { name, type, description, unit, nullMeans, meanings };
}
