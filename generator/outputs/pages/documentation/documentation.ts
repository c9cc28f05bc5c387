/** The pages of the documentation, their contents, and what their search finds. */
import * as z from 'zod';
import {
  DOCUMENTATION,
  PARTS,
  REFERENCE,
  SEARCH_PATH,
  type DocumentationPage,
} from '../../../routes/documentation.js';
import { publishedHeaders, type Headers, type PublishedHeaders } from '../../../routes/headers.js';
import { LOOKUP, NAMED, lookupRoute, platformIdRoute } from '../../../routes/lookup.js';
import { routeNamed } from '../../../routes/routes.js';
import { BUCKETS } from '../../../routes/route.js';
import { PATHS } from '../../../routes/paths.js';
import { KINDS, type Kind, type Resource } from '../../../schema/field.js';
import { RESOURCES } from '../../../schema/schema.js';
import { enumerated, measuredFields, measuredKinds } from '../../../schema/measured.js';
import { capitalized } from '../../../schema/words.js';
import { licenceText, pageLimitText, rateLimitText } from '../../api-index.js';
import { asksForCredit } from '../../licence.js';
import { HEADERS, policyText } from '../../openapi/headers.js';
import { PROBLEMS, PROBLEM_SHAPE, problemExample, problemOf } from '../../openapi/problems.js';
import { TYPES, fieldRows } from '../fields.js';
import type { SearchIndex } from '../page-data.js';
import { embeddedValues } from '../embed.js';
import { findersIn, namedOf, ownedIn } from '../finders.js';
import { arrivalsIn, changesIn } from '../feeds.js';
import { render } from '../render.js';
import { sample } from '../sample.js';
import { interval, moment } from '../words.js';
import { sentencesOf } from './sentences.js';
import { explorerPage } from './explorer.js';
import { placesOf, withAnchors, type LinkTarget } from './headings.js';
import { exampleUrl, referencePage, type Documented } from './reference.js';
import { snippets, type Use } from './requests.js';
import { titled } from './titles.js';

/** A page for the layout. */
export interface RenderedPage extends DocumentationPage {
  readonly content: object;
  readonly places: readonly LinkTarget[];
}

/** All pages of the documentation. */
export function documentationPages(documented: Documented): readonly RenderedPage[] {
  const { config, overview, inWords, isThere } = documented;
  const { operator } = config;
  const pages = DOCUMENTATION.filter(({ name }) => isThere(name))
    .map((page) => titled(page, overview.measured, isThere))
    .map((page) => ({ ...page, title: inWords(page.title), description: inWords(page.description) }));
  const published = publishedHeaders(operator.licence.url);
  const asOf = overview.asOf === null ? undefined : { time: overview.asOf, words: moment(overview.asOf) };
  const contents: Readonly<Record<string, () => object>> = {
    'developers-page': () => startPage(documented),
    'explorer-page': () => explorerPage(documented),
    'guide-limits-page': () => limitsPage(documented, published),
    'guide-finding-page': () => findingPage(documented),
    'guide-copying-page': () => copyingPage(documented),
    'guide-tools-page': () => toolsPage(documented),
    'guide-terms-page': () => ({
      licence: licenceText(operator),
      isCreditOptional: !asksForCredit(operator.licence),
    }),
  };
  return pages.map((page) => {
    const reference = REFERENCE.find(({ name }) => name === page.name);
    const content = reference && referencePage({ ...reference, ...page }, documented, published);
    const html = render(
      `documentation/${reference === undefined ? page.name.replace(/-page$/, '') : 'reference'}`,
      {
        ...(content ?? contents[page.name]?.()),
        inWords,
        base: operator.baseUrl,
        site: operator,
        paths: { ...PATHS, snapshot: routeNamed(documented.table, 'snapshot').path },
        asOf,
        firstUrl: operator.baseUrl + firstUrl(documented),
        firstFile: firstResource(documented)?.record.route ?? 'index',
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

/** What the search field finds: pages with their headings and terms, in order, and the words below each. */
export function searchIndex(rendered: readonly RenderedPage[]): string {
  const pages = rendered.map(({ path, title, places }) => ({
    path,
    title,
    places: places.map(({ id, text, is, words }) => [is === 'heading' ? 1 : 0, id, text, words] as const),
  }));
  return JSON.stringify({ pages } satisfies SearchIndex);
}

/** The kind of the first record to ask for; undefined if there is none. */
const firstResource = ({ shown }: Documented): Resource | undefined =>
  RESOURCES.find(({ record }) => shown.key(record.route) !== undefined);

/** The first request to try: the record of the largest group, or the index of an empty register. */
function firstUrl(documented: Documented): string {
  const route = firstResource(documented)?.record.route;
  return (
    (route === undefined ? undefined : exampleUrl(routeNamed(documented.table, route), documented)) ??
    PATHS.base
  );
}

/** What the first request prints of a record: what is measured of these, and when. */
const PRINTED: Readonly<Record<Kind, readonly string[]>> = {
  group: ['name', 'member_count'],
  user: ['username', 'measured_at'],
  game: ['name', 'visits'],
  item: ['name', 'price'],
};

/** What to do with the first response. */
function firstUse(documented: Documented): Use {
  const resource = firstResource(documented);
  if (resource === undefined) return { variable: 'index', javascript: 'index.name', python: "index['name']" };
  const { kind } = resource;
  const names = new Set(measuredFields(resource, documented.overview.measured).map(({ name }) => name));
  const printed = PRINTED[kind].filter((name) => names.has(name));
  const fields = printed.length > 0 ? printed : ['measured_at'];
  return {
    variable: kind,
    javascript: fields.map((name) => `${kind}.${name}`).join(', '),
    python: fields.map((name) => `${kind}['${name}']`).join(', '),
  };
}

function startPage(documented: Documented) {
  const { config, table, shown, overview, inWords, isThere } = documented;
  const { operator, limits } = config;
  const url = firstUrl(documented);
  const group = shown.body('group');
  const failure = problemExample(problemOf('invalid_id'), operator.baseUrl);
  return {
    sourceUrl: operator.sourceUrl,
    snippets: snippets(operator.baseUrl + url, firstUse(documented)),
    record:
      group === undefined
        ? undefined
        : { url, sample: sample(group), sentences: sentencesOf(group, shown.body('group-history'), inWords) },
    terms: Object.fromEntries(
      measuredKinds(overview.measured).map(({ kind }) => [
        kind,
        { isOurs: operator.words?.[kind] === undefined },
      ]),
    ),
    hasMeasurements: RESOURCES.some(({ plural }) => overview.measured.has(`${plural}.measurements`)),
    hasOwnerState: overview.measured.has('groups.owner_state'),
    hasChanges: changesIn(overview.measured).length > 0,
    hasRenames: ['group_names', 'usernames'].some((table) => overview.measured.has(table)),
    reference: REFERENCE.filter(({ name }) => isThere(name))
      .map((page) => titled(page, overview.measured, isThere))
      .map(({ path, title, sections }) => ({
        path,
        title: inWords(title),
        routes: sections
          .flat()
          .filter(isThere)
          .map((name) => routeNamed(table, name))
          .map((route) => ({ ...route, description: inWords(route.description) })),
      })),
    types: Object.values(TYPES),
    problems: PROBLEMS,
    failure: { url: failure.instance, sample: sample(JSON.stringify(failure)) },
    problemFields: fieldRows(PROBLEM_SHAPE, inWords),
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
    ['Everything else that is JSON, such as totals and the index of changes', content.summary],
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

function copyingPage({ overview, inWords, isThere }: Documented) {
  const news = [...changesIn(overview.measured), ...arrivalsIn(overview.measured)];
  return {
    news: inWords(`new ${enumerated(news.length > 0 ? news : ['snapshots'])}`),
    hasRecent: isThere('recent'),
  };
}

/** The first record to ask for by the client, and as a badge if a number of it is measured. */
function toolsPage(documented: Documented) {
  const { config, table, shown, overview } = documented;
  const resource = firstResource(documented);
  if (resource === undefined)
    return { get: `'${PATHS.base}'`, field: 'name', badge: undefined, chart: undefined };
  const { record, kind } = resource;
  const names = new Set(measuredFields(resource, overview.measured).map(({ name }) => name));
  const field = COUNTS[kind].find((name) => names.has(name));
  const { path } = routeNamed(table, record.route);
  const url = firstUrl(documented);
  return {
    get: `'${path}', { id: ${shown.key(record.route)} }`,
    field: PRINTED[kind].find((name) => names.has(name)) ?? 'measured_at',
    chart: {
      attribute: `${kind}="${shown.key(record.route)}"`,
      kinds: measuredKinds(overview.measured).map((each) => ({
        kind: each.kind,
        values: embeddedValues(each, overview.measured),
      })),
    },
    badge:
      field === undefined
        ? undefined
        : { field, path: url, url: badgeUrl(config.operator.baseUrl + url, field) },
  };
}

/** The number of a kind that a badge shows: the first that is measured. */
const COUNTS: Readonly<Record<Kind, readonly string[]>> = {
  group: ['member_count'],
  user: ['username_count'],
  game: ['visits', 'playing', 'favourites'],
  item: ['favourites', 'price'],
};

/** A picture with a member of a document, as shields.io makes it: its "dynamic JSON badge". */
function badgeUrl(document: string, field: string): string {
  const query = {
    url: document,
    query: `$.${field}`,
    label: field.replaceAll('_', ' '),
  };
  const values = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `https://img.shields.io/badge/dynamic/json?${values.join('&')}`;
}

/** What records can be found by, with a name to look up: a published one, if there is any. */
function findingPage({ table, shown, overview: { measured }, inWords, isThere }: Documented) {
  const named = namedOf(NAMED, measured);
  const [lookup, ...others] = named.map((kind) => lookupRoute(kind).replace('lookup-', 'lookup.'));
  const body = shown.body(named[0] ?? 'user') ?? 'null';
  const { data } = z.object({ username: z.string() }).or(withName).safeParse(JSON.parse(body));
  const owned = ownedIn(measured);
  const hasPlatformIds = KINDS.map(platformIdRoute).some(isThere);
  return {
    finders: [...findersIn(measured), ...(hasPlatformIds ? ['an id of the platform'] : [])],
    hasPlatformIds,
    /** The member of the guide for names, if any can be looked up, and those for other kinds. */
    lookup,
    otherNames: enumerated(named.slice(1).map((kind) => `${kind}s`)),
    otherLookups: others,
    owned: capitalized(inWords(owned.join(', and ') + (owned.length > 1 ? ',' : ''))),
    routes: LOOKUP.filter(({ name }) => isThere(name)).map(({ name }) => {
      const route = routeNamed(table, name);
      return {
        ...route,
        description: inWords(route.description),
        page: REFERENCE.find(({ sections }) => sections.flat().includes(name))?.path,
      };
    }),
    /** As a literal of JavaScript and Python. */
    name: JSON.stringify(data?.username ?? 'Marlow_Finch'),
  };
}

/** A record with a name, as one with a username. */
const withName = z.object({ name: z.string() }).transform(({ name }) => ({ username: name }));
