/**
 * The files of the signed log that a remote should hold. In the templates of its routes, names of
 * files are parameters; here it has templates with the tree's id and with keys, as documents have.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseChunks, parsePages } from '../tree/chunk-text.js';
import { LISTS_FILE, ROUTES_FILE, chunkForm, indexFolder, logFolder } from '../tree/log-paths.js';
import { filesBelow } from '../tree/scan.js';
import { isRendered } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** Whether a template is of tiles and bundles of entries. */
export const isTiles = (template: string): boolean => /^log\/[0-9a-f]{16}\/tile\/\{tile\}$/.test(template);

/** Whether a template is the name of a checkpoint. */
export const isCheckpoint = (template: string): boolean => /^log\/[0-9a-f]{16}\/checkpoint$/.test(template);

/**
 * The files of a route of the log: their templates and their names.
 * @param out the folder of the tree
 */
export function logFiles(
  out: string,
  { tree: { id = '' }, routes }: Pick<Manifest, 'tree' | 'routes'>,
  { name }: Pick<PublishedRoute, 'name'>,
): readonly [templates: readonly string[], names: Iterable<string>] {
  const checkpoint = `${logFolder(id)}/checkpoint`;
  if (name === 'log-checkpoint') return [[checkpoint], [checkpoint]];
  const tiles = `${logFolder(id)}/tile`;
  // Which tiles there are depends on the number of snapshots alone.
  if (name === 'log-tile') return [[`${tiles}/{tile}`], filesBelow(out, tiles)];
  const index = indexFolder(id);
  const chunked = routes.filter((route) => isRendered(route) && chunkForm(route) !== undefined);
  const templates = chunked.flatMap(({ name: route, parameters: [parameter] = [] }) =>
    [`{${parameter?.name}}.txt`, 'chunks-{page}.txt', LISTS_FILE].map((file) => `${index}/${route}/${file}`),
  );
  const folders = chunked.map((route) => `${index}/${route.name}`);
  return [[...templates, `${index}/${ROUTES_FILE}`], indexFiles(out, folders, `${index}/${ROUTES_FILE}`)];
}

/** The chunks of routes, and their lists. @throws ENOENT: a list is missing */
function* indexFiles(out: string, folders: readonly string[], routesFile: string): Generator<string> {
  const read = (file: string): string => readFileSync(join(out, file), 'utf8');
  for (const folder of folders) {
    const lists = parsePages(read(`${folder}/${LISTS_FILE}`));
    for (const page of lists.keys()) {
      const list = `${folder}/chunks-${page}.txt`;
      for (const { first } of parseChunks(read(list))) yield `${folder}/${first}.txt`;
      yield list;
    }
    yield `${folder}/${LISTS_FILE}`;
  }
  yield routesFile;
}
