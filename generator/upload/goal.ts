/**
 * What a remote is to hold, by templates of files. The compressed siblings have templates of their
 * own, and so have the publisher's own files, which the index leaves out.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { HashFileReader, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { readChangeIndex } from '../publish/change-list.js';
import { CODINGS, siblingsFrom } from '../publish/codings.js';
import { locator, measure } from '../publish/scan.js';
import { isRendered } from '../publish/snapshot-json.js';
import type { Manifest, PublishedRoute } from '../publish/snapshot-json.js';
import type { Tree } from '../publish/tree.js';
import { CACHE_CLASSES } from '../routes/index.js';
import type { Headers } from '../routes/headers.js';
import { writeHashFile } from './record.js';
import type { RemoteRecord } from './record.js';

/** The files of a route, or their siblings. */
export interface Target {
  readonly template: string;
  /** Keys, sizes and hashes. */
  readonly hashFile: string;
  /** Of its objects, if the remote has headers. */
  readonly headers: Headers;
  /** Whether it stands for one file. */
  readonly isOne: boolean;
}

/** Assets come before the pages that load them. */
const ORDER = ['asset', 'record', 'download', 'feed', 'summary', 'page'];

/** The part of snapshot.json that says which headers an object has. */
const described = z.object({
  headers: z.object({
    content: z.record(z.enum(CACHE_CLASSES), z.looseObject({ 'Cache-Control': z.string() })),
  }),
  routes: z.array(
    z.looseObject({ name: z.string(), type: z.string(), attachment: z.string().exactOptional() }),
  ),
});

/** @param isObjects whether the remote has headers and no siblings */
export function goalOf(
  tree: Tree,
  manifest: Manifest,
  record: RemoteRecord,
  isObjects: boolean,
): readonly Target[] {
  const { headers, routes } = described.parse(manifest);
  const headersOf = ({ name, class: cacheClass }: PublishedRoute): Headers => {
    const { type = '', attachment } = routes.find((route) => route.name === name) ?? {};
    return {
      'Content-Type': type,
      'Cache-Control': headers.content[cacheClass]['Cache-Control'],
      ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
    };
  };
  const target = (route: PublishedRoute, template: string, entries?: Iterable<Entry>): Target => {
    const hashFile = entries ? `${record.temporary(template)}.goal` : join(tree.index, route.name);
    if (entries) writeHashFile(hashFile, entries);
    return {
      template,
      hashFile,
      headers: isObjects ? headersOf(route) : {},
      isOne: !route.file.includes('{'),
    };
  };
  return manifest.routes
    .toSorted((a, b) => ORDER.indexOf(a.class) - ORDER.indexOf(b.class))
    .flatMap((route) => {
      if (!isRendered(route)) return [target(route, route.file, ownEntries(tree, route))];
      const main = target(route, route.file);
      const from = siblingsFrom(route, manifest.compressed_from ?? Number.POSITIVE_INFINITY);
      if (isObjects || from === Number.POSITIVE_INFINITY) return [main];
      const siblings = CODINGS.map(({ suffix }) =>
        target(route, route.file + suffix, entriesFrom(main.hashFile, from)),
      );
      return [main, ...siblings];
    });
}

function* entriesFrom(hashFile: string, bytes: number): Generator<Entry> {
  for (const entry of entriesIn(hashFile)) if (entry.bytes >= bytes) yield entry;
}

function* ownEntries(tree: Tree, { file }: PublishedRoute): Generator<Entry> {
  if (!file.includes('{')) {
    try {
      yield { key: 0, ...measure(join(tree.out, file)) };
    } catch (error) {
      throw codeOf(error) === 'ENOENT' ? damaged(file) : error;
    }
    return;
  }
  for (const { sequence, bytes, sha256 } of readChangeIndex(tree).toReversed())
    if (bytes !== null && sha256 !== null) yield { key: sequence, bytes, hash: Buffer.from(sha256, 'hex') };
}

const damaged = (file: string): Failure =>
  Failure.invalid(
    `"${file}" of the tree is missing or damaged, expected it as in the index: ` +
      '"npm run snapshot -- verify --repair" repairs it',
  );

/**
 * The size of a file that is to be written.
 * @throws Failure invalid: it isn't there, or has another size than the index says; the programs
 * would skip the one, and publish the other
 */
export function sizeOf(tree: Tree, file: string, { bytes, hash }: Entry): number {
  const isSibling = CODINGS.some(({ suffix }) => file.endsWith(suffix));
  const size = statSync(join(tree.out, file), { throwIfNoEntry: false })?.size;
  if (size === undefined || hash.equals(NO_HASH) || (!isSibling && size !== bytes)) throw damaged(file);
  return size;
}

/** A file that a route leads to, in some form. */
export interface Located {
  readonly template: string;
  readonly key: number;
  /** Whether the remote is to hold it. */
  readonly isWanted: boolean;
}

/** `a/.7.json.Xy12Ab`: what a killed rsync leaves of `a/7.json`. */
const TEMPORARY = /^(?<folder>.*\/)?\.(?<name>[^/]+)\.\w{6}$/;

/** Finds what a file is; undefined if no route leads to it. Keeps 8 bytes for each wanted file. */
export function goalLocator(
  targets: readonly Target[],
  routes: readonly PublishedRoute[],
): (file: string) => Located | undefined {
  const locate = locator(routes);
  const keys = new Map(targets.map(({ template, hashFile }) => [template, keysIn(hashFile)]));
  return (file) => {
    const place = locate(file);
    if (place === undefined) {
      const { folder = '', name = '' } = TEMPORARY.exec(file)?.groups ?? {};
      // Its name is a template of its own.
      return locate(folder + name) && { template: file, key: 0, isWanted: false };
    }
    const template = place.route.file + place.suffix;
    return { template, key: place.key, isWanted: includes(keys.get(template), place.key) };
  };
}

function keysIn(hashFile: string): Float64Array {
  const keys = new Float64Array(countIn(hashFile));
  let at = 0;
  for (const { key } of entriesIn(hashFile)) keys[at++] = key;
  return keys;
}

/** The number of entries. */
export function countIn(hashFile: string): number {
  const reader = HashFileReader.open(hashFile);
  reader?.close();
  return reader?.size ?? 0;
}

/** Binary search. */
function includes(keys: Float64Array = new Float64Array(), key: number): boolean {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key;
}
