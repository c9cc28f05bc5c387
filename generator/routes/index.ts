/**
 * The route table: every URL of the service. The index, the routes that the proxy reads, the links
 * in records and the file names are derived from it.
 */
import { pageRoutes } from './pages.js';

import { archiveText } from './archive-keys.js';
import { FEED_ROUTES } from './feeds.js';
import { BULK, EXPORT_ROUTES } from './exports.js';

/** The classes of responses with different cache lifetimes. */
export const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page', 'asset'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

/** The rate limits that a request may count against. */
export const BUCKETS = ['api', 'download', 'page'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The limits that a request counts against, by the bucket of its route. */
export const countedBy = (bucket: Bucket): readonly Bucket[] =>
  bucket === 'download' ? ['download', 'api'] : [bucket];

export interface IdParameter {
  readonly name: string;
  readonly in: 'path';
  readonly type: 'id';
  readonly description: string;
}

/** A month or a part of one (see archive-keys.ts). In every template its name is `month`. */
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

/** A URL template and the template of the files it serves; both use `{parameter}`. */
export interface Route {
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly class: CacheClass;
  /** The limit that a request counts against; a download counts against `api` as well. */
  readonly bucket: Bucket;
  readonly type: string;
  /** What a CDN can purge it by, together with others; its class by default. */
  readonly tag?: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  /** A URL to try; a route by id gets one from the register. */
  readonly example?: string;
  /** The detail of a 404 for a valid URL without a file, with parameters in braces. */
  readonly absent?: string;
  /** Whether /api/v1 lists it, as an endpoint of the specification. */
  readonly listed: boolean;
}

/** A route that /api/v1 does not list; its bucket is `api` by default. */
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
    tag: 'group',
    description: 'Measured record of one group',
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
  },
  {
    name: 'user',
    path: '/api/v1/user/{id}',
    class: 'record',
    tag: 'user',
    description: 'Measured record of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
  },
  {
    name: 'game',
    path: '/api/v1/game/{id}',
    class: 'record',
    tag: 'game',
    description: 'Measured record of one experience',
    parameters: byId('numeric universe id'),
    absent: 'no game {id} in this register',
  },
  {
    name: 'item',
    path: '/api/v1/item/{id}',
    class: 'record',
    tag: 'item',
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
    description: 'The largest measured groups, up to the limit',
    example: '/api/v1/largest?limit=10',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        type: 'integer',
        ...LARGEST_LIMIT,
        description: 'maximum number of groups',
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
    tag: 'group',
    description: 'Full member, name and ownership history of one group',
    parameters: byId('numeric group id'),
    absent: 'no group {id} in this register',
  },
  {
    name: 'user-usernames',
    path: '/user/{id}/usernames.json',
    class: 'record',
    tag: 'user',
    description: 'Observed username history of one user',
    parameters: byId('numeric user id'),
    absent: 'no user {id} in this register',
  },
];

/** Routes about the service itself, which are not listed. The publisher writes all but openapi. */
const PUBLISHING: readonly Endpoint[] = [
  // Plain JSON, not application/openapi+json: every tool accepts it, and browsers display it.
  {
    name: 'openapi',
    path: PATHS.description,
    class: 'page',
    description: 'OpenAPI 3.1 description of the API',
  },
  {
    name: 'snapshot',
    path: '/snapshot.json',
    class: 'summary',
    description: 'The published snapshot: its number, time, contents and size',
  },
  {
    name: 'changes',
    path: '/changes/index.json',
    class: 'summary',
    description: 'The newest snapshots and what each of them changed',
  },
  {
    name: 'change-list',
    path: '/changes/{sequence}.json',
    file: 'changes/{sequence}.json',
    class: 'summary',
    description: 'Every URL that one snapshot added, changed or removed',
    parameters: [{ name: 'sequence', in: 'path', type: 'id', description: 'number of the snapshot' }],
    absent: 'no change list {sequence}',
  },
];

/** Whether a route serves an API document or a feed, as opposed to anything derived from them. */
export const isDocument = ({ path, class: cacheClass }: Pick<Route, 'path' | 'class'>): boolean =>
  cacheClass !== 'page' && cacheClass !== 'asset' && !/^\/(downloads|\.well-known)\//.test(path);

/** `/api/v1/group/{id}` -> `api/v1/group/{id}.json`: static hosts find it by adding the suffix. */
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

export function routeNamed(table: readonly Route[], name: string): Route {
  const route = table.find((candidate) => candidate.name === name);
  if (route === undefined) throw new TypeError(`no route is named "${name}"`);
  return route;
}

/** `123456` in `group/{id}` -> `group/123456`; `20261199999` in `{month}` -> `2026-11`. */
export function filler(template: string): (value: number) => string {
  const [start = '', ...rest] = template.split(/(\{\w+\})/);
  // Parsed once, filled millions of times.
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

/** A route's URL template, with any query parameter: `/api/v1/largest?limit={limit}`. */
export function urlTemplate({ path, parameters = [] }: Pick<Route, 'path' | 'parameters'>): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return query.length === 0 ? path : `${path}?${query.map(({ name }) => `${name}={${name}}`).join('&')}`;
}

/** Splits a path template around its only parameter. */
export function halves(template: string): readonly [string, string] {
  const [before, after, ...more] = template.split(/\{\w+\}/);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new TypeError(`expected one parameter in the template "${template}"`);
  }
  return [before, after];
}
