/**
 * The index: a hash file per route, so that a build can compare without reading the tree, the
 * fingerprints of the sources, and index.json, which describes them all.
 */
import { hash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { measure } from './measure.js';

const INDEX = 'index.json';
const texts = z.record(z.string(), z.string());
/** A route's documents. */
const summary = z.object({
  documents: z.int(),
  bytes: z.int(),
  /** The lowest key; null if there are no documents. */
  firstKey: z.int().nullable(),
  /** The head over the chunks (see digest.ts), in base64. */
  root: z.string(),
});
export type RouteSummary = Readonly<z.infer<typeof summary>>;
const schema = z.object({
  /** The digest of the tree (see digest.ts), as in snapshot.json. */
  digest: z.string(),
  /** The checksums of the hash files. */
  sums: texts,
  routes: z.record(z.string(), summary),
  /**
   * Hashes of everything documents are made from besides the register's rows. Without it, nothing
   * is known about the sources, so everything is rendered.
   */
  buildKey: z.object({ code: z.string(), schema: z.string(), operator: z.string() }).exactOptional(),
  /** Whether the index holds fingerprints of the register. */
  fingerprints: z.boolean().default(false),
  /** The exported tables that are as new as the snapshot, with the code that wrote them. */
  exports: texts.default({}),
  withheld: z.object({ records: z.array(z.string()), names: z.array(z.string()) }).exactOptional(),
  /** What the register lacked (see absent.ts in register/); nothing if it is not known. */
  absent: z.array(z.string()).default([]),
  /** The ids of records that were left out as invalid, per kind; nothing if there are too many. */
  invalid: z.record(z.string(), z.array(z.int())).exactOptional(),
  /** What was published of each table of the register (see counts.ts), if it is known. */
  counts: z
    .record(
      z.string(),
      z.object({
        rows: z.int(),
        /** How often each column that may be null was not. */
        values: z.record(z.string(), z.int()),
        /** The newest measurement of a table of records; null if it had no rows. */
        newest: z.string().nullable().exactOptional(),
      }),
    )
    .exactOptional(),
  /** What identifies the published snapshot.json (see tree/manifest.ts). */
  manifest: z.string().exactOptional(),
  /** What else is known of the snapshot that was committed last: with its digest, what a log says of it. */
  snapshot: z
    .object({ tree: z.string(), sequence: z.int(), asOf: z.string().nullable(), documents: z.int() })
    .exactOptional(),
  /** How many snapshots ago each earlier asset was current (see publish/former-assets.ts). */
  assets: z.record(z.string(), z.int()).exactOptional(),
  /** The files of the snapshot feed, with their SHA-256 in hex. */
  snapshotFeed: texts.exactOptional(),
});

export type Index = z.infer<typeof schema>;
/** Marks of withheld records, and of their past and present names. */
export type WithheldMarks = NonNullable<Index['withheld']>;

/** index.json: the index and its checksum. */
const file = z.object({ sha256: z.string(), index: z.unknown() });

const sumOfJson = (index: unknown): string => hash('sha256', JSON.stringify(index));

export function writeIndex(folder: string, index: Index): void {
  writeFileSync(join(folder, INDEX), JSON.stringify({ sha256: sumOfJson(index), index }));
}

/**
 * Reads the description of an index.
 * @throws SyntaxError, ZodError: it is damaged
 */
export function readIndex(folder: string): Index {
  const { sha256, index } = file.parse(JSON.parse(readFileSync(join(folder, INDEX), 'utf8')));
  if (sha256 !== sumOfJson(index)) throw new SyntaxError('the description of the index is damaged');
  return schema.parse(index);
}

/** What an action on an index returns; undefined if the index is missing or damaged. */
function ifReadable<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return undefined;
    throw error;
  }
}

/** The description of an index; undefined if it is missing or damaged. */
export const readIndexIfReadable = (folder: string): Index | undefined => ifReadable(() => readIndex(folder));

/** The names of the files that make up an index; none if it is missing or damaged. */
export function indexFiles(folder: string): readonly string[] {
  const index = readIndexIfReadable(folder);
  return index === undefined ? [] : [INDEX, ...Object.keys(index.sums)];
}

/** Deletes what else is in the folder of an index: hash files of routes that it no longer has. */
export function dropFormerFiles(folder: string): void {
  const kept = new Set(indexFiles(folder));
  if (kept.size === 0) return;
  for (const name of readdirSync(folder))
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Whether an index is undamaged and, if a digest is given, is that tree's. */
export const isSound = (folder: string, digest?: string): boolean =>
  ifReadable(() => {
    const index = readIndex(folder);
    if (digest !== undefined && index.digest !== digest) return false;
    return Object.entries(index.sums).every(
      ([name, sum]) => measure(join(folder, name)).hash.toString('hex') === sum,
    );
  }) ?? false;
