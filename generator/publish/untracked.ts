/** Untracked files: without snapshot.json, those at routes' paths that the build did not write. */
import { entriesIn } from '../incremental/hash-file.js';
import { filler } from '../routes/index.js';
import { COMPRESSED_FROM_BYTES } from './codings.js';
import { RouteWalk } from './scan.js';
import type { Scan } from './scan.js';
import type { PublishedRoute } from './snapshot-json.js';

/**
 * @param index the route's next index
 * @param remove called with each file to remove
 * @returns how many documents replace a file, and how many are removed
 */
export function removeUntracked(
  route: PublishedRoute,
  keys: Scan['keys'],
  index: string,
  remove: (file: string) => void,
): { readonly replaced: number; readonly removed: number } {
  const file = filler(route.file);
  let [replaced, removed] = [0, 0];
  const walk = new RouteWalk(route, COMPRESSED_FROM_BYTES, keys, (name, key) => {
    remove(name);
    if (name === file(key)) removed += 1;
  });
  for (const entry of entriesIn(index)) if (walk.meet(entry)[0]?.found === true) replaced += 1;
  walk.finish();
  return { replaced, removed };
}
