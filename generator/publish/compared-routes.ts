/** Which routes of the next snapshot are compared with which of the previous one. */
import { join } from 'node:path';
import { FORMER } from '../routes/pages.js';
import { isRendered } from '../tree/published-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** A route whose documents are compared with those of the previous snapshot. */
export interface ComparedRoute {
  readonly route: PublishedRoute;
  /** Its index in the previous snapshot, if files and URLs are the same there. */
  readonly index: string | undefined;
  /** Whether the next snapshot no longer has the route; then its name gets a prefix. */
  readonly isFormer: boolean;
  /** The paths of pages that are there only along with a document of the route. */
  readonly pages: readonly string[];
}

/** What of a route locates its documents: the rest can't be sent to a thread. */
const published = (route: PublishedRoute): PublishedRoute => {
  const { name, path, file, class: cacheClass, parameters, requires } = route;
  const optional = { ...(parameters && { parameters }), ...(requires !== undefined && { requires }) };
  return { name, path, file, class: cacheClass, ...optional };
};

const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
  one.name === other.name && one.path === other.path && one.file === other.file;

const pagesOf = ({ name }: PublishedRoute, table: readonly PublishedRoute[]): readonly string[] =>
  table.flatMap(({ requires, path }) => (requires === name ? [path] : []));

/** The routes of the next snapshot, and those that only the previous one has. @param folder of its index */
export function comparedRoutes(
  folder: string,
  previous: readonly PublishedRoute[],
  next: readonly PublishedRoute[],
): readonly ComparedRoute[] {
  const routes = next.filter(isRendered).map(published);
  const old = previous.filter(isRendered).map(published);
  return [
    ...routes.map((route) => {
      const index = old.some((other) => isSame(route, other)) ? join(folder, route.name) : undefined;
      return { route, index, isFormer: false, pages: pagesOf(route, next) };
    }),
    ...old
      .filter((route) => !routes.some((other) => isSame(route, other)))
      .map((route) => ({
        route: { ...route, name: FORMER + route.name },
        index: join(folder, route.name),
        isFormer: true,
        pages: pagesOf(route, previous),
      })),
  ];
}

/** The routes of the next snapshot among those that are compared. */
export const nextRoutes = (routes: ReadonlyMap<string, ComparedRoute>): readonly PublishedRoute[] =>
  [...routes.values()].flatMap(({ route, isFormer }) => (isFormer ? [] : [route]));
