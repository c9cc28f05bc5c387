/** /changes/index.json: the newest snapshots, and the files that lead from one to the next. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ifExists, readJson } from '../files.js';
import { PATHS } from '../routes/paths.js';
import type { Tree } from './tree.js';

const counts = z.object({ added: z.int(), changed: z.int(), removed: z.int() });

const described = z.object({ file: z.string(), bytes: z.int(), sha256: z.string() });
/** A file below /changes: its URL path, size and checksum. */
export type Described = z.infer<typeof described>;

/** One snapshot. A tree's first snapshot changed everything, so it has no files. */
const change = z.object({
  sequence: z.int(),
  from: z.int().nullable(),
  /** The digests of both trees. */
  from_digest: z.string().nullable(),
  digest: z.string(),
  as_of: z.string().nullable(),
  built_at: z.string(),
  /** Number of records, per kind. */
  counts: z.record(z.string(), counts),
  file: z.string().nullable(),
  bytes: z.int().nullable(),
  sha256: z.string().nullable(),
  bundle: described.nullable(),
});
export type Change = z.infer<typeof change>;

export const changeIndexSchema = z.object({
  /** Identifies the tree: one that starts over has another. */
  tree: z.string(),
  /** The published snapshot. */
  sequence: z.int(),
  digest: z.string(),
  /** The oldest snapshot from which the bundles lead here. An older copy must start over. */
  oldest: z.int(),
  /** The snapshot that the bulk downloads belong to. */
  downloads: z.object({ sequence: z.int(), digest: z.string() }).exactOptional(),
  /** Newest first. */
  changes: z.array(change),
});
export type ChangeIndex = z.infer<typeof changeIndexSchema>;

/** Files are named after the snapshot that they lead to. */
export const listFile = (sequence: number): string => `changes/${sequence}.json`;
export const bundleFile = (sequence: number): string => `changes/${sequence}.ndjson.gz`;

export const INDEX_FILE = PATHS.changes.slice(1);

/** The published index; undefined if it is missing or unreadable. */
export const readChangeIndex = (tree: Tree): ChangeIndex | undefined =>
  changeIndexSchema.safeParse(readJson(join(tree.out, INDEX_FILE))).data;

/** The change list of a snapshot; undefined if it has none. */
export const listOf = ({ file, bytes, sha256 }: Change): Described | undefined =>
  file === null || bytes === null || sha256 === null ? undefined : { file, bytes, sha256 };

/** All files of some changes. */
export const filesIn = (changes: readonly Change[]): readonly Described[] =>
  changes
    .flatMap((each) => [listOf(each), each.bundle])
    .filter((each) => each !== null && each !== undefined);

/** Files below /changes that none of the changes has. */
export function untrackedFiles(tree: Tree, changes: readonly Change[]): string[] {
  const named = new Set(filesIn(changes).map(({ file }) => file.slice(1)));
  const found = ifExists(() => readdirSync(join(tree.out, 'changes'), { encoding: 'utf8', recursive: true }));
  return (found ?? [])
    .toSorted()
    .map((file) => `changes/${file}`)
    .filter((file) => /\/\d+\.(json|ndjson\.gz)$/.test(file) && !named.has(file));
}
