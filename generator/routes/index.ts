/**
 * Every URL of the service, once. The index, the published route table that the proxy reads, the links in
 * records and the names of files all follow from here.
 */
import { pageRoutes } from './pages.js';

import { archiveText } from './archive-keys.js';
import { FEED_ROUTES } from './feeds.js';
import { BULK, EXPORT_ROUTES } from './exports.js';

/** Which row of the caching table a response belongs to. */
export const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page', 'asset'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

/** The limits a request may count against. */
export const BUCKETS = ['api', 'download', 'page'] as const;
export type Bucket = (typeof BUCKETS)[number];

export interface IdParameter {
  readonly name: string;
  readonly in: 'path';
  readonly type: 'id';
  readonly description: string;
}

/** A month or a part of one (see archive-keys.ts); its name is `month`, too, in every template. */
export interface MonthParameter {
  readonly name: 'month';
  readonly in: 'path';
  readonly type: 'month';
  readonly description: string;
}

export interface IntegerParameter {
  readonly name: string;
  readonly in: 'query';
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

export type Parameter = IdParameter | MonthParameter | IntegerParameter;

/** One URL template and the file template that answers it; both use `{parameter}`. */
export interface Route {
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly class: CacheClass;
  /** A request takes from this one; of `download`, from `api` as well. */
  readonly bucket: Bucket;
  readonly type: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  /** A URL to try; a route by id gets one from the register. */
  readonly example?: string;
  /** What a 404 says where a well-formed URL has no file; parameters in braces. */
  readonly absent?: string;
  /** Whether /api/v1 lists it: the endpoints of the specification. */
  readonly listed: boolean;
}

/** A route that /api/v1 does not list; its bucket is `api` unless it names another. */
export type UnlistedRoute = Omit<Route, 'listed' | 'bucket'> & Partial<Pick<Route, 'bucket'>>;

/** The version of the API, which the base path repeats. */
export const API_VERSION = 1;

export const PATHS = {
  base: '/api/v1',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  bulk: BULK,
  feeds: '/feeds',
  catalog: '/.well-known/api-catalog',
} as const;

export const LARGEST_LIMIT = { minimum: 1, maximum: 200, default: 100 } as const;

const JSON_TYPE = 'application/json; charset=utf-8';

const byId = (description: string): readonly [IdParameter] => [
  { name: 'id', in: 'path', type: 'id', description },
];

type Endpoint = Omit<Route, 'file' | 'type' | 'bucket' | 'listed'> & Partial<Pick<Route, 'file'>>;

const RECORDS: readonly Endpoint[] = [
  {
    name: 'group',
    path: '/api/v1/group/{id}',
    class: 'record',
    description: 'Measured record of one group',
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
  },
  {
    name: 'user',
    path: '/api/v1/user/{id}',
    class: 'record',
    description: 'Measured record of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
  },
  {
    name: 'game',
    path: '/api/v1/game/{id}',
    class: 'record',
    description: 'Measured record of one experience',
    parameters: byId('numeric universe id'),
    absent: 'no game {id} in this register',
  },
  {
    name: 'item',
    path: '/api/v1/item/{id}',
    class: 'record',
    description: 'Measured record of one catalogue item',
    parameters: byId('numeric asset id'),
    absent: 'no item {id} in this register',
  },
];

const ENDPOINTS: readonly Endpoint[] = [
  { name: 'index', path: PATHS.base, class: 'summary', description: 'Machine-readable index of the API' },
  ...RECORDS,
  {
    name: 'largest',
    path: '/api/v1/largest',
    file: 'api/v1/largest/{limit}.json',
    class: 'summary',
    description: 'The largest measured groups, up to limit of them',
    example: '/api/v1/largest?limit=10',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        type: 'integer',
        ...LARGEST_LIMIT,
        description: 'how many groups',
      },
    ],
  },
  {
    name: 'stats',
    path: '/api/v1/stats',
    class: 'summary',
    description: 'Register-wide measured totals',
  },
  {
    name: 'group-history',
    path: '/group/{id}/history.json',
    class: 'record',
    description: 'Full member, name and ownership history of one group',
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
  },
  {
    name: 'user-usernames',
    path: '/user/{id}/usernames.json',
    class: 'record',
    description: 'Observed username history of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
  },
];

/** What describes the service itself: not among the endpoints of the specification. The publisher writes all but one. */
const PUBLISHING: readonly Endpoint[] = [
  // Plain JSON, not application/openapi+json: every tool takes it, and browsers show it.
  {
    name: 'openapi',
    path: PATHS.description,
    class: 'page',
    description: 'Description of the API in OpenAPI 3.1',
  },
  {
    name: 'snapshot',
    path: '/snapshot.json',
    class: 'summary',
    description: 'The published snapshot: when, what and how much',
  },
  {
    name: 'changes',
    path: '/changes/index.json',
    class: 'summary',
    description: 'The newest snapshots, with what each changed',
  },
  {
    name: 'change-list',
    path: '/changes/{sequence}.json',
    file: 'changes/{sequence}.json',
    class: 'summary',
    description: 'Every URL that one snapshot changed or removed',
    parameters: [{ name: 'sequence', in: 'path', type: 'id', description: 'number of the snapshot' }],
    absent: 'no change list {sequence}',
  },
];

/** Whether a route answers with a document of the API or a feed, as opposed to what is made of those. */
export const isDocument = ({ path, class: cacheClass }: Pick<Route, 'path' | 'class'>): boolean =>
  cacheClass !== 'page' && cacheClass !== 'asset' && !/^\/(downloads|\.well-known)\//.test(path);

/** `/api/v1/group/{id}` -> `api/v1/group/{id}.json`: what any static host finds by adding the suffix. */
function fileOf({ path, file }: Endpoint): string {
  if (file !== undefined) return file;
  const bare = path.slice(1);
  return bare.endsWith('.json') ? bare : `${bare}.json`;
}

const unlisted = (route: UnlistedRoute): Route => ({ bucket: 'api', ...route, listed: false });

const complete =
  (listed: boolean) =>
  (endpoint: Endpoint): Route => ({
    ...endpoint,
    file: fileOf(endpoint),
    bucket: 'api',
    type: JSON_TYPE,
    listed,
  });

/** The route table. */
export const ROUTES: readonly Route[] = [
  ...ENDPOINTS.map(complete(true)),
  ...[...EXPORT_ROUTES, ...FEED_ROUTES].map(unlisted),
  ...PUBLISHING.map(complete(false)),
  ...pageRoutes(PATHS).map(unlisted),
];

/** The route of that name. */
export function routeNamed(table: readonly Route[], name: string): Route {
  const route = table.find((candidate) => candidate.name === name);
  if (route === undefined) throw new TypeError(`no route is named "${name}"`);
  return route;
}

/** `123456` and the template `group/{id}` -> `group/123456`; `20261199999` and `{month}` -> `2026-11`. */
export function filler(template: string): (value: number) => string {
  const [start = '', ...rest] = template.split(/(\{\w+\})/);
  // Compiled once, filled in millions of times.
  const pieces: readonly ((value: number) => string)[] = rest.map((piece) => {
    if (!piece.startsWith('{')) return () => piece;
    return piece === '{month}' ? archiveText : String;
  });
  return (value) => {
    let filled = start;
    for (const piece of pieces) filled += piece(value);
    return filled;
  };
}

/** The template of a route's URL, with a query where its parameter is one: `/api/v1/largest?limit={limit}`. */
export function urlTemplate({ path, parameters = [] }: Pick<Route, 'path' | 'parameters'>): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return query.length === 0 ? path : `${path}?${query.map(({ name }) => `${name}={${name}}`).join('&')}`;
}

/** A path template split around its parameter: SQL and JavaScript put the value between the two halves. */
export function halves(template: string): readonly [string, string] {
  const [before, after, ...more] = template.split(/\{\w+\}/);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new TypeError(`expected one parameter in the template "${template}"`);
  }
  return [before, after];
}
