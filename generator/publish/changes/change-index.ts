/** /changes/index.json: the newest snapshots, and the files that lead from one to the next. */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { codeOf } from '../../errors.js';
import { PATHS } from '../../routes/paths.js';
import type { Manifest } from '../snapshot-json.js';
import type { Tree } from '../tree.js';

/** How many change lists and bundles are kept. A daily mirror may miss a month. */
export const KEPT_LISTS = 30;

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
export function readChangeIndex(tree: Tree): ChangeIndex | undefined {
  try {
    return changeIndexSchema.parse(JSON.parse(readFileSync(join(tree.out, INDEX_FILE), 'utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return undefined;
    throw error;
  }
}

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
  return filesOf(join(tree.out, 'changes'))
    .map((file) => `changes/${file}`)
    .filter((file) => /\/\d+\.(json|ndjson\.gz)$/.test(file) && !named.has(file));
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { encoding: 'utf8', recursive: true }).toSorted();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The oldest snapshot from which bundles lead to a snapshot. @param changes newest first */
function oldestOf(sequence: number, changes: readonly Change[]): number {
  let oldest = sequence;
  for (const { sequence: to, from, bundle } of changes)
    if (to === oldest && bundle !== null) oldest = from ?? oldest;
  return oldest;
}

/** Completes an index. */
export const indexOf = (index: Omit<ChangeIndex, 'oldest'>): ChangeIndex => {
  const { tree, sequence, digest, ...rest } = index;
  return { tree, sequence, digest, oldest: oldestOf(sequence, index.changes), ...rest };
};

const NO_FILES = { from: null, from_digest: null, file: null, bytes: null, sha256: null, bundle: null };

/** A change without its files: it is only news. */
export const withoutFiles = (of: Change): Change => ({ ...of, ...NO_FILES });

/**
 * Removes damaged files from the published index. Lists that lead only to a damaged one go with it;
 * if none leads to the published snapshot any more, whoever follows the lists starts over.
 * @param damaged files below the output folder
 */
export function mendIndex(
  tree: Tree,
  manifest: Pick<Manifest, 'sequence' | 'as_of' | 'built_at' | 'digest' | 'downloads'> & { id: string },
  damaged: ReadonlySet<string>,
): void {
  const published = readChangeIndex(tree);
  const isOfSnapshot = published?.sequence === manifest.sequence && published.tree === manifest.id;
  const changes = isOfSnapshot ? published.changes : [];
  const isWhole = (file: string): boolean => !damaged.has(file.slice(1));
  if (changes.length > 0 && filesIn(changes).every(({ file }) => isWhole(file))) return;
  const { id, sequence, as_of, built_at, digest, downloads } = manifest;
  const hole = changes.findIndex((each) => each.file !== null && !isWhole(each.file));
  const start = withoutFiles(changes[0] ?? { ...NO_FILES, sequence, digest, as_of, built_at, counts: {} });
  const rest = changes.length === 0 || hole === 0 ? [start] : hole < 0 ? changes : changes.slice(0, hole);
  const next = indexOf({
    tree: id,
    sequence,
    digest,
    ...downloadsOf({ downloads }),
    changes: rest.map((each) =>
      each.bundle === null || isWhole(each.bundle.file) ? each : { ...each, bundle: null },
    ),
  });
  replaceChangeIndex(tree, next);
  for (const file of untrackedFiles(tree, next.changes)) rmSync(join(tree.out, file));
}

/** Replaces the published index atomically. */
function replaceChangeIndex(tree: Tree, index: ChangeIndex): void {
  const partial = join(tree.state, 'index.json');
  writeFileSync(partial, JSON.stringify(index), { flush: true });
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  renameSync(partial, join(tree.out, INDEX_FILE));
}

/** Repeats what snapshot.json says of the downloads: a build that changes nothing else may renew it. */
export function renewDownloads(tree: Tree, manifest: Pick<Manifest, 'downloads'>): void {
  const index = readChangeIndex(tree);
  if (index === undefined) return;
  const next = { ...index, ...downloadsOf(manifest) };
  if (!isDeepStrictEqual(index, next)) replaceChangeIndex(tree, next);
}

export const downloadsOf = ({
  downloads,
}: {
  readonly downloads?: Manifest['downloads'] | undefined;
}): Pick<ChangeIndex, 'downloads'> =>
  downloads?.digest === undefined
    ? {}
    : { downloads: { sequence: downloads.sequence, digest: downloads.digest } };
