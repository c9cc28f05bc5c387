/**
 * The index: a hash file for each route, which says what every published file holds, so that a build can compare
 * without reading the tree; the fingerprints of what it was made from; and index.json, which describes them.
 */
import { hash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { measure } from './scan.js';
import type { Tree } from './tree.js';

const INDEX = 'index.json';
const texts = z.record(z.string(), z.string());
const schema = z.object({
  /** The digest of the tree (see digest.ts), the same as in snapshot.json. */
  digest: z.string(),
  /** The checksums of the hash files. */
  sums: texts,
  /** The documents of each route (see digest.ts). */
  routes: z.record(
    z.string(),
    z.object({ documents: z.int(), bytes: z.int(), firstKey: z.int().nullable(), root: z.string() }),
  ),
  /**
   * Hashes of all that documents were made from besides the rows of the register. Without it, nothing is known of what
   * they were made from.
   */
  buildKey: z.object({ code: z.string(), schema: z.string(), operator: z.string() }).exactOptional(),
  /** Whether there are fingerprints of the register. */
  fingerprints: z.boolean().default(false),
  /** The tables of the bulk downloads that are not older than the snapshot, with the code that wrote them. */
  exports: texts.default({}),
  withheld: z.object({ records: z.array(z.string()), names: z.array(z.string()) }).exactOptional(),
  /** The feed of the snapshots: files with their SHA-256 in hex. */
  snapshotFeed: texts.exactOptional(),
});

export type Index = z.infer<typeof schema>;
/** Marks of withheld records, and of what they are or were called. */
export type WithheldMarks = NonNullable<Index['withheld']>;

/** The file: a checksum before what it is of. */
const file = z.object({ sha256: z.string(), index: z.unknown() });

const sumOfJson = (index: unknown): string => hash('sha256', JSON.stringify(index));

export function writeIndex(folder: string, index: Index): void {
  writeFileSync(join(folder, INDEX), JSON.stringify({ sha256: sumOfJson(index), index }));
}

/**
 * The description of an index.
 * @throws SyntaxError, ZodError: it is damaged
 */
export function readIndex(folder: string): Index {
  const { sha256, index } = file.parse(JSON.parse(readFileSync(join(folder, INDEX), 'utf8')));
  if (sha256 !== sumOfJson(index)) throw new SyntaxError('the description of the index is damaged');
  return schema.parse(index);
}

/** Puts a complete index in the place of the published one; interrupted, it leaves none, which is made anew. */
export function replaceIndex(tree: Tree, folder: string): void {
  rmSync(tree.index, { recursive: true, force: true });
  renameSync(folder, tree.index);
}

/** Whether an index is undamaged, and, if a digest is given, that of the tree with this digest. */
export function isSound(folder: string, digest?: string): boolean {
  try {
    const index = readIndex(folder);
    if (digest !== undefined && index.digest !== digest) return false;
    return Object.entries(index.sums).every(
      ([name, sum]) => measure(join(folder, name)).hash.toString('hex') === sum,
    );
  } catch (error) {
    // Missing, cut short or scribbled over: in each case it has to be made anew.
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return false;
    throw error;
  }
}
