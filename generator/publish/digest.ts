/**
 * The digest of a tree: SHA-256 over a line `ROUTE COUNT ROOT` for each route, in the order of the route table. COUNT
 * is the number of its documents, ROOT the base64 of the RFC 6962 tree head over its chunks. A chunk (see chunks.ts)
 * is the lines `SHA256  /path` of some neighbouring documents in the order of their keys, as sha256sum writes them.
 */
import { createHash } from 'node:crypto';
import { DIGEST_CHUNK, beginsChunk } from '../incremental/chunks.js';
import { filler, urlTemplate } from '../routes.js';
import { LedgerReader } from './ledger.js';
import type { PublishedRoute } from './manifest.js';
import { TreeHead, leafHash } from './tree-head.js';

/** The digest of the tree that a ledger describes, in hex. */
export function treeDigest(folder: string, routes: readonly PublishedRoute[]): string {
  const digest = createHash('sha256');
  for (const route of routes) digest.update(routeLine(folder, route));
  return digest.digest('hex');
}

function routeLine(folder: string, route: PublishedRoute): string {
  const url = filler(urlTemplate(route));
  const reader = LedgerReader.open(folder, route.name);
  const tree = new TreeHead();
  let chunk: string[] = [];
  let count = 0;
  for (const { key, hash } of reader?.entries() ?? []) {
    if (chunk.length > 0 && beginsChunk(key, DIGEST_CHUNK)) {
      tree.add(leafHash(chunk.join('')));
      chunk = [];
    }
    chunk.push(`${hash.toString('hex')}  ${url(key)}\n`);
    count += 1;
  }
  if (chunk.length > 0) tree.add(leafHash(chunk.join('')));
  reader?.close();
  return `${route.name} ${count} ${tree.head().toString('base64')}\n`;
}
