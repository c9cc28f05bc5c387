/**
 * What a remote is to hold: a hash file for each template of files, linked from the index. The
 * compressed siblings have templates of their own, and so have the publisher's own files.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, codeOf } from '../errors.js';
import { HashFileReader, HashFileWriter, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { readChangeIndex } from '../publish/change-list.js';
import { CODINGS, siblingsFrom } from '../publish/codings.js';
import { linkOrCopy, makeFolder } from '../publish/files.js';
import { readIndex } from '../publish/index-json.js';
import { locator, measure } from '../publish/scan.js';
import { isRendered } from '../publish/snapshot-json.js';
import type { Manifest, PublishedRoute } from '../publish/snapshot-json.js';
import type { Tree } from '../publish/tree.js';
import { CACHE_CLASSES } from '../routes/index.js';
import type { CacheClass } from '../routes/index.js';
import type { Headers } from '../routes/headers.js';

/** The files of a route, or their siblings. */
export interface Target {
  /** Also the name of its hash file, escaped. */
  readonly template: string;
  /** Of its objects, if the remote has headers. */
  readonly headers: Headers;
  /** Whether it stands for one file. */
  readonly isOne: boolean;
}

export interface Goal {
  /** In the order in which they are written. */
  readonly targets: readonly Target[];
  /** The checksums of the hash files, by template. */
  readonly sums: Readonly<Record<string, string>>;
}

/** Written after everything that it names. */
export const CHANGES = 'changes/index.json';
/** Written last. */
export const MANIFEST = 'snapshot.json';

/** Assets come before the pages that load them. */
const ORDER: readonly CacheClass[] = ['asset', 'record', 'download', 'feed', 'summary', 'page'];

/** The template of a hash file's name. */
export const templateOf = (name: string): string => decodeURIComponent(name);

/** The part of snapshot.json that says which headers an object has. */
const described = z.object({
  headers: z.object({
    content: z.record(z.enum(CACHE_CLASSES), z.looseObject({ 'Cache-Control': z.string() })),
  }),
  routes: z.array(
    z.looseObject({ name: z.string(), type: z.string(), attachment: z.string().exactOptional() }),
  ),
});

export const hashFileOf = (folder: string, template: string): string =>
  join(folder, encodeURIComponent(template));

/**
 * Writes the hash files of what a remote is to hold.
 * @param isObjects whether it has headers and no siblings
 */
export function writeGoal(tree: Tree, manifest: Manifest, folder: string, isObjects: boolean): Goal {
  makeFolder(folder);
  const { sums: indexSums } = readIndex(tree.index);
  const { headers, routes } = described.parse(manifest);
  const headersOf = ({ name, class: cacheClass }: PublishedRoute): Headers => {
    const { type = '', attachment } = routes.find((route) => route.name === name) ?? {};
    return {
      'Content-Type': type,
      'Cache-Control': headers.content[cacheClass]['Cache-Control'],
      ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
    };
  };
  const targets: Target[] = [];
  const sums: Record<string, string> = {};
  const add = (route: PublishedRoute, suffix: string, write: (path: string) => string): void => {
    const template = route.file + suffix;
    sums[template] = write(hashFileOf(folder, template));
    targets.push({ template, headers: isObjects ? headersOf(route) : {}, isOne: !route.file.includes('{') });
  };
  const inOrder = manifest.routes.toSorted((a, b) => ORDER.indexOf(a.class) - ORDER.indexOf(b.class));
  for (const route of inOrder) {
    if (!isRendered(route)) {
      add(route, '', (path) => written(path, ownEntries(tree, route)));
      continue;
    }
    const source = join(tree.index, route.name);
    add(route, '', (path) => {
      linkOrCopy(source, path);
      return indexSums[route.name] ?? '';
    });
    const from = siblingsFrom(route, manifest.compressed_from ?? Number.POSITIVE_INFINITY);
    if (isObjects || from === Number.POSITIVE_INFINITY) continue;
    const large = function* (): Generator<Entry> {
      for (const entry of entriesIn(source)) if (entry.bytes >= from) yield entry;
    };
    for (const { suffix } of CODINGS) add(route, suffix, (path) => written(path, large()));
  }
  return { targets, sums };
}

function written(path: string, entries: Iterable<Entry>): string {
  const writer = new HashFileWriter(path);
  for (const entry of entries) writer.add(entry);
  return writer.finish();
}

/** The publisher's own files, which the index leaves out. */
function* ownEntries(tree: Tree, { file }: PublishedRoute): Generator<Entry> {
  if (!file.includes('{')) {
    yield { key: 0, ...measured(join(tree.out, file), file) };
    return;
  }
  for (const { sequence, bytes, sha256 } of readChangeIndex(tree).toReversed())
    if (bytes !== null && sha256 !== null) yield { key: sequence, bytes, hash: Buffer.from(sha256, 'hex') };
}

function measured(path: string, file: string): Omit<Entry, 'key'> {
  try {
    return measure(path);
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? damaged(file) : error;
  }
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

/** A file of a template. */
export interface Located {
  readonly template: string;
  readonly key: number;
  /** Whether the remote is to hold it. */
  readonly isWanted: boolean;
}

/** Finds the template of a file name; undefined if no route leads to it, in any form. */
export function goalLocator(
  folder: string,
  { targets }: Goal,
  routes: readonly PublishedRoute[],
): (file: string) => Located | undefined {
  const locate = locator(routes);
  const templates = new Set(targets.map(({ template }) => template));
  const keys = new Map<string, Float64Array>();
  const keysOf = (template: string): Float64Array => {
    const found = keys.get(template) ?? keysIn(hashFileOf(folder, template));
    keys.set(template, found);
    return found;
  };
  return (file) => {
    const place = locate(file);
    if (place === undefined) return undefined;
    const { key } = place;
    const template = place.route.file + place.suffix;
    return { template, key, isWanted: templates.has(template) && includes(keysOf(template), key) };
  };
}

/** All keys of a hash file: 8 bytes for each. */
function keysIn(path: string): Float64Array {
  const reader = HashFileReader.open(path);
  const keys = new Float64Array(reader?.size ?? 0);
  for (let at = 0; at < keys.length; at += 1) {
    keys[at] = reader?.peekKey() ?? 0;
    reader?.next();
  }
  reader?.close();
  return keys;
}

/** Binary search. */
function includes(keys: Float64Array, key: number): boolean {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key;
}
