/** Which routes of the next snapshot are compared with which of the previous one. */
import { FORMER } from '../routes/pages.js';
import type { ComparedRoute } from '../state/next.js';
import type { StateRoute } from '../state/state.js';
import { isRendered, type PublishedRoute } from '../tree/published-routes.js';

/** What of a route locates its documents: the rest can't be sent to a thread. */
const published = (route: PublishedRoute): PublishedRoute => {
  const { name, path, file, class: cacheClass, parameters, requires } = route;
  const optional = { ...(parameters && { parameters }), ...(requires !== undefined && { requires }) };
  return { name, path, file, class: cacheClass, ...optional };
};

const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
  one.name === other.name && one.path === other.path && one.file === other.file;

/** The paths of pages that are there only along with a document of a route. */
export const pagesOf = ({ name }: PublishedRoute, table: readonly PublishedRoute[]): readonly string[] =>
  table.flatMap(({ requires, path }) => (requires === name ? [path] : []));

/**
 * The routes of the next snapshot, and those that only the previous one has, whose names get a prefix.
 * @param known the routes of the state
 * @param staying the files of former assets
 */
export function comparedRoutes(
  known: readonly StateRoute[],
  next: readonly PublishedRoute[],
  staying: ReadonlySet<string>,
): readonly ComparedRoute[] {
  const old = known.filter(({ isFormer }) => !isFormer);
  let unused = Math.max(0, ...known.map(({ id }) => id));
  const routes = next.filter(isRendered).map((route): ComparedRoute => {
    const before = old.find((other) => isSame(route, other.route));
    const id = before?.id ?? (unused += 1);
    const pages = pagesOf(route, next);
    const isPublished = before !== undefined;
    return {
      id,
      route: published(route),
      pages,
      isPublished,
      isFormer: false,
      stays: false,
    };
  });
  const former = old
    .filter(({ id }) => !routes.some((route) => route.id === id))
    .map(({ id, route, pages }): ComparedRoute => ({
      id,
      route: { ...route, name: FORMER + route.name },
      pages,
      isPublished: true,
      isFormer: true,
      stays: staying.has(route.file),
    }));
  return [...routes, ...former];
}

/** The routes of the next snapshot among those that are compared. */
export const nextRoutes = (routes: ReadonlyMap<string, ComparedRoute>): readonly PublishedRoute[] =>
  [...routes.values()].flatMap(({ route, isFormer }) => (isFormer ? [] : [route]));
