/** Which routes of the next snapshot are compared with which of the previous one. */
import { FORMER } from '../routes/pages.js';
import { isRendered } from '../tree/published-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** A route whose documents are compared with those of the previous snapshot. */
export interface ComparedRoute {
  readonly route: PublishedRoute;
  /** The name of its index in the previous snapshot, if files and URLs are the same there. */
  readonly index: string | undefined;
  /** Whether the next snapshot no longer has the route; then its name gets a prefix. */
  readonly isFormer: boolean;
  /** The paths of pages that are there only along with a document of the route. */
  readonly pages: readonly string[];
}

const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
  one.name === other.name && one.path === other.path && one.file === other.file;

const pagesOf = ({ name }: PublishedRoute, table: readonly PublishedRoute[]): readonly string[] =>
  table.flatMap(({ requires, path }) => (requires === name ? [path] : []));

/** The routes of the next snapshot, and those that only the previous one has. */
export function comparedRoutes(
  previous: readonly PublishedRoute[],
  next: readonly PublishedRoute[],
): readonly ComparedRoute[] {
  const routes = next.filter(isRendered);
  const old = previous.filter(isRendered);
  return [
    ...routes.map((route) => {
      const index = old.some((other) => isSame(route, other)) ? route.name : undefined;
      return { route, index, isFormer: false, pages: pagesOf(route, next) };
    }),
    ...old
      .filter((route) => !routes.some((other) => isSame(route, other)))
      .map((route) => ({
        route: { ...route, name: FORMER + route.name },
        index: route.name,
        isFormer: true,
        pages: pagesOf(route, previous),
      })),
  ];
}
