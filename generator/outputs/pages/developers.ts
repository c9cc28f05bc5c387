/** The page for developers: how to ask, what comes back, what every field means. */
import type { BuildConfig } from '../../config.js';
import { MAX_INTEGER } from '../../resources/field.js';
import { PATHS, filler, routeNamed, urlTemplate } from '../../routes.js';
import type { Parameter, Route } from '../../routes.js';
import { licenceText, rateLimitText } from '../api-index.js';
import { problemsOf } from '../description/answers.js';
import { documentOf } from '../description/documents.js';
import { HEADERS, headersOf, policyText } from '../description/headers.js';
import { BRIEF_LIFETIME, CONTENT_LIFETIMES, NO_LIFETIME } from '../description/lifetimes.js';
import { PROBLEMS, PROBLEM_SHAPE, problemOf } from '../description/problems.js';
import { TYPES, fieldRows } from './fields.js';
import type { FieldRow } from './fields.js';
import { dataBlock } from './render.js';
import { sample } from './sample.js';
import type { Shown } from './shown.js';
import { interval } from './words.js';

/** Documents that describe what is published: explained, not listed among the endpoints. */
const PUBLISHING = ['snapshot', 'changes', 'change-list'];

/** Routes whose document holds, or leads to, a member history to draw. */
const CHARTED: Readonly<Record<string, string>> = {
  group: 'group-history',
  'group-history': 'group-history',
};

interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** A URL path to try; undefined where the register has no record to try it with. */
  readonly url: string | undefined;
  /** What that URL answers. */
  readonly sample: string | undefined;
  readonly fields: readonly FieldRow[];
  readonly problems: readonly string[];
  readonly kept: string;
}

function endpoint(route: Route, shown: Shown): Endpoint {
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
    kept: CONTENT_LIFETIMES[cacheClass].cacheControl,
  };
}

/** What the explorer is told; it asks the API for everything else. */
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

/** Lists the headers that scripts may read. */
const EXPOSE = 'Access-Control-Expose-Headers';

const LIFETIMES = [
  { what: 'Records and histories', ...CONTENT_LIFETIMES.record },
  { what: 'Index, totals, largest groups, snapshot and change lists', ...CONTENT_LIFETIMES.summary },
  { what: 'Downloads', ...CONTENT_LIFETIMES.download },
  { what: 'Feeds', ...CONTENT_LIFETIMES.feed },
  { what: 'Pages and the OpenAPI description', ...CONTENT_LIFETIMES.page },
  { what: '404', ...BRIEF_LIFETIME },
  { what: 'Every other error', ...NO_LIFETIME },
];

/** A request that fails, and the problem it is answered by. */
function failure(baseUrl: string, table: readonly Route[]) {
  const { code, status, title } = problemOf('invalid_id');
  const instance = routeNamed(table, 'group').path.replace('{id}', 'abc');
  const type = `${baseUrl}${PATHS.docs}#error-${code}`;
  const detail = `id "abc": expected decimal digits without sign or leading zero, at most ${MAX_INTEGER}`;
  return {
    url: instance,
    sample: sample(JSON.stringify({ type, title, status, detail, instance, error: code })),
  };
}

/** What the template of the page for developers shows. */
export function developersPage({ operator, limits }: BuildConfig, table: readonly Route[], shown: Shown) {
  const listed = table.filter(({ listed }) => listed).map((route) => endpoint(route, shown));
  const publishing = PUBLISHING.map((name) => endpoint(routeNamed(table, name), shown));
  const first = listed.find(({ name, url }) => name === 'group' && url !== undefined);
  return {
    base: operator.baseUrl,
    /** The request everybody starts with. */
    firstUrl: operator.baseUrl + (first?.url ?? PATHS.base),
    hasGroup: first !== undefined,
    endpoints: listed,
    publishing,
    types: Object.values(TYPES),
    problems: PROBLEMS,
    failure: failure(operator.baseUrl, table),
    problemFields: fieldRows(PROBLEM_SHAPE),
    headers: HEADERS,
    readable: headersOf({ status: 200, route: routeNamed(table, 'group'), limits }).find(
      ({ name }) => name === EXPOSE,
    )?.example,
    lifetimes: LIFETIMES,
    limit: {
      text: rateLimitText(limits),
      policies: [policyText('api', limits.api), policyText('download', limits.download)],
      every: interval(limits.api.refillSeconds),
    },
    licence: licenceText(operator),
    explorer: dataBlock([...listed, ...publishing].map((each) => explorable(each, table, shown))),
  };
}
