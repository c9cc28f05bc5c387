/** The pages and related files, rendered last, since they show the rest of the tree. */
import type { SiteConfig } from '../../config/config.js';
import type { Downloads } from '../../exports/downloads.js';
import { feedLinks } from '../../routes/feeds.js';
import type { Register } from '../../register/database.js';
import type { Overview } from '../../register/overview.js';
import { isMeasured, routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { PATHS } from '../../routes/paths.js';
import { shellRoute } from '../../routes/pages.js';
import type { Kind } from '../../schema/field.js';
import { enumeratedKinds, measuredKinds } from '../../schema/measured.js';
import { allWords, capitalized, withArticle, wordsIn } from '../../schema/words.js';
import { isOfError } from '../openapi/problems.js';
import { asksForCredit } from '../licence.js';
import type { FileOutput } from '../output.js';
import { assets, clientFiles, favicon, faviconForOldBrowsers, preview } from '../../base/assets.js';
import { dataset } from './dataset.js';
import { documentationPages, searchIndex } from './documentation/documentation.js';
import type { ReadDocument } from './documents.js';
import { downloadsContent } from './downloads.js';
import { offeredDownloads, offeredFeeds } from './offers.js';
import { embed } from './embed.js';
import { notFoundPage, tooManyPage } from './errors.js';
import { feedsPage, feedsSummary } from './feeds.js';
import { frontPage } from './front.js';
import { lookupField } from './lookup.js';
import type { LookupField } from './page-data.js';
import { recordPageContent } from './record.js';
import { dataBlock, render } from './render.js';
import type { Shown } from './shown.js';
import { replacedBy } from '../../config/site-files.js';
import { apiCatalog } from '../api-catalog.js';
import { robots, securityText, sitemap } from './well-known.js';
import { moment } from './words.js';

interface PageFacts {
  readonly route: string;
  readonly template: string;
  readonly title: string;
  readonly description: string;
  /** Routes of assets, besides the style sheet of all pages. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  readonly content: object;
  /** Whether the same file is at other URLs as well. It should seldom change. */
  readonly isShared?: boolean;
}

/** Makes the pages of a snapshot, which have the same frame. */
function pageMaker(
  { operator, brand }: SiteConfig,
  { asOf, measured }: Overview,
  table: readonly Route[],
): (facts: PageFacts) => FileOutput {
  const inWords = wordsIn(operator);
  return ({ route, template, title, description, styles = [], scripts = [], content, isShared = false }) => ({
    route,
    key: 0,
    body: render(template, {
      site: operator,
      feedLinks: feedLinks(operator.name, measured, inWords),
      asksForCredit: asksForCredit(operator.licence),
      inWords,
      capitalized,
      withArticle,
      path: routeNamed(table, route).path,
      isOfError: isOfError(routeNamed(table, route)),
      title,
      description,
      assets: Object.fromEntries([...assets()].map(([name, { path: url }]) => [name, url])),
      styles: ['style', ...styles],
      scripts,
      icons: { vector: routeNamed(table, 'favicon').path, old: routeNamed(table, 'favicon-ico').path },
      preview: routeNamed(table, 'preview').path,
      paths: { ...PATHS, snapshot: routeNamed(table, 'snapshot').path },
      nav: [
        [PATHS.docs, 'Documentation'],
        [PATHS.bulk, 'Downloads'],
        [PATHS.feeds, 'Feeds'],
      ],
      brand,
      isShared,
      asOf: asOf === null || isShared ? undefined : { time: asOf, words: moment(asOf) },
      page: content,
    }),
  });
}

/**
 * @param firstKey the first key of a route's documents
 * @param firstAlias the URL path of the first further name of a route's documents
 */
export function* pages(
  config: SiteConfig,
  overview: Overview,
  table: readonly Route[],
  now: Date,
  shown: Shown,
  read: ReadDocument,
  register: Register,
  firstKey: (route: string) => number | undefined = () => undefined,
  firstAlias: (route: string) => string | undefined = () => undefined,
): Generator<FileOutput> {
  const { operator, files } = config;
  const { measured } = overview;
  const inWords = wordsIn(operator);
  const isThere = (route: string): boolean => isMeasured(routeNamed(table, route), measured);
  const lookup = (kind?: Kind): LookupField => lookupField(overview, table, operator.words, firstKey, kind);
  for (const [route, { body }] of assets()) yield { route, key: 0, body };
  yield { route: 'favicon', key: 0, body: favicon() };
  yield { route: 'favicon-ico', key: 0, body: faviconForOldBrowsers() };
  yield { route: 'preview', key: 0, body: preview() };
  for (const file of clientFiles()) yield { ...file, key: 0 };
  yield { route: 'embed', key: 0, body: embed(operator, table, measured) };

  const page = pageMaker(config, overview, table);
  const { name, platform, headline, introduction } = operator;
  const replaced = replacedBy(files);
  const kinds = inWords(enumeratedKinds(measuredKinds(measured)));
  if (!replaced.has('front-page'))
    yield page({
      route: 'front-page',
      template: 'front',
      title: headline === undefined ? `${name}: measured records of ${platform}` : `${name}: ${headline}`,
      description:
        introduction ??
        `Measured records of ${kinds} on ${platform}, free as a JSON API, downloads and feeds.`,
      styles: ['front-style'],
      scripts: ['copy-script', 'lookup-script'],
      content: {
        ...frontPage(operator, overview, table, lookup(), read, register),
        dataset: dataBlock(dataset(operator, overview, table)),
      },
    });
  const documentation = documentationPages({
    config,
    table,
    shown,
    overview,
    inWords,
    isThere,
    firstKey,
    firstAlias,
    read,
  });
  for (const { name: route, path, title, description, content } of documentation) {
    const isExplorer = route === 'explorer-page';
    yield page({
      route,
      template: 'documentation',
      title: `${title}${path === PATHS.docs ? '' : ': documentation'} – ${name}`,
      description: `${title} – ${description}: documentation of the API of ${name}.`,
      styles: ['docs-style', ...(isExplorer ? ['chart-style'] : [])],
      scripts: ['docs-script', 'copy-script', 'tabs-script', ...(isExplorer ? ['explorer-script'] : [])],
      content,
    });
  }
  yield { route: 'documentation-search', key: 0, body: searchIndex(documentation) };
  yield page({
    route: 'feeds-page',
    template: 'feeds',
    title: `Feeds – ${name}`,
    description: `Atom and JSON feeds of ${name}: ${inWords(feedsSummary(measured))}.`,
    styles: ['data-style'],
    scripts: ['copy-script'],
    content: feedsPage(offeredFeeds(table, measured, inWords), operator.baseUrl, measured),
  });
  for (const resource of measuredKinds(measured)) {
    const { histories, kind } = resource;
    const { one } = allWords(operator.words)[kind];
    yield page({
      route: shellRoute(kind),
      template: 'record',
      title: `${capitalized(one)} – ${name}`,
      description: `What ${name} has measured of one ${one} on ${platform}${
        histories.some(({ table: history }) => measured.has(history))
          ? ': every reading with its time, gaps left open'
          : ', and when'
      }.`,
      styles: ['record-style'],
      scripts: ['record-script'],
      content: recordPageContent(resource, config, table, overview, lookup(kind)),
      isShared: true,
    });
  }
  yield page({
    route: 'not-found-page',
    template: 'error',
    title: `Not found – ${name}`,
    description: `Nothing is published at this address of ${name}.`,
    styles: ['front-style'],
    scripts: ['lookup-script'],
    content: notFoundPage(lookup()),
    isShared: true,
  });
  yield page({
    route: 'too-many-page',
    template: 'error',
    title: `Too many requests – ${name}`,
    description: `The limit of ${name} for pages is reached for a moment.`,
    content: tooManyPage(config.limits),
    isShared: true,
  });
  yield* apiCatalog(operator);
  yield { route: 'security-contact', key: 0, body: securityText(operator, table, now) };
  if (!replaced.has('robots')) yield { route: 'robots', key: 0, body: robots(operator, table, measured) };
  yield { route: 'sitemap', key: 0, body: sitemap(operator, table, measured) };
}

/** The page about the downloads, once those are written. */
export const downloadsPage = (
  config: SiteConfig,
  overview: Overview,
  table: readonly Route[],
  downloads: Downloads,
): FileOutput =>
  pageMaker(
    config,
    overview,
    table,
  )({
    route: 'downloads-page',
    template: 'downloads',
    title: `Downloads – ${config.operator.name}`,
    description: `All of ${config.operator.name} as CSV and Parquet files, with sizes, row counts and checksums.`,
    styles: ['data-style'],
    scripts: ['copy-script', 'tabs-script'],
    content: downloadsContent(offeredDownloads(downloads), config, overview),
  });
