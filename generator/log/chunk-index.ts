/**
 * What leads from a document to the digest, below `log/TREE-ID/index/` of a signed tree:
 * `ROUTE/FIRST.txt` is the chunk of the digest that begins with that document, `ROUTE/chunks-N.txt`
 * lists 256 chunks with their leaf hashes, `ROUTE/chunks.txt` those lists with their tree heads, and
 * `routes.txt` is the text whose hash is the digest. A route without a parameter has one document,
 * whose chunk is one line, and needs no files.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import { FileWriter, linesOf, namesIn, readText } from '../files.js';
import { addChangedFiles } from '../publish/changed-files.js';
import { flush } from '../publish/flush.js';
import { isCopy } from '../publish/copied.js';
import { deleteFile, moveInto } from '../publish/moves.js';
import { ListWriter } from '../publish/stage.js';
import type { ListName } from '../publish/stage.js';
import type { KeyForm } from '../routes/keys.js';
import { chunkLine, pageLine, parseChunks, parsePages } from './chunk-text.js';
import { cursorOver, seek } from '../cursor.js';
import { routesText, summarise } from '../tree/digest.js';
import type { Chunk } from '../tree/digest.js';
import { readIndex } from '../tree/index-json.js';
import { LISTS_FILE, ROUTES_FILE, chunkForm, indexFolder } from './log-paths.js';
import { readManifest } from '../tree/manifest.js';
import { TreeHead } from '../tree/merkle.js';
import { hasLog, isRendered } from '../tree/published-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';

/** How many chunks a list has, as a tile has hashes. */
const LISTED = 256;
const listFile = (page: number): string => `chunks-${page}.txt`;
const LINE_ENDS = /(?<=\n)/;
/** Of a route that is not in the index. */
const NOTHING = { documents: 0, bytes: 0, firstKey: null, root: '' };

/**
 * Makes the published chunks those of the last commit. Only what changed is written; chunks come
 * before the lists that name them, and `routes.txt` comes last. If interrupted, the next call
 * completes it. Requires the lock of the tree.
 */
export function updateChunkIndex(tree: Tree): void {
  const { tree: { id } = {}, routes: table = [], sequence = 0 } = readManifest(tree.manifest) ?? {};
  if (id === undefined || !hasLog(table)) return;
  const { routes: summaries } = readIndex(tree.index);
  const routes = table.filter(isRendered);
  // A repair has marked what is damaged, which the commit to come replaces.
  if (routes.some(({ name }) => summaries[name] === undefined)) return;
  const text = routesText(routes, ({ name }) => summaries[name] ?? NOTHING);
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
  const stage = new ChunkStage(tree, sequence);
  try {
    for (const route of outdated) stageRoute(stage, `${folder}/${route.name}`, route);
    const names = new Set([ROUTES_FILE, ...routes.filter(chunkForm).map(({ name }) => name)]);
    for (const name of namesIn(join(tree.out, folder)))
      if (!names.has(name))
        for (const file of namesIn(join(tree.out, folder, name))) stage.remove(`${folder}/${name}/${file}`);
    if (published !== text) stage.put('last', `${folder}/${ROUTES_FILE}`, text);
    stage.publish();
  } finally {
    stage.discard();
  }
}

/** The part of the lists that names the chunks. */
const PART = 'chunks';

/** Where what is to be published is written first: chunks, their lists, and what comes last. */
class ChunkStage {
  readonly tree: Tree;
  readonly #sequence: number;
  readonly #folder: string;
  readonly #lists: ListWriter;
  /** The folder of the lists for operators. */
  readonly #listed: string;
  readonly #files: Readonly<Record<'chunks' | 'lists' | 'last', FileWriter>>;

  constructor(tree: Tree, sequence: number) {
    this.tree = tree;
    this.#sequence = sequence;
    this.#folder = join(tree.state, 'chunks');
    this.discard();
    // Nobody asks a copy for its lists.
    this.#listed = isCopy(tree) ? join(this.#folder, 'listed') : tree.unreported(sequence);
    this.#lists = new ListWriter(this.#listed, PART);
    const writer = (name: string): FileWriter => new FileWriter(join(this.#folder, name));
    this.#files = { chunks: writer('chunks'), lists: writer('lists'), last: writer('last') };
  }

  /** @param file below the tree */
  put(what: 'chunks' | 'lists' | 'last', file: string, content: string): void {
    this.#files[what].write(file, Buffer.from(content));
    this.#lists.file(file);
    this.#lists.url(`/${file}`);
  }

  has = (file: string): boolean => existsSync(join(this.#folder, 'chunks', file));

  remove(file: string): void {
    this.#lists.remove(file);
    this.#lists.url(`/${file}`);
  }

  publish(): void {
    const { out } = this.tree;
    this.#lists.finish();
    flush(this.#folder);
    for (const list of ['files', 'removed'] as const)
      addChangedFiles(this.tree, this.#sequence, this.#listedIn(list));
    for (const _ of moveInto(join(this.#folder, 'chunks'), out));
    for (const file of this.#listedIn('removed')) deleteFile(out, file);
    for (const _ of moveInto(join(this.#folder, 'lists'), out));
    for (const _ of moveInto(join(this.#folder, 'last'), out));
  }

  #listedIn(list: ListName): Iterable<string> {
    const file = join(this.#listed, PART, list);
    return existsSync(file) ? linesOf(file) : [];
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Stages the chunks of a route that changed, and their lists. @param folder below the tree */
function stageRoute(stage: ChunkStage, folder: string, route: PublishedRoute): void {
  const form = chunkForm(route);
  if (form === undefined) return;
  const published = join(stage.tree.out, folder);
  // Undefined if it is not known which chunks are published.
  const old = isListed(published) ? cursorOver(listedIn(published, form), ({ key }) => key) : undefined;
  const chunkFile = (key: number): string => `${folder}/${form.textOf(key)}.txt`;
  const removeBelow = (key: number): Listed | undefined =>
    old && seek(old, key, (gone) => stage.remove(chunkFile(gone.key)));
  const pages = forEachChunkFile(stage.tree, route, {
    chunk: ({ key, text, leaf }) => {
      const before = removeBelow(key);
      if (before !== undefined) old?.next();
      if (before?.hash !== leaf.toString('base64')) stage.put('chunks', chunkFile(key), text);
    },
    list: (name, content) => {
      if (readText(join(published, name)) !== content) stage.put('lists', `${folder}/${name}`, content);
    },
  });
  removeBelow(Number.POSITIVE_INFINITY);
  for (let page = pages; existsSync(join(published, listFile(page))); page += 1)
    stage.remove(`${folder}/${listFile(page)}`);
  if (old !== undefined) return;
  for (const name of namesIn(published))
    if (!name.startsWith('chunks') && !stage.has(`${folder}/${name}`)) stage.remove(`${folder}/${name}`);
}

/**
 * Each chunk of a route, and each of their lists once it is complete, by the index of the tree.
 * @returns how many lists there are, besides the list of them
 */
export function forEachChunkFile(
  tree: Tree,
  route: PublishedRoute,
  take: {
    readonly chunk: (chunk: Chunk) => void;
    readonly list: (name: string, content: string) => void;
  },
): number {
  const form = chunkForm(route);
  const pages: string[] = [];
  let lines: string[] = [];
  let first = '';
  let head = new TreeHead();
  const finishPage = (): void => {
    const count = lines.length;
    if (count === 0) return;
    take.list(listFile(pages.length), lines.join(''));
    pages.push(pageLine({ first, count, head: head.head().toString('base64') }));
    lines = [];
    head = new TreeHead();
  };
  summarise(join(tree.index, route.name), route, (chunk) => {
    take.chunk(chunk);
    if (lines.length === LISTED) finishPage();
    const name = form?.textOf(chunk.key) ?? '';
    if (lines.length === 0) first = name;
    lines.push(chunkLine({ first: name, leaf: chunk.leaf.toString('base64') }));
    head.add(chunk.leaf);
  });
  finishPage();
  take.list(LISTS_FILE, pages.join(''));
  return pages.length;
}

/** A published chunk. */
interface Listed {
  readonly key: number;
  readonly hash: string;
}

/** Reads one list after the other, so memory does not grow with the route. */
function* listedIn(folder: string, { keyOf }: KeyForm): Generator<Listed, void> {
  const pages = parsePages(readText(join(folder, LISTS_FILE)) ?? '').length;
  for (let page = 0; page < pages; page += 1)
    for (const { first, leaf } of parseChunks(readText(join(folder, listFile(page))) ?? ''))
      yield { key: keyOf(first), hash: leaf };
}

/** Whether all lists of published chunks can be read. */
function isListed(folder: string): boolean {
  const text = readText(join(folder, LISTS_FILE));
  if (text === undefined) return false;
  try {
    return parsePages(text).every(
      ({ count }, page) => parseChunks(readText(join(folder, listFile(page))) ?? '').length === count,
    );
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
