/** What is left of earlier snapshots, where it is not known what they published. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { templatePattern } from '../routes/keys.js';
import { filler, urlsOf } from '../routes/route.js';
import { namesOfDocuments, locator } from '../tree/locate.js';
import { pagesOf, type PublishedRoute } from '../tree/published-routes.js';
import { filesBelow } from '../tree/scan.js';
import type { Tree } from '../tree/tree.js';
import type { Listed } from './lists.js';
import { stagePaths, type Gone, type StageSpec } from './stage.js';

/**
 * The published files to which a route leads, as itself or as a compressed sibling, and which are not staged:
 * everything else was written. Files of others are left alone.
 * @param routes those of the last snapshot and of the next
 * @param kept former assets
 */
export function* unwritten(
  { out }: Tree,
  { stage }: StageSpec,
  routes: readonly PublishedRoute[],
  kept: readonly Listed[],
): Generator<Gone> {
  const locate = locator(routes);
  const earlier = routes.filter(isOfEarlier).map((route) => {
    return new RegExp(`^${templatePattern(route.file, () => '.+')}$`);
  });
  const { tree } = stagePaths(stage);
  const stays = new Set(['snapshot.json', ...kept.map(({ file }) => file)]);
  for (const file of filesBelow(out, '')) {
    if (namesOfDocuments(file).some(([name]) => stays.has(name)) || existsSync(join(tree, file))) continue;
    const found = locate(file);
    if (found !== undefined) {
      const { route, key, suffix } = found;
      const pages = new Set(pagesOf(route, routes).map((page) => filler(page)(key)));
      yield { file, urls: suffix === '' ? [...urlsOf(route)(key), ...pages] : [] };
      continue;
    }
    for (const [name, suffix] of namesOfDocuments(file))
      if (earlier.some((pattern) => pattern.test(name)))
        yield { file, urls: suffix === '' ? [`/${name}`] : [] };
  }
}

/** Whether a route has parameters that only an earlier version knew, such as months. */
const isOfEarlier = ({ file, parameters = [] }: PublishedRoute): boolean =>
  file.includes('{') && parameters.length === 0;
