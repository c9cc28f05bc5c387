/** The downloads and feeds, as pages show them. */
import { feedRoute, feedsOf } from '../../routes/feeds.js';
import { exportedTables, type Downloads, type Exported } from '../../exports/downloads.js';
import { EXPORT_FORMATS } from '../../routes/exports.js';
import { routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { descriptionFor, type Measured } from '../../schema/measured.js';
import type { InWords } from '../../schema/words.js';
import type { OfferedDownloads } from './downloads.js';
import type { PublishedFeed } from './feeds.js';

/** What pages show of a file. */
const shown = ({ download: { file, type, description }, rows, bytes, sha256 }: Exported) => ({
  path: `/${file}`,
  type,
  description,
  rows,
  bytes,
  sha256,
});

export const offeredDownloads = (downloads: Downloads): OfferedDownloads => ({
  asOf: downloads.asOf,
  tables: exportedTables(downloads).map(({ name, description, columns, resource }) => {
    const own = downloads.files.filter(({ download }) => download.name === name);
    return {
      name,
      plural: resource.plural,
      newest: own[0]?.asOf ?? null,
      description,
      rows: own[0]?.rows ?? 0,
      columns: columns.map(({ value }) => value),
      files: own.map((file) => ({
        ...shown(file),
        format: EXPORT_FORMATS.find(({ format }) => format === file.download.format)?.words ?? '',
      })),
    };
  }),
  bulk: downloads.files.filter(({ download }) => download.format === undefined).map(shown),
});

export const offeredFeeds = (
  table: readonly Route[],
  measured: Measured,
  inWords: InWords,
): readonly PublishedFeed[] =>
  feedsOf(measured).map((feed) => ({
    title: inWords(feed.title),
    description: inWords(descriptionFor(feed, measured)),
    atom: routeNamed(table, feedRoute(feed, 'atom')).path,
    json: routeNamed(table, feedRoute(feed, 'json')).path,
  }));
