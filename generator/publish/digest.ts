/**
 * The digest of a tree: SHA-256 over one line a file, `SHA256  URL-path LF` (the format of sha256sum), sorted by
 * the bytes of the path. Whoever holds a copy can compute it with `sort` and `sha256sum`; layout plays no part.
 */
import { createHash } from 'node:crypto';
import type { LedgerReader } from './ledger.js';
import type { PublishedRoute } from './manifest.js';
import { runsOf } from './runs.js';

/** What is hashed at once: 64 KiB. */
const LINES_BYTES = 64 * 1024;
/** A SHA-256 in hex. */
const HASH_CHARACTERS = 64;

/** Calls for every file of a ledger, in order of the bytes of its URL path. Memory does not grow with the tree. */
function inOrder(
  folder: string,
  routes: readonly PublishedRoute[],
  take: (reader: LedgerReader, line: Buffer) => void,
): void {
  const runs = routes
    .flatMap((route) => [...runsOf(folder, route)])
    .toSorted((a, b) => (a.isBefore(b) ? -1 : 1));
  for (let first = runs.at(0); first !== undefined; first = runs.at(0)) {
    if (!first.takeBefore(runs[1], take)) {
      first.close();
      runs.shift();
      continue;
    }
    // It sinks to where it belongs, mostly not far.
    for (let at = 1; ; at += 1) {
      const other = runs[at];
      if (other === undefined || first.isBefore(other)) break;
      runs[at - 1] = other;
      runs[at] = first;
    }
  }
}

/** The digest of the tree that a ledger describes, in hex. */
export function treeDigest(folder: string, routes: readonly PublishedRoute[]): string {
  const digest = createHash('sha256');
  const lines = Buffer.alloc(LINES_BYTES);
  const view = new DataView(lines.buffer, lines.byteOffset, lines.length);
  let used = 0;
  inOrder(folder, routes, (reader, line) => {
    if (used + HASH_CHARACTERS + line.length > LINES_BYTES) {
      digest.update(lines.subarray(0, used));
      used = 0;
    }
    reader.writeHash(view, used);
    used += HASH_CHARACTERS;
    lines.set(line, used);
    used += line.length;
  });
  return digest.update(lines.subarray(0, used)).digest('hex');
}
