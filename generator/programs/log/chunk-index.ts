/**
 * What leads from a document to the digest, below `log/TREE-ID/index/` of a signed tree:
 * `ROUTE/FIRST.txt` is the chunk of the digest that begins with that document, `ROUTE/chunks-N.txt`
 * lists 256 chunks with their leaf hashes, `ROUTE/chunks.txt` those lists with their tree heads, and
 * `routes.txt` is the text whose hash is the digest. A route without a parameter has one document,
 * whose chunk is one line, and needs no files.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn, readText } from '../../base/files.js';
import { withPublished } from '../../state/published.js';
import type { State } from '../../state/state.js';
import { digestOf, routesText } from '../../tree/digest.js';
import { readManifest } from '../../tree/manifest.js';
import { TreeHead } from './tlog/merkle.js';
import { hasLog, isRendered, type PublishedRoute } from '../../tree/published-routes.js';
import type { Tree } from '../../tree/tree.js';
import { chunkLine, pageLine } from './tlog/chunk-text.js';
import { LISTS_FILE, ROUTES_FILE, chunkForm, indexFolder } from './log-paths.js';
import { LogStage } from './log-stage.js';

/** How many chunks a list has, as a tile has hashes. */
const LISTED = 256;
const listFile = (page: number): string => `chunks-${page}.txt`;
const LINE_ENDS = /(?<=\n)/;

/**
 * Makes the published chunks those of the last commit. Only what changed is written; chunks come
 * before the lists that name them, and `routes.txt` comes last. If interrupted, the next call
 * completes it. Requires the lock of the tree.
 */
export function updateChunkIndex(tree: Tree): void {
  const { tree: { id } = {}, routes = [] } = readManifest(tree.manifest) ?? {};
  if (id === undefined || !hasLog(routes)) return;
  withPublished(tree, (state) => publishChunks(tree, state, id, routes.filter(isRendered)));
}

function publishChunks(tree: Tree, state: State, id: string, routes: readonly PublishedRoute[]): void {
  const text = routesText(routes, ({ name }) => state.summary(state.idOf(name)));
  // A repair has marked what is damaged, which the commit to come replaces.
  if (digestOf(text) !== state.newest?.digest) return;
  const folder = indexFolder(id);
  const published = readText(join(tree.out, folder, ROUTES_FILE));
  const unchanged = new Set(published?.split(LINE_ENDS));
  const lines = text.split(LINE_ENDS);
  const outdated = routes.filter(
    (route, index) =>
      chunkForm(route) !== undefined &&
      !(unchanged.has(lines[index] ?? '') && existsSync(join(tree.out, folder, route.name, LISTS_FILE))),
  );
  if (published === text && outdated.length === 0) return;
  const stage = new LogStage(tree);
  try {
    for (const route of outdated) stageRoute(stage, tree, state, `${folder}/${route.name}`, route);
    const names = new Set([ROUTES_FILE, ...routes.filter(chunkForm).map(({ name }) => name)]);
    for (const name of namesIn(join(tree.out, folder)))
      if (!names.has(name))
        for (const file of namesIn(join(tree.out, folder, name))) stage.delete(`${folder}/${name}/${file}`);
    if (published !== text) stage.put(`${folder}/${ROUTES_FILE}`, text);
    stage.publish();
  } finally {
    stage.discard();
  }
}

/** Stages what changed of a route's chunks and their lists. @param folder below the tree */
function stageRoute(stage: LogStage, tree: Tree, state: State, folder: string, route: PublishedRoute): void {
  const published = join(tree.out, folder);
  const lines = publishedLines(published);
  const files = new Set<string>();
  forEachChunkFile(state, route, (name, content, line) => {
    files.add(name);
    const isPublished = line === undefined ? readText(join(published, name)) === content : lines.has(line);
    if (!isPublished) stage.put(`${folder}/${name}`, content);
  });
  for (const name of namesIn(published)) if (!files.has(name)) stage.delete(`${folder}/${name}`);
}

/** The lines of the published chunks; none if it is not known which those are. */
function publishedLines(folder: string): ReadonlySet<string> {
  const lists = readText(join(folder, LISTS_FILE))?.split(LINE_ENDS) ?? [];
  return new Set(lists.flatMap((_, page) => readText(join(folder, listFile(page)))?.split(LINE_ENDS) ?? []));
}

/**
 * Each chunk of a route, and each of their lists once it is complete.
 * @param take called with the name and content of a file, and with a chunk's line in its list
 */
export function forEachChunkFile(
  state: State,
  route: PublishedRoute,
  take: (name: string, content: string, line?: string) => void,
): void {
  const form = chunkForm(route);
  if (form === undefined) return;
  const pages: string[] = [];
  let lines: string[] = [];
  let first = '';
  let head = new TreeHead();
  const finishPage = (): void => {
    const count = lines.length;
    if (count === 0) return;
    take(listFile(pages.length), lines.join(''));
    pages.push(pageLine({ first, count, head: head.head().toString('base64') }));
    lines = [];
    head = new TreeHead();
  };
  const known = state.routeNamed(route.name);
  for (const { key, text, leaf } of known === undefined ? [] : state.chunks(known)) {
    if (lines.length === LISTED) finishPage();
    const name = form.textOf(key);
    const line = chunkLine({ first: name, leaf: leaf.toString('base64') });
    take(`${name}.txt`, text, line);
    if (lines.length === 0) first = name;
    lines.push(line);
    head.add(leaf);
  }
  finishPage();
  take(LISTS_FILE, pages.join(''));
}
