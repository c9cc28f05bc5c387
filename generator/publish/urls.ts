/** The URLs and files of a route's documents. */
import { filler, urlTemplate } from '../routes/route.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** Whether a route's documents are variants of one, by a query parameter. */
export const isVariant = ({ parameters = [] }: PublishedRoute): boolean =>
  parameters.some((parameter) => parameter.in === 'query');

/** The URL path of a document, and its alias if a parameter has the default value. */
export function urlsOf(route: PublishedRoute): (key: number) => readonly [string, ...string[]] {
  const url = filler(urlTemplate(route));
  const fallback = route.parameters?.find((parameter) => parameter.in === 'query')?.default;
  return (key) => (key === fallback ? [url(key), route.path] : [url(key)]);
}
