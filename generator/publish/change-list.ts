/** The change list: what mirrors and caches must fetch and delete between two snapshots. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { chunksOf } from './files.js';
import type { Manifest } from './snapshot-json.js';
import { listFiles } from './stage.js';
import type { StagePaths } from './stage.js';
import type { Tree } from './tree.js';

/** How many change lists are kept. A daily mirror may miss a month. */
export const KEPT_LISTS = 30;

const counts = z.object({ added: z.int(), changed: z.int(), removed: z.int() });

/** One snapshot in the index. A tree's first snapshot changed everything, so it has no list. */
const change = z.object({
  sequence: z.int(),
  from: z.int().nullable(),
  as_of: z.string().nullable(),
  built_at: z.string(),
  /** Number of records, per kind. */
  counts: z.record(z.string(), counts),
  file: z.string().nullable(),
  bytes: z.int().nullable(),
  sha256: z.string().nullable(),
});
export type Change = z.infer<typeof change>;

const index = z.object({
  /** The published snapshot. */
  sequence: z.int(),
  /** The oldest snapshot from which the lists lead here. An older copy must start over. */
  oldest: z.int(),
  /** Newest first. */
  changes: z.array(change),
});
export type ChangeIndex = z.infer<typeof index>;

const fileOf = (sequence: number): string => `${sequence}.json`;
const pathOf = (sequence: number): string => `/changes/${fileOf(sequence)}`;

/** The published index, or an empty one if it is missing or unreadable. */
export function readChangeIndex(tree: Tree): readonly Change[] {
  try {
    return index.parse(JSON.parse(readFileSync(join(tree.out, 'changes', 'index.json'), 'utf8'))).changes;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return [];
    throw error;
  }
}

/** Files of change lists that the index does not name. */
export function untrackedLists(tree: Tree, changes: readonly Change[]): string[] {
  const named = new Set(changes.flatMap(({ sequence, file }) => (file === null ? [] : [fileOf(sequence)])));
  return filesOf(join(tree.out, 'changes'))
    .filter((file) => /^\d+\.json$/.test(file) && !named.has(file))
    .map((file) => `changes/${file}`);
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Removes damaged lists, and those that lead only to them, from the published index. If no list
 * leads to the published snapshot any more, every mirror starts over from it.
 */
export function mendIndex(
  tree: Tree,
  manifest: Pick<Manifest, 'sequence' | 'as_of' | 'built_at'>,
  damaged: ReadonlySet<string>,
): void {
  const published = readChangeIndex(tree);
  const changes = published[0]?.sequence === manifest.sequence ? published : [];
  const hole = changes.findIndex(({ file }) => file !== null && damaged.has(file.slice(1)));
  if (hole < 0 && changes.length > 0) return;
  const { sequence, as_of, built_at } = manifest;
  const start: Change = {
    ...(changes[0] ?? { sequence, as_of, built_at, counts: {} }),
    from: null,
    file: null,
    bytes: null,
    sha256: null,
  };
  const rest = hole <= 0 ? [start] : changes.slice(0, hole);
  const partial = join(tree.state, 'index.json');
  writeFileSync(partial, JSON.stringify(indexOf(rest)), { flush: true });
  mkdirSync(join(tree.out, 'changes'), { recursive: true });
  renameSync(partial, join(tree.out, 'changes', 'index.json'));
  for (const file of untrackedLists(tree, rest)) rmSync(join(tree.out, file));
}

function indexOf(changes: readonly Change[]): ChangeIndex {
  const newest = changes.at(0)?.sequence ?? 0;
  const last = changes.at(-1);
  return { sequence: newest, oldest: last?.from ?? last?.sequence ?? newest, changes: [...changes] };
}

/** Writes the staged change list `FROM -> TO` from its parts. */
function writeList(paths: StagePaths, from: number, to: number): { bytes: number; sha256: string } {
  const descriptor = openSync(join(paths.changes, fileOf(to)), 'w');
  const digest = createHash('sha256');
  let bytes = 0;
  const write = (chunk: Uint8Array): void => {
    digest.update(chunk);
    bytes += chunk.length;
    for (let at = 0; at < chunk.length;) at += writeSync(descriptor, chunk, at);
  };
  const writeAll = (files: readonly string[]): void => {
    for (const [index, file] of files.entries()) {
      if (index > 0) write(Buffer.from(',\n'));
      for (const chunk of chunksOf(file)) write(chunk);
    }
  };
  try {
    // One entry per line, so that it can be read as a stream.
    write(Buffer.from(`{"from":${from},"to":${to},"put":[\n`));
    writeAll(listFiles(paths.lists, 'puts'));
    write(Buffer.from('\n],"delete":[\n'));
    writeAll(listFiles(paths.lists, 'deletes'));
    write(Buffer.from('\n]}\n'));
  } finally {
    closeSync(descriptor);
  }
  return { bytes, sha256: digest.digest('hex') };
}

/**
 * Stages the change list of a new snapshot, and the index that names it.
 * @returns the changes in that index, and the files of lists that are now too old
 */
export function stageChanges(
  tree: Tree,
  paths: StagePaths,
  from: number | null,
  next: Pick<Change, 'sequence' | 'as_of' | 'built_at' | 'counts'>,
): { readonly changes: readonly Change[]; readonly outdated: readonly string[] } {
  const list = from === null ? undefined : writeList(paths, from, next.sequence);
  const newest: Change = {
    sequence: next.sequence,
    from,
    as_of: next.as_of,
    built_at: next.built_at,
    counts: next.counts,
    file: list === undefined ? null : pathOf(next.sequence),
    bytes: list?.bytes ?? null,
    sha256: list?.sha256 ?? null,
  };
  // Only an unbroken chain of lists is useful; if the index was lost, a new one starts here.
  const earlier = readChangeIndex(tree).filter(({ sequence }) => sequence < next.sequence);
  const reachable = earlier[0]?.sequence === from ? earlier : [];
  const changes = [newest, ...reachable].slice(0, KEPT_LISTS);
  writeFileSync(join(paths.changes, 'index.json'), JSON.stringify(indexOf(changes)));
  return { changes, outdated: untrackedLists(tree, changes) };
}
