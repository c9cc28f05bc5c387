/**
 * The stage, where the next snapshot is prepared. Threads compare what they render with the published
 * lists, and stage only what differs; the tree stays as it was until the commit.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFailure } from '../base/errors.js';
import { LineWriter, hasSum, makeFolder, namesIn, readText } from '../base/files.js';
import type { KeyRange } from '../routes/keys.js';
import { SIBLING_SUFFIXES, filler, isCompressed, urlsOf } from '../routes/route.js';
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import { isInDigest } from '../tree/published-routes.js';
import type { Content } from '../base/sink.js';
import {
  ALL_KEYS,
  isSamePlace,
  lineOf,
  listName,
  listedFiles,
  writeList,
  type Listed,
  type ListedRoute,
} from './lists.js';
import { aliasNames, linkNames } from './aliases.js';
import { deleteFolder } from './moves.js';

/** What threads need to compare and to stage: values that the structured clone algorithm accepts. */
export interface StageSpec {
  /** The published folder. */
  readonly out: string;
  /** The folder of the stage. */
  readonly stage: string;
  /** The published lists; null if it is not known what is published. */
  readonly lists: string | null;
  /** The routes that these lists belong to: those of the published snapshot.json; empty if `lists` is null. */
  readonly listed: readonly ListedRoute[];
  /** Files that count as not published, since they are damaged. */
  readonly damaged: readonly string[];
  /** The routes of the next snapshot. */
  readonly routes: readonly ListedRoute[];
  /** The modification time of compressed siblings and of their documents: whole milliseconds since 1970. */
  readonly time: number;
  /** Whether lines for a bundle of changes are staged. */
  readonly isBundled: boolean;
  /** Which lines for the downloads of documents are staged, by route; none for a route without. */
  readonly downloaded: Readonly<Record<string, 'body' | 'entry'>>;
  /** A dry run compares, and stages nothing. */
  readonly isDryRun: boolean;
  /** Names of the routes whose changed documents are returned as examples by a build, too, not just by a dry run. */
  readonly exemplified: readonly string[];
}

/** The folders and files of a stage, and of a commit, which is a stage that is complete. */
export const stagePaths = (stage: string) => ({
  /** Files at their paths in the tree. */
  tree: join(stage, 'tree'),
  /** The lists of the next snapshot. */
  lists: join(stage, 'lists'),
  /** What differs, in lines: files put, URLs to purge, and deleted files, each with its URL but for siblings. */
  put: join(stage, 'put'),
  purge: join(stage, 'purge'),
  gone: join(stage, 'gone'),
  /** The files to delete: those that are gone, less those that another route puts. */
  delete: join(stage, 'delete'),
  /** Lines of the bundle, and of the downloads of documents. */
  bundle: join(stage, 'bundle'),
  documents: join(stage, 'documents'),
  /** Files while they are written. */
  scratch: join(stage, 'scratch'),
  snapshotFile: join(stage, 'snapshot.json'),
  state: join(stage, 'state.json'),
  /** What a commit is of (see commit.ts). */
  commit: join(stage, 'commit.json'),
});

/** Makes an empty stage. */
export function newStage(stage: string): void {
  const { tree, lists, put, purge, gone, bundle, documents, scratch } = stagePaths(stage);
  for (const folder of [tree, lists, put, purge, gone, bundle, documents, scratch])
    mkdirSync(folder, { recursive: true });
}

/** How many documents a snapshot adds, changes, removes and leaves as they are. */
export interface Changes {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export const NO_CHANGES = { added: 0, changed: 0, removed: 0, unchanged: 0 } satisfies Changes;

/** How many documents differ from those of the last snapshot. */
export const touchedIn = ({ added, changed, removed }: Changes): number => added + changed + removed;

export const sumOf = (all: Iterable<Changes>): Changes => {
  const sum = { ...NO_CHANGES };
  for (const each of all) {
    sum.added += each.added;
    sum.changed += each.changed;
    sum.removed += each.removed;
    sum.unchanged += each.unchanged;
  }
  return sum;
};

/** Of each route and range of keys, how many documents of each kind of change are returned. */
export const EXAMPLES = 3;

/** A document that differs. */
export interface Example {
  readonly what: 'added' | 'changed' | 'removed';
  readonly url: string;
  /** Of a document that changed. */
  readonly texts?: readonly [before: string, after: string];
}

/** What became of a route's documents in a range of keys. */
export interface Written {
  readonly route: string;
  readonly changes: Changes;
  /** Of all documents, changed or not. */
  readonly bytes: number;
  /** The lowest key; null if there are no documents. */
  readonly first: number | null;
  /** The URL path of the first alias; null if no document has one. */
  readonly alias: string | null;
  readonly examples: readonly Example[];
  /** The files that snapshot.json names, by path: all that the digest leaves out, and all above 1 MiB. */
  readonly named: Readonly<Record<string, Content>>;
}

/** snapshot.json names every file above this size, 1 MiB, with its hash. */
const LARGE_BYTES = 1024 * 1024;

/**
 * The name of a file of lines about the documents of a route, from a key on. A space sorts before all characters
 * in names of routes.
 */
const partName = (route: string, low: number): string => `${route} ${listName(low)}`;

/** The files of lines about a route in a folder of the stage, in the order of their keys. */
export const partsOf = (folder: string, route: string): readonly string[] =>
  namesIn(folder)
    .filter((name) => name.startsWith(`${route} `))
    .map((name) => join(folder, name));

/** The files of lines that are written along with the documents, by what they have (see `stagePaths`). */
const LINES = ['put', 'purge', 'gone', 'bundle', 'documents'] as const;
type Lines = Readonly<Record<(typeof LINES)[number], LineWriter>>;

/** A document that is compared. A download, which was written to a file, has no body. */
interface Document extends Content {
  readonly key: number;
  readonly file: string;
  readonly body?: string | Uint8Array | undefined;
}

/** A document as it is published; its sum is empty if it is damaged. */
type Old = Pick<Listed, 'sum' | 'alias'> | undefined;

/** The most lines of a list, which is held in memory: all records of a view that can't be searched by id are one range. */
const LIST_LINES = 20_000;

/** Compares the documents of a route in a range of keys with what is published, and stages what differs. */
export class RouteWriter {
  readonly #spec: StageSpec;
  readonly #route: ListedRoute;
  /** The lowest key that the current list may have. */
  #low: number;
  readonly #fileOf: (key: number) => string;
  readonly #urlsOf: ReturnType<typeof urlsOf>;
  readonly #pages: readonly ((key: number) => string)[];
  readonly #alias: ReturnType<typeof aliasNames> | undefined;
  readonly #isInDigest: boolean;
  readonly #published: Iterator<Listed, void>;
  #next: Listed | undefined;
  #listed: string[] = [];
  readonly #folders = new Set<string>();
  readonly #damaged: ReadonlySet<string>;
  readonly #seconds: number;
  readonly #lines: Lines;
  readonly #changes = { ...NO_CHANGES };
  readonly #examples: Example[] = [];
  readonly #named: Record<string, Content> = {};
  #bytes = 0;
  #first: number | null = null;
  #firstAlias: string | null = null;

  /** @param part the name of the files of lines */
  constructor(
    spec: StageSpec,
    route: ListedRoute,
    range: KeyRange = ALL_KEYS,
    part = partName(route.name, range.low),
  ) {
    this.#spec = spec;
    this.#route = route;
    this.#low = range.low;
    this.#fileOf = filler(route.file);
    this.#urlsOf = urlsOf(route);
    this.#pages = route.pages.map(filler);
    this.#alias = route.alias && aliasNames(route.alias);
    this.#isInDigest = isInDigest(route);
    const isKnown = spec.listed.some((before) => isSamePlace(route, before));
    this.#published = spec.lists !== null && isKnown ? listedFiles(spec.lists, route, range) : [].values();
    this.#next = this.#published.next().value ?? undefined;
    this.#damaged = new Set(spec.damaged);
    // Node cuts to microseconds, and the quotient may be a little too small: half a microsecond more keeps the millisecond.
    this.#seconds = (spec.time + 0.0005) / 1000;
    const paths = stagePaths(spec.stage);
    const lines = (what: keyof Lines): LineWriter => new LineWriter(join(paths[what], part));
    this.#lines = {
      put: lines('put'),
      purge: lines('purge'),
      gone: lines('gone'),
      bundle: lines('bundle'),
      documents: lines('documents'),
    };
  }

  /**
   * Compares a document, and stages it if it differs. Keys must ascend.
   * @param aliasText what the document's alias has in the place of the key
   */
  put(key: number, body: string | Uint8Array, aliasText?: string): void {
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const document = { key, file: this.#fileOf(key), bytes, sha256: hash('sha256', body), body };
    const alias = aliasText === undefined ? undefined : this.#alias?.fileOf(aliasText);
    try {
      const old = this.#note(document, alias);
      this.#download(document);
      const isSame = old?.sum === document.sha256;
      if (isSame && old.alias === alias) return;
      if (!isSame && (this.#spec.isDryRun || this.#spec.exemplified.includes(this.#route.name)))
        this.#example(old === undefined ? 'added' : 'changed', key, body);
      if (this.#spec.isDryRun) return;
      if (!isSame) {
        this.#write(document.file, document);
        if (old !== undefined && !this.#hasSiblings(document)) this.#deleteSiblings(document.file);
        this.#announce(document, old);
      }
      if (old?.alias !== undefined && old.alias !== alias) this.#deleteAlias(old.alias);
      if (alias !== undefined) this.#stageAlias(alias, document, old);
    } catch (error) {
      throw asFailure(error, `"${document.file}"`);
    }
  }

  /** Compares a file of the scratch folder, and moves it to the stage if it differs. */
  putFile(key: number, content: Content, source: string): void {
    const document = { ...content, key, file: this.#fileOf(key) };
    const old = this.#note(document);
    // The published file may be missing or damaged.
    if (old?.sum === content.sha256 && hasSum(join(this.#spec.out, document.file), old.sum)) {
      rmSync(source);
      return;
    }
    renameSync(source, this.#pathTo(document.file));
    this.#lines.put.write(document.file);
    this.#announce(document, old);
  }

  /** Keeps a published file. @throws TypeError there is none */
  keep(key: number, bytes: number): void {
    this.#passUpTo(key);
    const { sum: sha256 } = this.#next ?? {};
    const file = this.#fileOf(key);
    if (sha256 === undefined || this.#next?.key !== key)
      throw new TypeError(`"${file}" is not published, so it can't be kept`);
    this.#note({ key, file, bytes, sha256 });
  }

  /** Writes the list. Documents of the range that were not put are deleted. */
  finish(): Written {
    this.#passUpTo(Number.POSITIVE_INFINITY);
    this.#writeList(ALL_KEYS.high);
    for (const what of LINES) this.#lines[what].endLines();
    return {
      route: this.#route.name,
      changes: this.#changes,
      bytes: this.#bytes,
      first: this.#first,
      alias: this.#firstAlias,
      examples: this.#examples,
      named: this.#named,
    };
  }

  /** Adds a document to the list and to the counts. @returns the published document with that key */
  #note({ key, file, bytes, sha256 }: Document, alias?: string): Old {
    this.#passUpTo(key);
    const old = this.#next?.key === key ? this.#next : undefined;
    if (old !== undefined) this.#next = this.#published.next().value ?? undefined;
    if (this.#listed.length >= LIST_LINES) this.#writeList(key);
    const names = alias === undefined ? [file] : [file, alias];
    for (const name of names) {
      this.#listed.push(lineOf(sha256, name));
      if (bytes > LARGE_BYTES || !this.#isInDigest) this.#named[name] = { bytes, sha256 };
    }
    this.#bytes += bytes;
    this.#first ??= key;
    if (alias !== undefined) this.#firstAlias ??= this.#alias?.urlOf(alias) ?? null;
    const isWhole = old !== undefined && !this.#damaged.has(file);
    this.#changes[old === undefined ? 'added' : isWhole && old.sum === sha256 ? 'unchanged' : 'changed'] += 1;
    return isWhole ? old : old && { ...old, sum: '' };
  }

  /** Writes the list of the documents so far. @param next the lowest key that the next list may have */
  #writeList(next: number): void {
    const { stage, isDryRun } = this.#spec;
    if (!isDryRun && this.#listed.length > 0)
      writeList(stagePaths(stage).lists, this.#route.name, this.#low, this.#listed);
    [this.#listed, this.#low] = [[], next];
  }

  /** Deletes the published documents below a key that were not put. */
  #passUpTo(key: number): void {
    for (let old = this.#next; old !== undefined && old.key < key; old = this.#next) {
      this.#next = this.#published.next().value ?? undefined;
      this.#changes.removed += 1;
      if (this.#spec.isDryRun) {
        this.#example('removed', old.key);
        continue;
      }
      this.#delete(old.file, this.#urlsOf(old.key), this.#pagesOf(old.key));
      if (old.alias !== undefined) this.#deleteAlias(old.alias);
    }
  }

  #delete(file: string, urls: readonly [string, ...string[]], pages: readonly string[] = []): void {
    this.#lines.gone.write(`${file}\t${urls[0]}`);
    this.#deleteSiblings(file);
    for (const url of [...urls, ...pages]) this.#lines.purge.write(url);
  }

  #deleteAlias(name: string): void {
    if (this.#alias !== undefined) this.#delete(name, [this.#alias.urlOf(name)]);
  }

  #hasSiblings({ key, bytes }: Document): boolean {
    return bytes >= siblingsFrom(this.#route, key);
  }

  /** A document has all siblings or none, so the first one tells. */
  #deleteSiblings(file: string): void {
    const [first] = SIBLING_SUFFIXES;
    if (!isCompressed(this.#route.class)) return;
    if (!existsSync(`${this.#spec.out}/${file}${first}`)) return;
    for (const suffix of SIBLING_SUFFIXES) this.#lines.gone.write(`${file + suffix}\t`);
  }

  #pagesOf(key: number): readonly string[] {
    return this.#pages.map((pageOf) => pageOf(key));
  }

  /** Adds a document to the lines for operators and for the bundle. */
  #announce(document: Document, old: Old): void {
    const urls = this.#urlsOf(document.key);
    for (const url of old === undefined ? [...urls, ...this.#pagesOf(document.key)] : urls)
      this.#lines.purge.write(url);
    if (!this.#spec.isBundled) return;
    // Clients fetch downloads from their paths.
    const isFetched = this.#route.class === 'download';
    this.#lines.bundle.write(this.#entry(isFetched ? { ...document, body: undefined } : document));
  }

  /** Stages a document under a name, with its siblings. They have one time. */
  #write(name: string, document: Document): void {
    const { body = '' } = document;
    const hasSiblings = this.#hasSiblings(document);
    const write = (file: string, content: string | Uint8Array): void => {
      const path = this.#pathTo(file);
      writeFileSync(path, content);
      if (hasSiblings) utimesSync(path, this.#seconds, this.#seconds);
      this.#lines.put.write(file);
    };
    write(name, body);
    if (!hasSiblings) return;
    const whole = Buffer.from(body);
    for (const { suffix, encode } of CODINGS) write(name + suffix, encode(whole));
  }

  /** The path of a file in the stage. Creates its folder. */
  #pathTo(file: string): string {
    const path = `${this.#spec.stage}/tree/${file}`;
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (!this.#folders.has(folder)) {
      if (this.#folders.size === FOLDERS_KNOWN) this.#folders.clear();
      makeFolder(folder);
      this.#folders.add(folder);
    }
    return path;
  }

  /** Stages the alias of a document, which is staged as well or stays as it is. */
  #stageAlias(name: string, document: Document, old: Old): void {
    const { key, file, bytes, sha256 } = document;
    const { out, stage, isBundled } = this.#spec;
    const isPublished = old?.sum === sha256;
    const hasSiblings = this.#hasSiblings(document);
    const suffixes = ['', ...(hasSiblings ? SIBLING_SUFFIXES : [])];
    const from = join(isPublished ? out : stagePaths(stage).tree, file);
    // To rename one link of a file to another link of it does nothing, and a commit would never end.
    const isInPlace = (suffix: string): boolean => existsSync(join(out, name + suffix));
    if (!(isPublished && suffixes.some(isInPlace)) && linkNames(from, this.#pathTo(name), suffixes))
      for (const suffix of suffixes) this.#lines.put.write(name + suffix);
    else this.#write(name, document);
    if (old?.alias === name && !hasSiblings) this.#deleteSiblings(name);
    const [record] = this.#urlsOf(key);
    const path = this.#alias?.urlOf(name) ?? '';
    this.#lines.purge.write(path);
    if (isBundled)
      this.#lines.bundle.write(JSON.stringify({ path, file: name, sha256, bytes, same_as: record }));
  }

  /** Adds a document to the lines for a download: its body alone, or with path and hash. */
  #download(document: Document): void {
    const what = this.#spec.downloaded[this.#route.name];
    if (what === undefined) return;
    this.#lines.documents.write(what === 'body' ? textOf(document.body ?? '') : this.#entry(document));
  }

  /** The JSON of a document with path and hash. Clients fetch what is not text from its path. */
  #entry({ key, file, sha256, bytes, body }: Document): string {
    const [path] = this.#urlsOf(key);
    const isText = typeof body === 'string' || (body !== undefined && isUtf8(body));
    return JSON.stringify({ path, file, sha256, bytes, ...(isText && { body: textOf(body) }) });
  }

  #example(what: Example['what'], key: number, body: string | Uint8Array = ''): void {
    if (this.#examples.filter((each) => each.what === what).length >= EXAMPLES) return;
    const before = what === 'changed' ? readText(join(this.#spec.out, this.#fileOf(key))) : undefined;
    const texts = [before ?? '', textOf(body)] as const;
    const [url] = this.#urlsOf(key);
    this.#examples.push(what === 'changed' ? { what, url, texts } : { what, url });
  }
}

/** Most bodies are texts already, and never become buffers. */
const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString();

/** How many created folders a writer remembers. */
const FOLDERS_KNOWN = 1024;

/** Deletes all files of a route that the next snapshot doesn't have, or has in another place. */
export const passOver = (spec: StageSpec, former: ListedRoute): Written =>
  new RouteWriter(
    { ...spec, isBundled: false, downloaded: {} },
    former,
    ALL_KEYS,
    `former ${former.name}`,
  ).finish();

/** The published routes that the next snapshot doesn't have, or has in another place; without assets, which stay for a while. */
export const formerRoutes = ({ listed, routes }: StageSpec): readonly ListedRoute[] =>
  listed.filter((before) => before.class !== 'asset' && !routes.some((now) => isSamePlace(now, before)));

/** How long a stopped build may clean up: 400 ms. */
const BUDGET_MS = 400;

/** Deletes a stage. A build that was stopped takes limited time for that, and the next one deletes the rest. */
export function discardStage(stage: string, isStopped: boolean): void {
  deleteFolder(stage, isStopped ? performance.now() + BUDGET_MS : undefined);
}

/** Reads a document of the next snapshot, whose route is finished: it is staged, or stays as published. */
export function readNext({ stage, out, routes }: StageSpec, route: string, key: number): string | undefined {
  const found = routes.find(({ name }) => name === route);
  if (found === undefined) return undefined;
  const file = filler(found.file)(key);
  const staged = join(stagePaths(stage).tree, file);
  return readText(existsSync(staged) ? staged : join(out, file));
}
