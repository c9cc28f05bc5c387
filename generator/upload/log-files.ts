/**
 * The files of the signed log that a remote should hold. In the templates of its routes, names of
 * files are parameters; here it has templates with the tree's id and with keys, as documents have.
 */
import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../tree/hash-file.js';
import { linesOf } from '../files.js';
import { logFolder } from '../tree/log-paths.js';
import { locator } from '../tree/locate.js';
import { measure } from '../tree/measure.js';
import { isRendered } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { filler } from '../routes/index.js';
import { keyForm } from '../routes/keys.js';

/** Files of the log that have one template. */
export interface LogFiles {
  readonly template: string;
  /** In the order of the keys. @throws ENOENT: a file of the tree is missing */
  readonly entries: () => Iterable<Entry>;
}

/** The only file of a template. @throws ENOENT */
export function* singleEntry(file: string): Generator<Entry> {
  yield { key: 0, ...measure(file) };
}

/** Whether a template is of tiles and bundles of entries. */
export const isTiles = (template: string): boolean => /^log\/[0-9a-f]{16}\/tile\/\{tile\}$/.test(template);

/** Whether a template is the name of a checkpoint. */
export const isCheckpoint = (template: string): boolean => /^log\/[0-9a-f]{16}\/checkpoint$/.test(template);

/**
 * The files of a route of the log.
 * @param out the folder of the tree
 */
export function logFiles(
  out: string,
  { tree, routes }: Pick<Manifest, 'tree' | 'routes'>,
  { name }: Pick<PublishedRoute, 'name'>,
): readonly LogFiles[] {
  const folder = logFolder(tree.id ?? '');
  const single = (file: string): LogFiles => ({
    template: `${folder}/${file}`,
    entries: () => singleEntry(join(out, folder, file)),
  });
  if (name === 'log-checkpoint') return [single('checkpoint')];
  if (name === 'log-tile') {
    const template = `${folder}/tile/{tile}`;
    return [{ template, entries: () => tiles(out, template) }];
  }
  return [
    ...routes.filter(isRendered).flatMap((route): LogFiles[] => {
      const [parameter] = route.parameters ?? [];
      if (parameter === undefined) return [];
      const index = `index/${route.name}`;
      const [pages, list] = [`${folder}/${index}/chunks-{page}.txt`, join(out, folder, index, 'chunks.txt')];
      const chunks = `${folder}/${index}/{${parameter.name}}.txt`;
      return [
        { template: chunks, entries: () => chunkEntries(out, list, pages, chunks, parameter.name) },
        { template: pages, entries: () => pageEntries(out, list, pages) },
        single(`${index}/chunks.txt`),
      ];
    }),
    single('index/routes.txt'),
  ];
}

/** All tiles that are there: how many depends on the number of snapshots alone. */
function* tiles(out: string, template: string): Generator<Entry> {
  const locate = locator([{ name: '', path: '', file: template, class: 'tile' }]);
  const keys: number[] = [];
  const folders = [template.slice(0, template.indexOf('/{'))];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const directory = opendirSync(join(out, folder));
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const file = `${folder}/${entry.name}`;
        if (entry.isDirectory()) folders.push(file);
        const place = locate(file);
        if (entry.isFile() && place?.suffix === '') keys.push(place.key);
      }
    } finally {
      directory.closeSync();
    }
  }
  const fileOf = filler(template);
  for (const key of keys.toSorted((a, b) => a - b)) yield { key, ...measure(join(out, fileOf(key))) };
}

/** The lists of chunks. @param list names them, a line for each */
function* pageEntries(out: string, list: string, template: string): Generator<Entry> {
  const fileOf = filler(template);
  let page = 0;
  for (const _ of linesOf(list)) {
    yield { key: page, ...measure(join(out, fileOf(page))) };
    page += 1;
  }
}

/**
 * The chunks that the lists name. Their leaf hashes stand for their content, so that none of them
 * has to be read.
 */
function* chunkEntries(
  out: string,
  list: string,
  pages: string,
  template: string,
  parameter: string,
): Generator<Entry> {
  const [pageOf, fileOf] = [filler(pages), filler(template)];
  const { keyOf } = keyForm(parameter);
  let page = 0;
  for (const _ of linesOf(list)) {
    for (const line of linesOf(join(out, pageOf(page)))) {
      const [first = '', leaf = ''] = line.split(' ');
      const key = keyOf(first);
      yield { key, bytes: statSync(join(out, fileOf(key))).size, hash: Buffer.from(leaf, 'base64') };
    }
    page += 1;
  }
}
