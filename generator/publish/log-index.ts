/**
 * What leads from a document to the digest, below `log/TREE-ID/index/`, if the tree is signed:
 * `ROUTE/FIRST.txt` is the chunk of the digest that begins with that document, `ROUTE/chunks-N.txt`
 * lists 256 chunks with their leaf hashes, `ROUTE/chunks.txt` those lists with their tree heads, and
 * `routes.txt` is the text whose hash is the digest. Only what changed is written. A route without
 * a parameter has one document, whose chunk is one line, and needs no files.
 */
import { existsSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import { cursorOver, seek } from '../tree/cursor.js';
import type { Cursor } from '../tree/cursor.js';
import { TreeHead } from '../tree/merkle.js';
import { base64Of, chunkLine, pageLine, parseChunks, parsePages } from '../tree/chunk-text.js';
import { logFolder } from '../tree/log-paths.js';
import { keyForm } from '../routes/keys.js';
import type { KeyForm } from '../routes/keys.js';
import { FileWriter, readText } from '../files.js';
import { routesText } from '../tree/digest.js';
import type { Chunk, RouteSummary } from '../tree/digest.js';
import type { ComparedRoute } from './compared-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { ListWriter } from './stage.js';

/** How many chunks a list has, as a tile has hashes. */
const LISTED = 256;
/** The list of lists, and a list. */
export const LISTS_FILE = 'chunks.txt';
const listFile = (page: number): string => `chunks-${page}.txt`;
/** Below the tree. */
export const indexFolder = (treeId: string): string => `${logFolder(treeId)}/index`;
/** The text whose hash is the digest. */
export const ROUTES_FILE = 'routes.txt';

/** The form of the keys by which a route's chunks are named; undefined if it has one document. */
export function chunkForm({ parameters = [] }: Pick<PublishedRoute, 'parameters'>): KeyForm | undefined {
  const [parameter] = parameters;
  return parameter && keyForm(parameter.name);
}

export interface ChunkFolders {
  /** The published tree, and where files of the commit are staged. */
  readonly out: string;
  readonly staged: string;
  /** The index of the log below both: `log/TREE-ID/index`. */
  readonly index: string;
}

/** Whether the chunks of a route are published. */
export const hasChunks = ({ out, index }: Omit<ChunkFolders, 'staged'>, name: string): boolean =>
  existsSync(join(out, index, name, LISTS_FILE));

/** The lists of a route's chunks. */
export class ChunkLists {
  readonly #put: (file: string, content: string) => void;
  #head = new TreeHead();
  #first = '';
  #lines: string[] = [];
  readonly #pages: string[] = [];

  /** @param put called with each list once it is complete */
  constructor(put: (file: string, content: string) => void) {
    this.#put = put;
  }

  add(first: string, leaf: Buffer): void {
    if (this.#lines.length === LISTED) this.#finishPage();
    if (this.#lines.length === 0) this.#first = first;
    this.#lines.push(chunkLine({ first, leaf: base64Of(leaf) }));
    this.#head.add(leaf);
  }

  #finishPage(): void {
    const count = this.#lines.length;
    if (count === 0) return;
    this.#put(listFile(this.#pages.length), this.#lines.join(''));
    this.#pages.push(pageLine({ first: this.#first, count, head: base64Of(this.#head.head()) }));
    this.#lines = [];
    this.#head = new TreeHead();
  }

  /** Completes the lists. @returns how many there are, besides the list of them */
  finish(): number {
    this.#finishPage();
    this.#put(LISTS_FILE, this.#pages.join(''));
    return this.#pages.length;
  }
}

/** Stages the chunks of a route that changed, and their lists. */
export class ChunkWriter {
  readonly #folders: ChunkFolders;
  /** Below the tree. */
  readonly #folder: string;
  readonly #form: KeyForm;
  readonly #lists: ListWriter;
  readonly #stage: FileWriter;
  /** What is published, by file; undefined if it is not known. */
  readonly #old: Cursor<Listed> | undefined;
  readonly #next: ChunkLists;

  constructor(folders: ChunkFolders, name: string, form: KeyForm, lists: ListWriter) {
    this.#folders = folders;
    this.#folder = `${folders.index}/${name}`;
    this.#form = form;
    this.#lists = lists;
    this.#stage = new FileWriter(folders.staged);
    this.#next = new ChunkLists((file, content) => this.#putIfChanged(file, content));
    const published = join(folders.out, this.#folder);
    this.#old = isListed(published) ? cursorOver(listedIn(published, form)) : undefined;
  }

  /** Keys must ascend. */
  add({ key, text, leaf }: Chunk): void {
    const first = this.#form.textOf(key);
    const hash = base64Of(leaf);
    const old = this.#removeBelow(key);
    if (old !== undefined) this.#old?.next();
    if (old?.hash !== hash) this.#put(`${first}.txt`, text);
    this.#next.add(first, leaf);
  }

  /** @returns the published chunk of that key */
  #removeBelow(key: number): Listed | undefined {
    const remove = (gone: Listed): void => this.#remove(`${this.#form.textOf(gone.key)}.txt`);
    return this.#old && seek(this.#old, key, remove);
  }

  /** Stages the lists, and removes what is left of the published chunks. */
  finish(): void {
    this.#removeBelow(Number.POSITIVE_INFINITY);
    const count = this.#next.finish();
    const { out, staged } = this.#folders;
    const published = join(out, this.#folder);
    for (let page = count; existsSync(join(published, listFile(page))); page += 1)
      this.#remove(listFile(page));
    if (this.#old !== undefined) return;
    for (const name of namesIn(published))
      if (!name.startsWith('chunks') && !existsSync(join(staged, this.#folder, name))) this.#remove(name);
  }

  #putIfChanged(name: string, content: string): void {
    if (readText(join(this.#folders.out, this.#folder, name)) !== content) this.#put(name, content);
  }

  #put(name: string, content: string): void {
    const file = `${this.#folder}/${name}`;
    this.#stage.write(file, Buffer.from(content));
    this.#lists.file(file);
    this.#lists.url(`/${file}`);
  }

  #remove(name: string): void {
    const file = `${this.#folder}/${name}`;
    this.#lists.remove(file);
    this.#lists.url(`/${file}`);
  }
}

/**
 * Stages the text whose hash is the digest, and removes the chunks of routes that are gone.
 * @param folders undefined if there is no log
 */
export function completeIndex(
  folders: ChunkFolders | undefined,
  routes: readonly ComparedRoute[],
  next: { readonly of: (route: string) => RouteSummary },
  lists: ListWriter,
): void {
  if (folders === undefined) return;
  const { out, staged, index } = folders;
  const current = routes.filter(({ isFormer }) => !isFormer).map(({ route }) => route);
  const file = `${index}/${ROUTES_FILE}`;
  const text = routesText(current, ({ name }) => next.of(name));
  if (readText(join(out, file)) !== text) {
    new FileWriter(staged).write(file, Buffer.from(text));
    lists.file(file);
    lists.url(`/${file}`);
  }
  const names = new Set(current.map(({ name }) => name));
  for (const { index: name, isFormer } of routes) {
    if (!isFormer || name === undefined || names.has(name)) continue;
    for (const each of namesIn(join(out, index, name))) {
      lists.remove(`${index}/${name}/${each}`);
      lists.url(`/${index}/${name}/${each}`);
    }
  }
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
    if (error instanceof Failure || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The names in a folder, none if it does not exist. */
export function* namesIn(path: string): Generator<string, void, undefined> {
  if (!existsSync(path)) return;
  const folder = opendirSync(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry.name;
  } finally {
    folder.closeSync();
  }
}
