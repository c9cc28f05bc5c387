/**
 * The files that a remote should hold, by templates. The compressed siblings have templates of
 * their own, and so have the publisher's own files, which the index leaves out.
 */
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Failure, codeOf } from '../errors.js';
import { HashFileReader, NO_HASH, entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import { filesIn, readChangeIndex } from '../tree/changes.js';
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import type { Coding } from '../tree/codings.js';
import { isAsIndexed } from '../tree/measure.js';
import { locator } from '../tree/locate.js';
import { isFormer, isLog, isRendered } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { parseSnapshot } from '../tree/snapshot-json.js';
import type { SnapshotRoute } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import type { Headers } from '../routes/headers.js';
import { halves, hasFiles } from '../routes/index.js';
import { logFiles, singleEntry } from './log-files.js';
import { writeHashFile } from './record.js';
import type { RemoteRecord } from './record.js';

/** The files of a route, or their siblings. */
export interface RouteFiles {
  readonly template: string;
  /** Keys, sizes and hashes. */
  readonly hashFile: string;
  /** How many files, at least one. */
  readonly count: number;
  /** Of its objects, if the remote has headers. */
  readonly headers: Headers;
  /** Whether the template is the name of a file. */
  readonly isSingle: boolean;
  /** Of siblings: the index describes what they contain. */
  readonly coding: Coding | undefined;
}

/** Assets come before the pages that load them, and what the index of the log lists before that. */
const ORDER = ['tile', 'asset', 'record', 'download', 'feed', 'summary', 'page', 'checkpoint'];

/**
 * In the order in which they are written.
 * @param isObjects whether the remote has headers and no siblings
 */
export function desiredFiles(
  tree: Tree,
  manifest: Manifest,
  record: RemoteRecord,
  isObjects: boolean,
): readonly RouteFiles[] {
  const { headers, routes } = parseSnapshot(manifest, `"${tree.manifest}"`);
  const headersOf = ({ class: cacheClass, type, attachment }: SnapshotRoute): Headers => ({
    'Content-Type': type,
    'Cache-Control': headers.content[cacheClass]?.['Cache-Control'] ?? '',
    ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
  });
  const filesOf = (
    route: SnapshotRoute,
    template: string,
    entries?: Iterable<Entry>,
    coding?: Coding,
  ): RouteFiles => {
    const hashFile = entries ? `${record.temporary(template)}.desired` : join(tree.index, route.name);
    if (entries) writeHashFile(hashFile, entries);
    return {
      template,
      hashFile,
      count: countIn(hashFile),
      headers: isObjects ? headersOf(route) : {},
      isSingle: !template.includes('{'),
      coding,
    };
  };
  return routes
    .filter(hasFiles)
    .toSorted((a, b) => ORDER.indexOf(a.class) - ORDER.indexOf(b.class))
    .flatMap((route) => {
      if (isLog(route)) {
        return logFiles(tree.out, manifest, route).map(({ template, entries }) =>
          filesOf(route, template, whole(tree, entries())),
        );
      }
      const main = filesOf(route, route.file, isRendered(route) ? undefined : ownEntries(tree, route));
      if (!isRendered(route) && !isFormer(route)) return [main];
      const from = siblingsFrom(route, manifest.compressed_from ?? Number.POSITIVE_INFINITY);
      if (isObjects || from === Number.POSITIVE_INFINITY) return [main];
      const siblings = CODINGS.map((coding) =>
        filesOf(route, route.file + coding.suffix, entriesFrom(main.hashFile, from), coding),
      );
      return [main, ...siblings];
    })
    .filter(({ count }) => count > 0);
}

function* entriesFrom(hashFile: string, bytes: number): Generator<Entry> {
  for (const entry of entriesIn(hashFile)) if (entry.bytes >= bytes) yield entry;
}

/** @throws Failure invalid: a file of the tree is missing */
function* whole({ out }: Tree, entries: Iterable<Entry>): Generator<Entry> {
  try {
    yield* entries;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !(error instanceof Error)) throw error;
    throw 'path' in error && typeof error.path === 'string' ? damaged(relative(out, error.path)) : error;
  }
}

function* ownEntries(tree: Tree, { file }: PublishedRoute): Generator<Entry> {
  if (!file.includes('{')) {
    yield* whole(tree, singleEntry(join(tree.out, file)));
    return;
  }
  const [before, after] = halves(file);
  const entries = filesIn(readChangeIndex(tree)?.changes ?? []).flatMap((its): Entry[] => {
    const name = its.file.slice(1);
    const key = name.slice(before.length, -after.length);
    if (!name.startsWith(before) || !name.endsWith(after) || !/^\d+$/.test(key)) return [];
    return [{ key: Number(key), bytes: its.bytes, hash: Buffer.from(its.sha256, 'hex') }];
  });
  yield* entries.toSorted((a, b) => a.key - b.key);
}

const damaged = (file: string): Failure =>
  Failure.invalid(
    `"${file}" of the tree is missing or damaged, expected it as in the index: ` +
      '"npm run snapshot -- verify --repair" repairs it',
  );

/**
 * The size of a file that is to be written.
 * @param coding of a sibling, whose size the index doesn't have
 * @throws Failure invalid: it isn't there, or has another size than the index says, or it is a
 * sibling of something else; the programs would skip the one, and publish the other
 */
export function sizeOf(tree: Tree, file: string, entry: Entry, coding?: Coding): number {
  const path = join(tree.out, file);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  const isRight = coding === undefined ? size === entry.bytes : isAsIndexed(path, entry, coding);
  if (size === undefined || entry.hash.equals(NO_HASH) || !isRight) throw damaged(file);
  return size;
}

/** Where a file belongs: a route or former route, siblings of its files, or what rsync left. */
export interface Location {
  readonly template: string;
  readonly key: number;
  /** Whether the remote should hold it. */
  readonly isDesired: boolean;
}

/** `a/.7.json.Xy12Ab`: what a killed rsync leaves of `a/7.json`. */
const TEMPORARY = /^(?<folder>.*\/)?\.(?<name>[^/]+)\.\w{6}$/;

/** Finds what a file of a remote is, by the routes of the tree and what was uploaded before. */
export class Locator {
  readonly #place: ReturnType<typeof locator>;
  readonly #desired: ReadonlyMap<string, RouteFiles>;
  readonly #readers = new Map<string, HashFileReader | undefined>();

  /** @param recorded templates of files that were uploaded */
  constructor(
    desired: readonly RouteFiles[],
    routes: readonly PublishedRoute[],
    recorded: readonly string[],
  ) {
    const published = locator(routes.filter((route) => !isLog(route)));
    const others = [...desired.map(({ template }) => template), ...recorded];
    const other = locator(others.map((file) => ({ name: '', path: '', file, class: 'page' })));
    this.#place = (file) => published(file) ?? other(file);
    this.#desired = new Map(desired.map((files) => [files.template, files]));
  }

  /** @returns undefined if it is none of ours */
  locate(file: string): Location | undefined {
    const place = this.#place(file);
    if (place === undefined) {
      const { folder = '', name = '' } = TEMPORARY.exec(file)?.groups ?? {};
      // Its name is a template of its own.
      return this.#place(folder + name) && { template: file, key: 0, isDesired: false };
    }
    const template = place.route.file + place.suffix;
    return { template, key: place.key, isDesired: this.#isDesired(template, place.key) };
  }

  #isDesired(template: string, key: number): boolean {
    const files = this.#desired.get(template);
    // The operator may have many single files: they need no reader.
    if (files === undefined || files.isSingle) return files !== undefined;
    const reader = this.#readers.get(template) ?? HashFileReader.open(files.hashFile);
    this.#readers.set(template, reader);
    return reader?.has(key) === true;
  }

  close(): void {
    for (const reader of this.#readers.values()) reader?.close();
  }
}

/** The number of entries in a hash file. */
export function countIn(hashFile: string): number {
  const reader = HashFileReader.open(hashFile);
  reader?.close();
  return reader?.size ?? 0;
}
