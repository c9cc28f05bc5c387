/**
 * The files that a remote should hold, by templates. The compressed siblings have templates of
 * their own, and so have the publisher's own files, which the index leaves out.
 */
import { statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { Failure, codeOf } from '../errors.js';
import { HashFileReader, NO_HASH, entriesIn } from '../tree/hash-file.js';
import { filesIn, readChangeIndex } from '../tree/changes.js';
import type { Described } from '../tree/changes.js';
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import type { Coding } from '../tree/codings.js';
import { readIndex } from '../tree/index-json.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import { locator } from '../tree/locate.js';
import { isFormer, isLog, isOwn, isRendered } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import type { Headers } from '../routes/headers.js';
import { hasFiles } from '../routes/index.js';
import type { CacheClass } from '../routes/index.js';
import { parseSnapshot } from '../tree/snapshot-json.js';
import type { SnapshotRoute } from '../tree/snapshot-json.js';
import { isCheckpoint, logFiles } from './log-files.js';

/** What a file must be; of most files of the log nothing is known. */
interface Content {
  readonly bytes?: number;
  readonly hash?: Buffer;
}

const ANY: Content = {};

/** Contents by key, in memory or in a hash file. */
interface Contents {
  readonly size: number;
  readonly entries: () => Iterable<readonly [key: number, content: Content]>;
  readonly get: (key: number) => Content | undefined;
}

/** The files of a route, or their siblings. */
export interface RouteFiles {
  readonly template: string;
  readonly class: CacheClass;
  /** Of its objects, if the remote has headers. */
  readonly headers: Headers;
  readonly contents: Contents;
  /** Of siblings: the contents are what they decode to. */
  readonly coding: Coding | undefined;
}

/** Whether a template is the name of a file. */
export const isSingle = (template: string): boolean => !template.includes('{');

/** Where a file belongs: a route, siblings of its files, or what rsync left. */
export interface Location {
  readonly template: string;
  readonly key: number;
  /** Whether the remote should hold it. */
  readonly isDesired: boolean;
}

/** `a/.7.json.Xy12Ab`: what a killed rsync leaves of `a/7.json`. */
const TEMPORARY = /^(?<folder>.*\/)?\.(?<name>[^/]+)\.\w{6}$/;

/** Assets come before the pages that load them, and the tiles of the log before all. */
const ORDER = ['tile', 'asset', 'record', 'download', 'feed', 'summary', 'page', 'checkpoint'];

export class DesiredFiles {
  /** In the order in which they are written. */
  readonly routes: readonly RouteFiles[];
  /** How many files there are. */
  readonly total: number;
  /**
   * What has to be sent again if it changes, whatever the lists of commits say: by template the
   * headers of objects, and by name the SHA-256 of the publisher's own files, but for the log's tiles
   * and index.
   */
  readonly sent: Record<string, string> = {};
  readonly #tree: Tree;
  /** The change lists and bundles. */
  readonly #changes: ReadonlyMap<string, Pick<Described, 'bytes' | 'sha256'>>;
  readonly #byTemplate: ReadonlyMap<string, RouteFiles>;
  readonly #place: ReturnType<typeof locator>;
  readonly #readers: HashFileReader[] = [];

  /**
   * @param isObjects whether the remote has headers and no siblings
   * @param recorded templates of files that were uploaded
   * @throws Failure invalid: the tree is damaged
   */
  constructor(tree: Tree, manifest: Manifest, isObjects: boolean, recorded: readonly string[]) {
    this.#tree = tree;
    const changes = filesIn(readChangeIndex(tree)?.changes ?? []);
    this.#changes = new Map(changes.map((each) => [each.file.slice(1), each]));
    const { headers, routes } = parseSnapshot(manifest, `"${tree.manifest}"`);
    const headersOf = ({ class: cacheClass, type, attachment }: SnapshotRoute): Headers => ({
      'Content-Type': type,
      'Cache-Control': headers.content[cacheClass]?.['Cache-Control'] ?? '',
      ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
    });
    const filesOf = (route: SnapshotRoute): readonly RouteFiles[] => {
      const rest = { class: route.class, headers: isObjects ? headersOf(route) : {} };
      const from = isObjects || isOwn(route) ? Number.POSITIVE_INFINITY : manifest.compressed_from;
      return this.#contentsOf(manifest, route).flatMap(([template, contents]) => [
        { template, contents, coding: undefined, ...rest },
        ...siblingsOf(contents, siblingsFrom(route, from)).map(([coding, large]) => ({
          template: template + coding.suffix,
          contents: large,
          coding,
          ...rest,
        })),
      ]);
    };
    this.routes = routes
      .filter(hasFiles)
      .toSorted((a, b) => ORDER.indexOf(a.class) - ORDER.indexOf(b.class))
      .flatMap(filesOf)
      .filter(({ contents }) => contents.size > 0);
    for (const { template, headers: each } of this.routes)
      this.sent[template] = JSON.stringify(each) + (this.sent[template] ?? '');
    this.total = this.routes.reduce((sum, { contents }) => sum + contents.size, 0);
    this.#byTemplate = new Map(this.routes.map((files) => [files.template, files]));
    const published = locator(routes.filter((route) => !isLog(route) && !isFormer(route)));
    const other = locatorOf([...this.#byTemplate.keys(), ...recorded]);
    this.#place = (file) => published(file) ?? other(file);
  }

  #contentsOf(manifest: Manifest, route: PublishedRoute): readonly (readonly [string, Contents])[] {
    const { out, index } = this.#tree;
    if (isRendered(route)) {
      const path = join(index, route.name);
      const reader = HashFileReader.open(path, 1);
      if (reader === undefined) return [];
      this.#readers.push(reader);
      const { size } = reader;
      return [[route.file, { size, get: (key) => reader.find(key), entries: () => keyed(path) }]];
    }
    const [templates, names] = this.#ownFiles(manifest, route);
    const contents = new Map(templates.map((template) => [template, new Map<number, Content>()]));
    const locate = locatorOf(templates);
    try {
      for (const name of names) {
        const place = locate(name);
        if (place?.suffix !== '') continue;
        contents.get(place.route.file)?.set(place.key, this.#ownContent(route, name));
      }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || !(error instanceof Error && 'path' in error)) throw error;
      throw damaged(relative(out, String(error.path)));
    }
    return [...contents];
  }

  /** The publisher's own files of a route: their templates and their names. */
  #ownFiles(
    manifest: Manifest,
    route: PublishedRoute,
  ): readonly [templates: readonly string[], names: Iterable<string>] {
    const { out, index } = this.#tree;
    if (isLog(route)) return logFiles(out, manifest, route);
    if (isFormer(route)) {
      // An earlier version had a route for each.
      const files = isSingle(route.file) ? [] : Object.keys(readIndex(index).assets ?? {});
      const its = files.filter((file) => extname(file) === extname(route.file));
      return [its, its];
    }
    return [[route.file], isSingle(route.file) ? [route.file] : this.#changes.keys()];
  }

  #ownContent(route: PublishedRoute, name: string): Content {
    const path = join(this.#tree.out, name);
    const listed = this.#changes.get(name);
    if (listed !== undefined) this.sent[name] = listed.sha256;
    else if (isLog(route) && !isCheckpoint(name)) statSync(path);
    else {
      const content = measure(path);
      if (isOwn(route)) this.sent[name] = content.hash.toString('hex');
      return content;
    }
    return listed ?? ANY;
  }

  of(template: string): RouteFiles | undefined {
    return this.#byTemplate.get(template);
  }

  /** Finds what a file of a remote is. @returns undefined if it is none of ours */
  locate(file: string): Location | undefined {
    const place = this.#place(file);
    if (place === undefined) {
      const { folder = '', name = '' } = TEMPORARY.exec(file)?.groups ?? {};
      // Its name is a template of its own.
      return this.#place(folder + name) && { template: file, key: 0, isDesired: false };
    }
    const template = place.route.file + place.suffix;
    const isDesired = this.of(template)?.contents.get(place.key) !== undefined;
    return { template, key: place.key, isDesired };
  }

  /**
   * The size of a file that is to be written; undefined if the remote shouldn't hold it.
   * @throws Failure invalid: it isn't there, or has another size than the index says, or it is a
   * sibling of something else; the programs would skip the one, and publish the other
   */
  sizeOf({ contents, coding }: RouteFiles, key: number, file: string): number | undefined {
    const content = contents.get(key);
    if (content === undefined) return undefined;
    const path = join(this.#tree.out, file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const { bytes = size, hash } = content;
    const isRight =
      coding === undefined || bytes === undefined || hash === undefined
        ? size === bytes
        : isAsIndexed(path, { bytes, hash }, coding);
    if (size === undefined || hash?.equals(NO_HASH) === true || !isRight) throw damaged(file);
    return size;
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }
}

const locatorOf = (templates: readonly string[]): ReturnType<typeof locator> =>
  locator(templates.map((file) => ({ name: '', path: '', file, class: 'page' })));

function* keyed(path: string): Generator<readonly [number, Content]> {
  for (const entry of entriesIn(path)) yield [entry.key, entry];
}

/** What siblings of files decode to, by their coding. @param from the size of the smallest */
function siblingsOf(all: Contents, from: number): readonly (readonly [Coding, Contents])[] {
  if (from === Number.POSITIVE_INFINITY) return [];
  const isLarge = ({ bytes = 0 }: Content): boolean => bytes >= from;
  let size = 0;
  for (const [, content] of all.entries()) if (isLarge(content)) size += 1;
  const large: Contents = {
    size,
    get: (key) => [all.get(key)].find((content) => content && isLarge(content)),
    entries: function* () {
      for (const entry of all.entries()) if (isLarge(entry[1])) yield entry;
    },
  };
  return CODINGS.map((coding) => [coding, large]);
}

const damaged = (file: string): Failure =>
  Failure.invalid(
    `"${file}" of the tree is missing or damaged, expected it as in the index: ` +
      '"npm run snapshot -- verify --repair" repairs it',
  );
