/** The list of files that a commit deletes, also where it is not known what earlier snapshots published. */
import { existsSync, rmSync } from 'node:fs';
import { LineWriter } from '../base/files.js';
import { join } from 'node:path';
import { templatePattern } from '../routes/keys.js';
import { filler, urlsOf } from '../routes/route.js';
import { aliasPatterns, namesOfDocuments, locator } from '../tree/locate.js';
import { pagesOf, type PublishedRoute } from '../tree/published-routes.js';
import { filesBelow, type Tree } from '../tree/tree.js';
import type { Listed } from './lists.js';
import { linesIn } from './operator-lists.js';
import { stagePaths, type StageSpec } from './stage.js';

/** A file to delete, and the URLs that it answered. */
export interface Gone {
  readonly file: string;
  readonly urls: readonly string[];
}

/**
 * The files of a tree to which a route leads, compressed siblings included, and which are not staged: where
 * nothing is known, every document is. Files to which no route leads are somebody else's.
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
  const earlier = routes.filter(isOfFormat4).map((route) => {
    return new RegExp(`^${templatePattern(route.file, () => '.+')}$`);
  });
  const isAlias = aliasPatterns(routes);
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
    if (isAlias(file)) {
      yield { file, urls: file.endsWith('.json') ? [`/${file.replace(/\.json$/, '')}`] : [] };
      continue;
    }
    for (const [name, suffix] of namesOfDocuments(file))
      if (earlier.some((pattern) => pattern.test(name)))
        yield { file, urls: suffix === '' ? [`/${name}`] : [] };
  }
}

/** Whether a route has a parameter of a type that only format 4 had, such as months. */
const isOfFormat4 = ({ file, parameters = [] }: PublishedRoute): boolean =>
  file.includes('{') && parameters.length === 0;

/**
 * Completes the list of files to delete, without those that are staged, since a path may move from one route to
 * another. Removes from the stage what the commit doesn't need.
 * @param others further files to delete
 */
export function finishStage(stage: string, others: Iterable<Gone>): void {
  const paths = stagePaths(stage);
  const deleted = new LineWriter(paths.delete);
  const purge = new LineWriter(join(paths.purge, 'others'));
  const isStaged = (file: string): boolean => existsSync(join(paths.tree, file));
  for (const line of linesIn([paths.gone])) {
    const [file = ''] = line.split('\t');
    if (!isStaged(file)) deleted.write(file);
  }
  for (const { file, urls } of others) {
    if (!isStaged(file)) deleted.write(file);
    for (const url of urls) purge.write(url);
  }
  deleted.endLines();
  purge.endLines();
  for (const path of [paths.gone, paths.bundle, paths.documents, paths.scratch])
    rmSync(path, { recursive: true, force: true });
}
