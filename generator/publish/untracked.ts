/** Files that lie where a route's files would, in a tree that has no snapshot.json, and are none of them. */
import { entriesIn } from '../incremental/hash-file.js';
import { filler } from '../routes/index.js';
import { COMPRESSED_FROM_BYTES } from './codings.js';
import { RouteWalk } from './scan.js';
import type { Scan } from './scan.js';
import type { PublishedRoute } from './snapshot-json.js';

/**
 * @param index the route's next index
 * @param remove is called with each file that is to be removed
 * @returns how many documents take the place of a file, and how many are removed
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
