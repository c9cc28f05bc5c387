/** The page for developers: requests, responses, and the meaning of every field. */
import { z } from 'zod';
import type { BuildConfig } from '../../config.js';
import { publishedHeaders } from '../../routes/headers.js';
import type { Headers, PublishedHeaders } from '../../routes/headers.js';
import { MAX_INTEGER } from '../../schema/field.js';
import { OWNER_CASES } from '../../schema/group.js';
import { FINDING, idsRoute, lookupRoute, ownersRoute } from '../../routes/finding.js';
import { BUCKETS, filler, routeNamed, urlTemplate } from '../../routes/index.js';
import { PATHS } from '../../routes/paths.js';
import type { Parameter, Route } from '../../routes/index.js';
import { licenceText, pageLimitText, rateLimitText } from '../api-index.js';
import { problemsOf } from '../openapi/answers.js';
import { LIST_ROUTES } from '../lists/index.js';
import { documentOf } from '../openapi/documents.js';
import { HEADERS, policyText } from '../openapi/headers.js';
import { PROBLEMS, PROBLEM_SHAPE, problemOf } from '../openapi/problems.js';
import { TYPES, fieldRows } from './fields.js';
import type { FieldRow } from './fields.js';
import { dataBlock } from './render.js';
import { sample } from './sample.js';
import type { Shown } from './shown.js';
import { interval } from './words.js';

/** Documents about the published tree: explained, but not listed among the endpoints. */
const PUBLISHING = ['snapshot', 'changes', 'change-list'];

/** Documents for finding records whose fields are explained: one kind stands for all of its sort. */
const FINDING_FIELDS = new Set([
  'lookup',
  lookupRoute('user'),
  ownersRoute('user'),
  'ids',
  idsRoute('group'),
]);

/** Routes whose document contains, or links to, a member history to draw. */
const CHARTED: Readonly<Record<string, string>> = {
  group: 'group-history',
  'group-history': 'group-history',
};

interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** A URL path to try; undefined if the register has no record for it. */
  readonly url: string | undefined;
  /** The response to that URL. */
  readonly sample: string | undefined;
  readonly fields: readonly FieldRow[];
  readonly problems: readonly string[];
  readonly kept: string | undefined;
}

function endpoint(route: Route, shown: Shown, published: PublishedHeaders): Endpoint {
  const { name, path, description, parameters = [], class: cacheClass } = route;
  const key = shown.key(name);
  const body = shown.body(name);
  const document = documentOf(name);
  const isFixed = parameters.length === 0;
  return {
    name,
    path,
    description,
    parameters,
    url: key === undefined && !isFixed ? undefined : filler(urlTemplate(route))(key ?? 0),
    sample: body === undefined ? undefined : sample(body),
    fields: document === undefined ? [] : fieldRows(document),
    problems: problemsOf(route),
    kept: published.content[cacheClass]['Cache-Control'],
  };
}

/** The data for the explorer, which requests everything else from the API. */
function explorable(
  { name, path, description, parameters, url }: Endpoint,
  table: readonly Route[],
  shown: Shown,
) {
  const [parameter] = parameters;
  const history = CHARTED[name];
  return {
    name,
    path,
    description,
    url,
    ...(parameter === undefined ? {} : { parameter: { ...parameter, example: shown.key(name) } }),
    ...(history === undefined ? {} : { history: routeNamed(table, history).path }),
  };
}

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

/** A request that fails, and its response. */
function failure(baseUrl: string, table: readonly Route[]) {
  const { code, status, title } = problemOf('invalid_id');
  const instance = routeNamed(table, 'group').path.replace('{id}', 'abc');
  const type = `${baseUrl}${PATHS.docs}#error-${code}`;
  const detail = `id "abc": expected decimal digits without a sign or leading zero, at most ${MAX_INTEGER}`;
  return {
    url: instance,
    sample: sample(JSON.stringify({ type, title, status, detail, instance, error: code })),
  };
}

/** A username to look up: a published one, if there is any. */
function usernameOf(shown: Shown): string {
  const { data } = z.object({ username: z.string() }).safeParse(JSON.parse(shown.body('user') ?? 'null'));
  return data?.username ?? 'Marlow_Finch';
}

/** The data for the template of the developers' page. */
export function developersPage({ operator, limits }: BuildConfig, table: readonly Route[], shown: Shown) {
  const published = publishedHeaders(operator.licence.url);
  const describe = (route: Route): Endpoint => endpoint(route, shown, published);
  const listed = table.filter(({ listed }) => listed).map(describe);
  const lists = LIST_ROUTES.map((name) => describe(routeNamed(table, name)));
  const publishing = PUBLISHING.map((name) => describe(routeNamed(table, name)));
  const finding = FINDING.map(({ name }) => describe(routeNamed(table, name)));
  const first = listed.find(({ name, url }) => name === 'group' && url !== undefined);
  return {
    base: operator.baseUrl,
    /** The first request to try. */
    firstUrl: operator.baseUrl + (first?.url ?? PATHS.base),
    hasGroup: first !== undefined,
    endpoints: listed,
    lists,
    publishing,
    finding,
    /** As a literal of JavaScript. */
    username: JSON.stringify(usernameOf(shown)),
    findingFields: finding.filter(({ name }) => FINDING_FIELDS.has(name)),
    types: Object.values(TYPES),
    ownerCases: OWNER_CASES,
    problems: PROBLEMS,
    failure: failure(operator.baseUrl, table),
    problemFields: fieldRows(PROBLEM_SHAPE),
    headers: HEADERS,
    readable: published.all['Access-Control-Expose-Headers'],
    lifetimes: lifetimesOf(published),
    limit: {
      text: rateLimitText(limits),
      ofPages: pageLimitText(limits),
      policies: BUCKETS.map((bucket) => policyText(bucket, limits)),
      every: interval(limits.api.refillSeconds),
    },
    licence: licenceText(operator),
    explorer: dataBlock(
      [...listed, ...lists, ...finding, ...publishing].map((each) => explorable(each, table, shown)),
    ),
  };
}
