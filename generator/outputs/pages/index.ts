/** The pages and related files, rendered last, since they show the rest of the tree. */
import type { BuildConfig } from '../../config.js';
import { feedLinks } from '../../routes/feeds.js';
import type { Overview } from '../../register/overview.js';
import { routeNamed } from '../../routes/index.js';
import { PATHS } from '../../routes/paths.js';
import type { Route } from '../../routes/index.js';
import type { Output } from '../output.js';
import { assets, favicon } from './assets.js';
import { dataset } from './dataset.js';
import { developersPage } from './developers.js';
import { downloadsPage } from './downloads.js';
import type { OfferedDownloads } from './downloads.js';
import { feedsPage } from './feeds.js';
import type { PublishedFeed } from './feeds.js';
import { frontPage } from './front.js';
import { dataBlock, render } from './render.js';
import type { Shown } from './shown.js';
import { apiCatalog, robots, securityText } from './well-known.js';
import { moment } from './words.js';

/** Other outputs that pages show. */
export interface Offers {
  readonly downloads: OfferedDownloads;
  readonly feeds: readonly PublishedFeed[];
}

/** Files of the operator that every page links to, if there are any. */
const LEGAL = [
  ['/imprint.html', 'Imprint'],
  ['/privacy.html', 'Privacy'],
] as const;

export function* pages(
  config: BuildConfig,
  overview: Overview,
  table: readonly Route[],
  shown: Shown,
  { downloads, feeds }: Offers,
): Generator<Output> {
  const { operator } = config;
  const { asOf } = overview;
  for (const [route, { body }] of assets()) yield { route, key: 0, body };
  yield { route: 'favicon', key: 0, body: favicon() };

  const page = (
    route: string,
    template: string,
    title: string,
    description: string,
    content: object,
  ): Output => ({
    route,
    key: 0,
    body: render(template, {
      site: operator,
      feedLinks: feedLinks(operator.name),
      path: routeNamed(table, route).path,
      title,
      description,
      assets: Object.fromEntries([...assets()].map(([name, { path: url }]) => [name, url])),
      icon: routeNamed(table, 'favicon').path,
      paths: { ...PATHS, snapshot: routeNamed(table, 'snapshot').path },
      nav: [
        [PATHS.docs, 'Documentation'],
        [PATHS.bulk, 'Downloads'],
        [PATHS.feeds, 'Feeds'],
      ],
      legal: LEGAL.filter(([path]) => config.files.some(({ route: { path: url } }) => url === path)),
      asOf: asOf === null ? undefined : { time: asOf, words: moment(asOf) },
      page: content,
    }),
  });
  const { name, platform } = operator;
  yield page(
    'front-page',
    'front',
    `${name}: measured records of ${platform}`,
    `Measured records of groups, users, games and catalogue items on ${platform}, free as a JSON API, downloads and feeds.`,
    {
      ...frontPage(operator, overview, table, shown),
      dataset: dataBlock(dataset(operator, overview, downloads)),
    },
  );
  yield page(
    'developers-page',
    'developers',
    `Documentation – ${name}`,
    `Every endpoint of the API of ${name}, with examples, fields, limits, errors, caching and an explorer.`,
    developersPage(config, table, shown),
  );
  yield page(
    'downloads-page',
    'downloads',
    `Downloads – ${name}`,
    `All of ${name} as CSV and Parquet files, with sizes, row counts and checksums.`,
    downloadsPage(downloads, config, asOf),
  );
  yield page(
    'feeds-page',
    'feeds',
    `Feeds – ${name}`,
    `Atom and JSON feeds of ${name}: renamed groups, new owners, new usernames, new records.`,
    feedsPage(feeds, operator.baseUrl),
  );
  yield { route: 'api-catalog', key: 0, body: apiCatalog(operator, table) };
  // The file must expire, and its expiry depends on the newest measurement.
  if (asOf !== null) yield { route: 'security-contact', key: 0, body: securityText(operator, table, asOf) };
  yield { route: 'robots', key: 0, body: robots(table) };
}
