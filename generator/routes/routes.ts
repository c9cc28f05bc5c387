/**
 * The route table: every URL of the service. The index, the routes that the proxy reads, the links
 * in records and the file names are derived from it.
 */
import { ALIASES, ENDPOINTS } from './endpoints.js';
import { EXPORT_ROUTES } from './exports.js';
import { FEED_ROUTES } from './feeds.js';
import { LOOKUP } from './lookup.js';
import type { Document, Resource } from '../schema/field.js';
import { documentsOf } from '../schema/schema.js';
import { absenceOf, descriptionFor, type Measured } from '../schema/measured.js';
import type { Endpoint, Route, UnlistedRoute } from './route.js';
import { FORMER_ASSETS, pageRoutes, RECORD_PAGES } from './pages.js';
import { LISTS } from './lists.js';
import { PATHS } from './paths.js';
import { BUNDLE, PUBLISHING } from './publishing.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** What the OpenAPI description has besides documents: itself, the list of the downloads, and what changed. */
const DESCRIBED = new Set(['openapi', 'datapackage', BUNDLE.name]);

/** Whether the OpenAPI description has a route: pages have their own links, downloads and feeds stand on pages. */
export const isDescribed = ({ name, class: cacheClass }: Route): boolean =>
  cacheClass === 'record' || cacheClass === 'summary' || DESCRIBED.has(name);

/** Families of endpoints by the beginnings of their names, which come after all others in the index. */
const LAST = ['lookup', 'owners', 'ids', 'change', 'snapshot', 'openapi', 'datapackage'];

const place = ({ name }: Route): number => LAST.findIndex((family) => name.startsWith(family));

/** The endpoints that answer JSON, as /api/v1 lists them: those of the specification first. */
export function endpointsIn(table: readonly Route[]): readonly Route[] {
  return table
    .filter((route) => route.type === JSON_TYPE && isDescribed(route))
    .toSorted((a, b) => place(a) - place(b));
}

/** `/api/v1/group/{id}` -> `api/v1/group/{id}.json`: static hosts find it by adding the suffix. */
function fileOf({ path, file }: Endpoint): string {
  if (file !== undefined) return file;
  const bare = path.slice(1);
  return bare.endsWith('.json') ? bare : `${bare}.json`;
}

const unlisted = (route: UnlistedRoute): Route => ({ bucket: 'api', ...route });

const complete = (endpoint: Endpoint): Route => ({
  ...endpoint,
  file: fileOf(endpoint),
  bucket: 'api',
  type: JSON_TYPE,
});

/** The route table. */
export const ROUTES: readonly Route[] = [
  ...ENDPOINTS.map(complete),
  ...LOOKUP.map(complete),
  ...LISTS.map(complete),
  ...ALIASES.map(complete),
  ...[...EXPORT_ROUTES, ...FEED_ROUTES].map(unlisted),
  ...PUBLISHING.map(complete),
  unlisted(BUNDLE),
  ...[...pageRoutes(PATHS), ...FORMER_ASSETS, ...RECORD_PAGES].map(unlisted),
];

/** Whether a register has something to publish at a route. */
export const isMeasured = ({ measures }: Pick<Route, 'measures'>, measured: Measured): boolean =>
  measured.hasAny(measures);

/** The documents that a register has of each record of a kind. */
export const measuredDocuments = (resource: Resource, measured: Measured): readonly Document[] =>
  documentsOf(resource).filter(({ route }) => isMeasured(routeNamed(ROUTES, route), measured));

/** The table as it is for a register: what there is at a route, or why there is nothing. */
export const tableFor = (table: readonly Route[], measured: Measured): readonly Route[] =>
  table.map((route) => ({
    ...route,
    description: descriptionFor(route, measured),
    ...(isMeasured(route, measured) ? {} : { absent: absenceOf(route.measures ?? [], measured) }),
  }));

export function routeNamed<R extends Pick<Route, 'name'>>(table: readonly R[], name: string): R {
  const route = table.find((candidate) => candidate.name === name);
  if (route === undefined) throw new TypeError(`no route is named "${name}"`);
  return route;
}
