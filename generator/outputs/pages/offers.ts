/** The downloads and feeds, as pages show them. */
import { feedRoute, feedsOf } from '../../routes/feeds.js';
import type { Downloads } from '../../exports/downloads.js';
import { EXPORT_FORMATS, exportRoute } from '../../routes/exports.js';
import { routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { descriptionFor, type Measured } from '../../schema/measured.js';
import type { InWords } from '../../schema/words.js';
import type { Offers } from './pages.js';

export const offers = (
  table: readonly Route[],
  { asOf, tables, bulk }: Downloads,
  measured: Measured,
  inWords: InWords,
): Offers => ({
  downloads: {
    asOf,
    tables: tables.map(({ table: { name, description, columns, resource }, rows, files, asOf: newest }) => ({
      name,
      plural: resource.plural,
      newest,
      description,
      rows,
      columns: columns.map(({ value }) => value),
      files: EXPORT_FORMATS.map(({ format, type, words }) => ({
        path: routeNamed(table, exportRoute(name, format)).path,
        format: words,
        type,
        ...files[format],
      })),
    })),
    bulk: bulk.map(({ file: { route, description }, rows, bytes, sha256 }) => {
      const { path, type } = routeNamed(table, route);
      return { path, type, description, rows, bytes, sha256 };
    }),
  },
  feeds: feedsOf(measured).map((feed) => ({
    title: inWords(feed.title),
    description: inWords(descriptionFor(feed, measured)),
    atom: routeNamed(table, feedRoute(feed, 'atom')).path,
    json: routeNamed(table, feedRoute(feed, 'json')).path,
  })),
});
