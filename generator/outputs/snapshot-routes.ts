/** The route table in snapshot.json, by which proxy and edge servers find files and headers. */
import { basename } from 'node:path/posix';
import { routeHeaders } from '../routes/headers.js';
import { BUCKETS, CACHE_CLASSES, UNSIGNED_CLASSES, filler, isDated } from '../routes/index.js';
import type { Route } from '../routes/index.js';
import { parameters } from './parameters.js';
import { mapped, part, value, valuesOf } from './parts.js';
import type { Part } from './parts.js';

export interface PublishedRoute {
  readonly route: Route;
  /** The newest measurement in the bulk downloads. */
  readonly asOf: string | null;
  /** The lowest key of its files. */
  readonly firstKey: number | undefined;
}

/** A dated name for a download: `groups.csv.gz` -> `groups-2026-11-20.csv.gz` (newest measurement). */
function dated(path: string, asOf: string | null): string {
  const [stem = '', ...suffixes] = basename(path).split('.');
  const day = asOf === null ? [] : [asOf.slice(0, 'YYYY-MM-DD'.length)];
  return [[stem, ...day].join('-'), ...suffixes].join('.');
}

export const HEADER = value('{header}', 'text', 'nosniff', 'Value of the header.');

/** @param isSigned whether there is a signed log, which has routes of its own */
export const publishedRoute = (isSigned: boolean): readonly Part<PublishedRoute>[] => [
  part(value('name', 'text', 'group', 'Name of the route.'), ({ route }) => route.name),
  part(
    value('path', 'text', '/api/v1/group/{id}', 'Path, with its parameters in braces.'),
    ({ route }) => route.path,
  ),
  part(
    value('file', 'text', 'api/v1/group/{id}.json', 'File that is served, relative to the root of the tree.'),
    ({ route }) => route.file,
  ),
  part(
    value('class', 'enum', 'record', 'How long the response may be cached.', {
      values: isSigned ? CACHE_CLASSES : UNSIGNED_CLASSES,
    }),
    ({ route }) => route.class,
  ),
  part(
    value('bucket', 'enum', 'api', 'The limit it counts against. A download counts against api, too.', {
      values: BUCKETS,
    }),
    ({ route }) => route.bucket,
  ),
  part(
    value('type', 'text', 'application/json; charset=utf-8', 'Media type of the response.'),
    ({ route }) => route.type,
  ),
  part(
    value('attachment', 'text', 'groups-2026-11-20.csv', 'File name to save it under, if it is a download.', {
      optional: true,
    }),
    ({ route, asOf }) => (isDated(route) ? dated(route.path, asOf) : undefined),
  ),
  mapped('headers', 'On its 200 and 206, besides those of the class.', HEADER, ({ route }) =>
    routeHeaders(route),
  ),
  part(
    value('description', 'text', 'Measured record of one group', 'What it returns.'),
    ({ route }) => route.description,
  ),
  { shape: parameters(isSigned).shape, of: ({ route }) => parameters(isSigned).of(route) },
  part(
    value('example', 'path', '/api/v1/group/7', 'An example of a URL.', { optional: true }),
    ({ route, firstKey }) =>
      route.example ??
      // The example of a route by id is its first record.
      (route.path.includes('{') && firstKey !== undefined ? filler(route.path)(firstKey) : undefined),
  ),
  part(
    value(
      'absent',
      'text',
      'no group {id} in this register',
      'Detail of the 404 for a valid URL that has no file, with parameters in braces.',
      { optional: true },
    ),
    ({ route }) => route.absent,
  ),
  part(
    value(
      'requires',
      'text',
      'group',
      'Name of a route: unless its document with the same parameters is published, the response is a 404.',
      { optional: true },
    ),
    ({ route }) => route.requires,
  ),
];

/** A route that needs nothing of the register, as snapshot.json has it. */
export const describeRoute = (route: Route): object =>
  valuesOf(publishedRoute(true), { route, asOf: null, firstKey: undefined });
