/**
 * The digest of a tree: SHA-256 over a line `ROUTE COUNT ROOT` for each route, in route-table
 * order. COUNT is the number of its documents, ROOT the base64 RFC 6962 tree head over its chunks.
 * A chunk (see chunks.ts) is the `SHA256  /path` lines of neighbouring documents in key order.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DIGEST_CHUNK, beginsChunk } from './chunks.js';
import { entriesIn } from './hash-file.js';
import type { Entry } from './hash-file.js';
import type { RouteSummary } from './index-json.js';
import { TreeHead, leafHash } from './merkle.js';
import { filler, urlTemplate } from '../routes/index.js';
import type { PublishedRoute } from './published-routes.js';

/** The line of a document, as sha256sum writes it. */
export const digestLine = (
  { key, hash }: Pick<Entry, 'key' | 'hash'>,
  url: (key: number) => string,
): string => `${hash.toString('hex')}  ${url(key)}\n`;

/** A chunk: the key of its first document, its text and its leaf hash. */
export interface Chunk {
  readonly key: number;
  readonly text: string;
  readonly leaf: Buffer;
}

/**
 * Summarises a route's documents.
 * @param index the route's index file
 * @param onChunk called with each chunk, in key order
 */
export function summarise(
  index: string,
  route: Pick<PublishedRoute, 'path' | 'parameters'>,
  onChunk?: (chunk: Chunk) => void,
): RouteSummary {
  const url = filler(urlTemplate(route));
  const tree = new TreeHead();
  let text = '';
  let key = 0;
  let [documents, bytes] = [0, 0];
  let firstKey: number | null = null;
  const finish = (): void => {
    if (text === '') return;
    const leaf = leafHash(text);
    tree.add(leaf);
    onChunk?.({ key, text, leaf });
    text = '';
  };
  for (const entry of entriesIn(index)) {
    if (beginsChunk(entry.key, DIGEST_CHUNK)) finish();
    if (text === '') key = entry.key;
    text += digestLine(entry, url);
    documents += 1;
    bytes += entry.bytes;
    firstKey ??= entry.key;
  }
  finish();
  return { documents, bytes, firstKey, root: tree.head().toString('base64') };
}

/** The line of a route. @param root in base64 */
export const routeLine = ({
  name,
  count,
  root,
}: {
  readonly name: string;
  readonly count: number;
  readonly root: string;
}): string => `${name} ${count} ${root}\n`;

/** The text that the digest is the hash of: a line for each route. */
export const routesText = (
  routes: readonly PublishedRoute[],
  summaryOf: (route: PublishedRoute) => RouteSummary,
): string =>
  routes
    .map((route) => {
      const { documents: count, root } = summaryOf(route);
      return routeLine({ name: route.name, count, root });
    })
    .join('');

/** The digest of a tree, in hex, of the text that it is the hash of. */
export const digestOf = (text: string): string => hash('sha256', text);

/** The digest of a tree, in hex. */
export const treeDigest = (
  routes: readonly PublishedRoute[],
  summaryOf: (route: PublishedRoute) => RouteSummary,
): string => digestOf(routesText(routes, summaryOf));

/** The digest of the tree that an index describes. @param folder the index's folder */
export const indexDigest = (folder: string, routes: readonly PublishedRoute[]): string =>
  treeDigest(routes, (route) => summarise(join(folder, route.name), route));
