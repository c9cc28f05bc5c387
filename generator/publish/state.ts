/**
 * state.json: what the next build must know besides the lists. Each commit replaces it. If it is missing or
 * damaged, or the lists are not those that it names, nothing is known, and every file is written again.
 */
import { hash } from 'node:crypto';
import * as z from 'zod';
import { reading, unlessFailure } from '../base/errors.js';
import { ifExists, readJson, readText, replaceFile } from '../base/files.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { readChangeIndex } from '../tree/changes.js';
import { snapshotHash, readSnapshot } from '../tree/snapshot.js';
import { FORMAT, type PublishedSnapshot } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';
import { count, sha256, time, treeId } from '../tree/values.js';
import { sumOfAll } from './lists.js';

const tableCounts = z.object({
  rows: count,
  /** By column, if it is nullable: how many values there are. */
  values: z.record(z.string(), count),
  /** The newest measurement, in a table of records; null if there is none. */
  newest: z.string().nullable().exactOptional(),
});
export type TableCounts = z.infer<typeof tableCounts>;
/** By table, what was published of it. */
export type Counts = Readonly<Record<string, TableCounts>>;

const withheldMarks = z.object({ records: z.array(z.string()), names: z.array(z.string()) });
/** What a snapshot withheld: records as `group 7`, names as hashes. */
export type WithheldMarks = z.infer<typeof withheldMarks>;

const inputs = z.object({
  /** Hash of the register's bytes; null if the documents may have been rendered from others. */
  register: sha256.nullable(),
  /** Hash of the program, its runtime, the operator's files and the options. */
  program: sha256,
  /** `2026-11`. */
  month: z.string(),
});
/** What a snapshot was made from. */
export type Inputs = z.infer<typeof inputs>;

const stateSchema = z.object({
  version: z.literal(1),
  tree: treeId,
  sequence: count,
  /** SHA-256 of snapshot.json but for the time of the build. */
  snapshot: sha256,
  /** SHA-256 of the lists, with their names. */
  lists: sha256,
  inputs,
  counts: z.record(z.string(), tableCounts),
  /** What the register lacked (see register/absent.ts). */
  absent: z.array(z.string()),
  withheld: withheldMarks,
  /** Former assets, by file: when a snapshot last named each. */
  assets: z.record(z.string(), time),
});
export type State = z.infer<typeof stateSchema>;

/** What is known of the snapshot before a build. */
export interface Known {
  /** snapshot.json; undefined if there is none. */
  readonly published: PublishedSnapshot | undefined;
  /** Undefined if it is missing or damaged; its marks and counts hold even where `lists` don't. */
  readonly state: State | undefined;
  /** The folder of the lists; null if it is not known what is published. */
  readonly lists: string | null;
}

const sumOfText = (state: State): string => hash('sha256', JSON.stringify(state));

export const stateText = (state: State): string => JSON.stringify({ sum: sumOfText(state), state });

/** Replaces the state without a commit, where nothing else changes. */
export const replaceState = (tree: Tree, state: State): void =>
  replaceFile(tree.stateFile, stateText(state), `${tree.stateFile}.partial`);

/**
 * Reads what is known of a tree. No commit may be under way.
 * @param isRepair whether snapshot.json may be damaged, and counts as missing then
 * @throws Failure invalid: snapshot.json is not one of this program; environment: the state can't be read
 */
export function readKnown(tree: Tree, isRepair = false): Known {
  const published = isRepair
    ? unlessFailure(() => readSnapshot(tree.snapshotFile))
    : readSnapshot(tree.snapshotFile);
  return reading(`state "${tree.state}"`, () => {
    const { data } = z.object({ sum: sha256, state: stateSchema }).safeParse(readJson(tree.stateFile));
    const state = data !== undefined && data.sum === sumOfText(data.state) ? data.state : undefined;
    const isKnown =
      published !== undefined &&
      state !== undefined &&
      published.format === FORMAT &&
      // Of an earlier version, other documents may have compressed siblings.
      published.compressed_from === COMPRESSED_FROM_BYTES &&
      isSnapshotOf(tree, state) &&
      ifExists(() => sumOfAll(tree.lists)) === state.lists;
    return { published, state, lists: isKnown ? tree.lists : null };
  });
}

/** Whether snapshot.json is the one that a state was written with, but for the time of the build. */
export const isSnapshotOf = (tree: Tree, { snapshot }: State): boolean =>
  snapshotHash(readText(tree.snapshotFile) ?? '') === snapshot;

/** The number of the last snapshot, and the id of the tree, by whichever file still has them. */
export function lastOf(
  tree: Tree,
  { published, state }: Known,
): { id: string | undefined; sequence: number } {
  const index = readChangeIndex(tree);
  const id = published?.tree.id ?? index?.tree ?? state?.tree;
  const own = state?.tree === id ? state?.sequence : undefined;
  return { id, sequence: Math.max(published?.sequence ?? 0, index?.sequence ?? 0, own ?? 0) };
}
