/**
 * Every URL of the service, once. The index, the published route table that the proxy reads, the links in
 * records and the names of files all follow from here.
 */

import { archiveText } from './archive-keys.js';
import { FEED_ROUTES } from './feed-routes.js';
import { TABLES } from './resources/index.js';

/** Which row of the caching table a response belongs to. */
export const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

/** How record files are spread over folders: `url` mirrors the URLs, `bucketed` adds 1,000 folders by last digits. */
export const LAYOUTS = ['url', 'bucketed'] as const;
export type Layout = (typeof LAYOUTS)[number];

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

/** One URL template and the file template that answers it; both use `{parameter}`, files also `{parameter:bucket}`. */
export interface Route {
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly class: CacheClass;
  readonly type: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  /** A URL to try; a route by id gets one from the register. */
  readonly example?: string;
  /** Whether /api/v1 lists it: the endpoints of the specification. */
  readonly listed: boolean;
}

export const PATHS = {
  base: '/api/v1',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  bulk: '/downloads',
  feeds: '/feeds',
} as const;

export const LARGEST_LIMIT = { minimum: 1, maximum: 200, default: 100 } as const;

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

const byId = (description: string): readonly [IdParameter] => [
  { name: 'id', in: 'path', type: 'id', description },
];

type Endpoint = Omit<Route, 'file' | 'type' | 'listed'> & Partial<Pick<Route, 'file' | 'type'>>;

const RECORDS: readonly Endpoint[] = [
  {
    name: 'group',
    path: '/api/v1/group/{id}',
    class: 'record',
    description: 'Measured record of one group',
    parameters: byId('numeric group id'),
  },
  {
    name: 'user',
    path: '/api/v1/user/{id}',
    class: 'record',
    description: 'Measured record of one user',
    parameters: byId('numeric user id'),
  },
  {
    name: 'game',
    path: '/api/v1/game/{id}',
    class: 'record',
    description: 'Measured record of one experience',
    parameters: byId('numeric universe id'),
  },
  {
    name: 'item',
    path: '/api/v1/item/{id}',
    class: 'record',
    description: 'Measured record of one catalogue item',
    parameters: byId('numeric asset id'),
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
  },
  {
    name: 'user-usernames',
    path: '/user/{id}/usernames.json',
    class: 'record',
    description: 'Observed username history of one user',
    parameters: byId('numeric user id'),
  },
];

/** What the publisher itself writes: described here, not listed among the endpoints of the specification. */
const PUBLISHING: readonly Endpoint[] = [
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
  },
];

/** The files in which each table of the bulk downloads is published. */
export const EXPORT_FORMATS = [
  { format: 'csv', type: 'text/csv; charset=utf-8; header=present', words: 'CSV' },
  { format: 'csv.gz', type: 'application/gzip', words: 'CSV, compressed' },
  { format: 'parquet', type: 'application/vnd.apache.parquet', words: 'Parquet' },
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number]['format'];

/** The route of an export's file. */
export const exportRoute = (table: string, format: ExportFormat): string =>
  `download-${table}-${format.replace('.', '-')}`;
/** Where it lies in the tree. */
export const exportFile = (table: string, format: ExportFormat): string => `downloads/${table}.${format}`;

/** The bulk downloads: whole populations, and what describes them. */
const DOWNLOADS: readonly Endpoint[] = [
  ...TABLES.filter(({ kind }) => kind !== null).flatMap(({ name }) =>
    EXPORT_FORMATS.map(({ format, type, words }): Endpoint => ({
      name: exportRoute(name, format),
      path: `${PATHS.bulk}/${name}.${format}`,
      file: exportFile(name, format),
      class: 'download',
      type,
      description: `All of ${name}, as ${words}`,
    })),
  ),
  // These describe the files and are no download: they cost no more than a record does.
  {
    name: 'datapackage',
    path: `${PATHS.bulk}/datapackage.json`,
    class: 'summary',
    description: 'The downloads as a Data Package: every file, every column',
  },
  {
    name: 'checksums',
    path: `${PATHS.bulk}/SHA256SUMS`,
    file: 'downloads/SHA256SUMS',
    class: 'summary',
    type: TEXT_TYPE,
    description: 'Checksums of the downloads, for sha256sum',
  },
  {
    name: 'downloads-readme',
    path: `${PATHS.bulk}/README.txt`,
    file: 'downloads/README.txt',
    class: 'summary',
    type: TEXT_TYPE,
    description: 'What the downloads hold, and how to read them',
  },
];

/** Whether a route is one of the bulk downloads or describes them. */
export const isBulk = ({ path }: Pick<Route, 'path'>): boolean => path.startsWith(`${PATHS.bulk}/`);

/** `/api/v1/group/{id}` -> `api/v1/group/{id}.json`: what any static host finds by adding the suffix. */
function fileOf({ path, file }: Endpoint): string {
  if (file !== undefined) return file;
  const bare = path.slice(1);
  return bare.endsWith('.json') ? bare : `${bare}.json`;
}

/** `api/v1/group/{id}.json` -> `api/v1/group/{id:bucket}/{id}.json`. */
const bucketed = (file: string): string => file.replace('{id}', '{id:bucket}/{id}');

/** Where a file of this template lies in the other layout; the same where layouts make no difference. */
export const elsewhere = (file: string): string =>
  file.includes(':bucket}/') ? file.replace(/\{\w+:bucket\}\//, '') : bucketed(file);

/** The route table for a layout. */
export function routes(layout: Layout): readonly Route[] {
  const complete = (listed: boolean) => (endpoint: Endpoint) => ({
    ...endpoint,
    file: layout === 'bucketed' ? bucketed(fileOf(endpoint)) : fileOf(endpoint),
    type: endpoint.type ?? JSON_TYPE,
    listed,
  });
  return [
    ...ENDPOINTS.map(complete(true)),
    ...FEED_ROUTES.map((route) => ({ ...route, listed: false })),
    ...[...DOWNLOADS, ...PUBLISHING].map(complete(false)),
  ];
}

/** The route of that name. */
export function routeNamed(table: readonly Route[], name: string): Route {
  const route = table.find((candidate) => candidate.name === name);
  if (route === undefined) throw new TypeError(`no route is named "${name}"`);
  return route;
}

/**
 * `123456` and the template `{id:bucket}/{id}` -> `456/123456`; `20261199999` and `{month}` -> `2026-11`. Compiled
 * once, filled in millions of times.
 */
export function filler(template: string): (value: number) => string {
  const pieces = template.split(/(\{\w+(?::bucket)?\})/);
  if (pieces.length === 1) return () => template;
  return (value) => {
    let filled = '';
    for (const piece of pieces) {
      if (!piece.startsWith('{')) filled += piece;
      else if (piece === '{month}') filled += archiveText(value);
      else filled += piece.endsWith(':bucket}') ? String(value % 1000).padStart(3, '0') : String(value);
    }
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
