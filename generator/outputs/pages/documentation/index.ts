/** The pages of the documentation, their contents, and what their search finds. */
import { z } from 'zod';
import type { BuildConfig } from '../../../config.js';
import { PARTS, REFERENCE, SEARCH_PATH, documentationOf } from '../../../routes/documentation.js';
import type { DocumentationPage } from '../../../routes/documentation.js';
import { publishedHeaders } from '../../../routes/headers.js';
import type { Headers, PublishedHeaders } from '../../../routes/headers.js';
import { FINDING } from '../../../routes/finding.js';
import { BUCKETS, routeNamed } from '../../../routes/index.js';
import { PATHS } from '../../../routes/paths.js';
import type { Route } from '../../../routes/index.js';
import { licenceText, pageLimitText, rateLimitText } from '../../api-index.js';
import { HEADERS, policyText } from '../../openapi/headers.js';
import { PROBLEMS, PROBLEM_SHAPE, problemExample, problemOf } from '../../openapi/problems.js';
import type { ReadDocument } from '../documents.js';
import { TYPES, fieldRows } from '../fields.js';
import { render } from '../render.js';
import { sample } from '../sample.js';
import type { Shown } from '../shown.js';
import { interval, moment } from '../words.js';
import { sentencesOf } from './aloud.js';
import { explorerPage } from './explorer.js';
import { placesOf, withAnchors } from './headings.js';
import type { Place } from './headings.js';
import { exampleUrl, referencePage } from './reference.js';
import { snippets } from './requests.js';

/** What the documentation is about. */
export interface Documented {
  readonly config: BuildConfig;
  readonly table: readonly Route[];
  readonly shown: Shown;
  /** The newest measurement; null if there is none. */
  readonly asOf: string | null;
  readonly read: ReadDocument;
  /** The first key of a route's documents. */
  readonly firstKey: (route: string) => number | undefined;
}

/** A page for the layout. */
export interface RenderedPage extends DocumentationPage {
  readonly content: object;
  readonly places: readonly Place[];
}

/** All pages of the documentation. */
export function documentationPages(documented: Documented): readonly RenderedPage[] {
  const { operator, isSigned, signing } = documented.config;
  const pages = documentationOf(isSigned);
  const published = publishedHeaders(operator.licence.url);
  const asOf =
    documented.asOf === null ? undefined : { time: documented.asOf, words: moment(documented.asOf) };
  const contents: Readonly<Record<string, () => object>> = {
    'developers-page': () => startPage(documented),
    'explorer-page': () => explorerPage(documented),
    'guide-limits-page': () => limitsPage(documented, published),
    'guide-finding-page': () => findingPage(documented),
    'guide-copying-page': () => ({}),
    'guide-log-page': () => ({ signing, document: firstUrl(documented) }),
    'guide-terms-page': () => ({ licence: licenceText(operator) }),
  };
  return pages.map((page) => {
    const reference = REFERENCE.find(({ name }) => name === page.name);
    const content = reference && referencePage(reference, documented, published);
    const html = render(
      `documentation/${reference === undefined ? page.name.replace(/-page$/, '') : 'reference'}`,
      {
        ...(content ?? contents[page.name]?.()),
        base: operator.baseUrl,
        site: operator,
        paths: { ...PATHS, snapshot: routeNamed(documented.table, 'snapshot').path },
        asOf,
        firstUrl: operator.baseUrl + firstUrl(documented),
      },
    );
    const places = placesOf(html);
    return {
      ...page,
      places,
      content: {
        html: withAnchors(html),
        parts: PARTS.map((part) => ({ part, pages: pages.filter((each) => each.part === part) })),
        title: page.title,
        headings: places.filter(({ is }) => is === 'heading'),
        search: SEARCH_PATH,
      },
    };
  });
}

/** What the search field finds: pages with their headings and terms, in order. */
export const searchIndex = (pages: readonly RenderedPage[]): string =>
  JSON.stringify({
    pages: pages.map(({ path, title, places }) => ({
      path,
      title,
      places: places.map(({ id, text, is }) => [is === 'heading' ? 1 : 0, id, text]),
    })),
  });

/** The first request to try: the record of the largest group, or the index of an empty register. */
const firstUrl = ({ table, ...documented }: Documented): string =>
  exampleUrl(routeNamed(table, 'group'), { table, ...documented }) ?? PATHS.base;

function startPage(documented: Documented) {
  const { config, table, shown } = documented;
  const { operator, limits } = config;
  const url = firstUrl(documented);
  const group = shown.body('group');
  const use =
    group === undefined
      ? { variable: 'index', javascript: 'index.name', python: "index['name']" }
      : {
          variable: 'group',
          javascript: 'group.name, group.member_count',
          python: "group['name'], group['member_count']",
        };
  const failure = problemExample(problemOf('invalid_id'), operator.baseUrl);
  return {
    snippets: snippets(operator.baseUrl + url, use),
    record: group === undefined ? undefined : { url, sample: sample(group), sentences: sentencesOf(group) },
    reference: REFERENCE.map(({ path, title, sections }) => ({
      path,
      title,
      routes: sections.flat().map((name) => routeNamed(table, name)),
    })),
    types: Object.values(TYPES),
    problems: PROBLEMS,
    failure: { url: failure.instance, sample: sample(JSON.stringify(failure)) },
    problemFields: fieldRows(PROBLEM_SHAPE),
    limit: { text: rateLimitText(limits), every: interval(limits.api.refillSeconds) },
  };
}

const limitsPage = ({ config: { limits } }: Documented, published: PublishedHeaders) => ({
  headers: HEADERS,
  readable: published.all['Access-Control-Expose-Headers'],
  lifetimes: lifetimesOf(published),
  limit: {
    text: rateLimitText(limits),
    ofPages: pageLimitText(limits),
    policies: BUCKETS.map((bucket) => policyText(bucket, limits)),
    every: interval(limits.api.refillSeconds),
  },
});

function lifetimesOf({ content, not_found: notFound, error }: PublishedHeaders) {
  const rows: readonly (readonly [what: string, headers: Headers])[] = [
    ['Records and histories', content.record],
    ['Index, totals, lists, ids, names and owners, snapshot and change lists', content.summary],
    ['Downloads', content.download],
    ['Feeds', content.feed],
    ['Pages and the OpenAPI description', content.page],
    ['Styles and scripts of the pages, named by their hash', content.asset],
    ['404', notFound],
    ['Every other error', error],
  ];
  return rows.map(([what, headers]) => ({
    what,
    cacheControl: headers['Cache-Control'],
    cdn: headers['CDN-Cache-Control'],
  }));
}

/** A username to look up: a published one, if there is any. */
function findingPage({ table, shown }: Documented) {
  const { data } = z.object({ username: z.string() }).safeParse(JSON.parse(shown.body('user') ?? 'null'));
  return {
    routes: FINDING.map(({ name }) => ({
      ...routeNamed(table, name),
      page: REFERENCE.find(({ sections }) => sections.flat().includes(name))?.path,
    })),
    /** As a literal of JavaScript and Python. */
    username: JSON.stringify(data?.username ?? 'Marlow_Finch'),
  };
}
