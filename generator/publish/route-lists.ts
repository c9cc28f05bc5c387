/** Lists what changes among the documents of a route, while their bytes are in hand. */
import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filler, urlTemplate } from '../routes/index.js';
import { LineWriter } from '../files.js';
import type { Entry } from '../tree/hash-file.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { ListWriter, listPart } from './stage.js';
import { nextRoutes } from './compared-routes.js';
import type { StageSpec } from './stage-writer.js';

/** Limits the lines of a bundle that are staged, in all threads together. */
export interface BundleRoom {
  /** One number that threads share: how many characters have been staged. */
  readonly staged: BigInt64Array;
  /** Up to this size, compressed, there is a bundle however much of the tree it has. */
  readonly compressed: number;
  /** With more staged, there is no bundle. */
  readonly most: bigint;
}

export const hasRoom = ({ staged, most }: BundleRoom): boolean => Atomics.load(staged, 0) <= most;

/** The lists of one route, of the keys that one writer covers. */
export class RouteLists {
  readonly #spec: StageSpec;
  readonly #route: PublishedRoute;
  readonly #part: string;
  readonly #urlsOf: (key: number) => readonly [string, ...string[]];
  readonly #pages: readonly ((key: number) => string)[];
  /** Whether the next snapshot no longer has the route; a route with the same URLs; whether the files stay. */
  readonly #isFormer: boolean;
  readonly #successor: PublishedRoute | undefined;
  readonly #stays: boolean;
  /** Created with the first change. */
  #lists: ListWriter | undefined;
  #bundle: LineWriter | undefined;

  constructor(spec: StageSpec, route: PublishedRoute, part: string) {
    this.#spec = spec;
    this.#route = route;
    this.#part = listPart(route.name, part);
    this.#urlsOf = urlsOf(route);
    const { pages = [], isFormer = false } = spec.routes.get(route.name) ?? {};
    this.#pages = pages.map(filler);
    this.#isFormer = isFormer;
    this.#stays = isFormer && spec.staying.has(route.file);
    if (isFormer) {
      this.#successor = nextRoutes(spec.routes).find(({ path }) => path === route.path);
    }
  }

  /**
   * Lists a new or changed document.
   * @param files its own and those of its siblings
   * @param replaced those of the document that it replaces, if any
   * @param read its content, which is read only for a bundle
   */
  put(
    { key, bytes, hash }: Entry,
    files: readonly string[],
    replaced: readonly string[],
    read: () => Uint8Array,
  ): void {
    const lists = this.#list(key, files, replaced);
    const { hasChanges, bundle } = this.#spec;
    if (!hasChanges) return;
    const [path] = this.#urlsOf(key);
    const put = { path, sha256: hash.toString('hex'), bytes };
    if (!isVariant(this.#route)) lists.add('puts', JSON.stringify(put));
    if (bundle === undefined || !hasRoom(bundle)) return;
    const body = this.#route.class === 'download' ? undefined : Buffer.from(read());
    // Clients fetch what is not text from its path.
    const line = JSON.stringify(body && isUtf8(body) ? { ...put, body: body.toString() } : put);
    Atomics.add(bundle.staged, 0, BigInt(line.length));
    this.#bundle ??= new LineWriter(join(this.#spec.paths.bundle, this.#part));
    this.#bundle.write(line);
  }

  /** Lists a document that is removed, with its files. */
  remove(key: number, files: readonly string[]): void {
    const lists = this.#list(key, [], files);
    if (this.#successor === undefined || !this.#isStaged(filler(this.#successor.file)(key)))
      lists.add('deletes', JSON.stringify(this.#urlsOf(key)[0]));
  }

  /** Lists files and URLs of a document. @param files none if it is removed, @param replaced if it is new */
  #list(key: number, files: readonly string[], replaced: readonly string[]): ListWriter {
    const lists = (this.#lists ??= new ListWriter(this.#spec.paths.lists, this.#part));
    for (const each of files) lists.add('files', each);
    if (!this.#stays) {
      for (const each of replaced)
        if (!files.includes(each) && !(this.#isFormer && this.#isStaged(each))) lists.add('removed', each);
      for (const url of this.#urlsOf(key)) lists.add('urls', url);
    }
    if (files.length === 0 || replaced.length === 0)
      for (const page of this.#pages) lists.add('urls', page(key));
    return lists;
  }

  #isStaged(file: string): boolean {
    return existsSync(join(this.#spec.paths.tree, file));
  }

  finish(): void {
    this.#lists?.finish();
    this.#bundle?.finish();
  }

  close(): void {
    this.#lists?.close();
    this.#bundle?.close();
  }
}

/** Whether a route's documents are variants of one, by a query parameter. */
export const isVariant = ({ parameters = [] }: PublishedRoute): boolean =>
  parameters.some((parameter) => parameter.in === 'query');

/** The URL path of a document, and its alias if a parameter has the default value. */
export function urlsOf(route: PublishedRoute): (key: number) => readonly [string, ...string[]] {
  const url = filler(urlTemplate(route));
  const fallback = route.parameters?.find((parameter) => parameter.in === 'query')?.default;
  return (key) => (key === fallback ? [url(key), route.path] : [url(key)]);
}
