/**
 * The digest of a tree: SHA-256 over a line `ROUTE COUNT ROOT` for each route, in route-table
 * order. COUNT is the number of its documents, ROOT the base64 RFC 6962 tree head over its chunks.
 * A chunk (see chunks.ts) is the `SHA256  /path` lines of neighbouring documents in key order, as
 * sha256sum writes them: the state keeps the documents, and makes the lines (see state/).
 */
import { hash } from 'node:crypto';
import type { PublishedRoute } from './published-routes.js';

/** What the digest says of a route's documents, and how many bytes they have. */
export interface RouteSummary {
  readonly documents: number;
  readonly bytes: number;
  /** The lowest key; null if there are no documents. */
  readonly firstKey: number | null;
  /** The head over the chunks, in base64. */
  readonly root: string;
}

/** The digest of a tree, in hex. */
export const treeDigest = (
  routes: readonly PublishedRoute[],
  summaryOf: (route: PublishedRoute) => RouteSummary,
): string =>
  hash(
    'sha256',
    routes
      .map((route) => {
        const { documents, root } = summaryOf(route);
        return `${route.name} ${documents} ${root}\n`;
      })
      .join(''),
  );
