/**
 * The stage, where a commit is prepared. Everything that needs disk space happens here, so that the
 * commit only renames and deletes.
 */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../base/files.js';
import type { ComparedFiles } from '../state/compare.js';
import { createDifferences, type ComparedRoute } from '../state/next.js';
import type { Tree } from '../tree/tree.js';
import { deleteFolder } from './moves.js';

export function stagePaths({ stage }: Pick<Tree, 'stage'>) {
  return {
    /** New files at their paths, and files that replace others, by route (see `RouteWriter`). */
    tree: join(stage, 'tree'),
    replacing: join(stage, 'replacing'),
    /** How documents and fingerprints differ from the state (see state/compare.ts). */
    differences: join(stage, 'differences.sqlite'),
    /** Temporary files. */
    scratch: join(stage, 'scratch'),
    /** The lines of the bundle, by route. */
    bundle: join(stage, 'bundle'),
    /** The change list and its index, moved after the documents. */
    last: join(stage, 'last'),
    changes: join(stage, 'last', 'changes'),
    manifest: join(stage, 'snapshot.json'),
    /** Disk space that the commit may need as folders grow. */
    reserve: join(stage, 'reserve'),
  } as const;
}

export type StagePaths = ReturnType<typeof stagePaths>;

/**
 * A flat name for staging: the URL-encoded path. Most records have a folder of their own; creating,
 * reading and deleting it in the stage cost as much as everything else done for the file.
 */
export const flattened = (file: string): string => encodeURIComponent(file);

export const unflattened = (name: string): string => decodeURIComponent(name);

/** The path of a changed document in the stage. */
export const replacingFile = ({ replacing }: StagePaths, route: string, file: string): string =>
  join(replacing, route, flattened(file));

/** The name of a part of what is staged of a route. A space sorts before all that is in names of routes. */
export const routePart = (route: string, part: string): string => `${route} ${part}`;

/** The lines of the bundle of a route, in the order of its keys. */
export const bundleParts = ({ bundle }: Pick<StagePaths, 'bundle'>, route: string): readonly string[] =>
  [...namesIn(bundle)]
    .filter((name) => name.startsWith(routePart(route, '')))
    .toSorted()
    .map((name) => join(bundle, name));

/** How many folders may grow by a block at once, as files are moved into them. */
const RESERVED_FOLDERS = 1000;
const BLOCK_BYTES = 4096;
/** What the state needs to note that a commit is done: a page in its WAL, some in a file of its own. */
const STATE_BLOCKS = 16;
/** Upper estimate for a directory entry. */
const ENTRY_BYTES = 128;
/** The time for cleaning up after Ctrl-C: 400 ms. */
const BUDGET_MS = 400;

/** Creates a stage, in place of one that an earlier build left unfinished. */
export function newStage(tree: Pick<Tree, 'stage'>): StagePaths {
  const paths = stagePaths(tree);
  rmSync(tree.stage, { recursive: true, force: true });
  const { tree: files, replacing, bundle, changes, differences } = paths;
  for (const folder of [files, replacing, bundle, changes]) mkdirSync(folder, { recursive: true });
  createDifferences(differences);
  return paths;
}

/** Reserves disk space for folders that grow, and for the state. @param placed how many files a commit moves into folders that are there */
function reserveRoom({ reserve }: StagePaths, placed: number): void {
  const folders = Math.min(placed, RESERVED_FOLDERS);
  const blocks = STATE_BLOCKS + folders + Math.ceil((placed * ENTRY_BYTES) / BLOCK_BYTES);
  const descriptor = openSync(reserve, 'w');
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let count = 0; count < blocks; count += 1) writeSync(descriptor, block);
  } finally {
    closeSync(descriptor);
  }
}

/** Deletes a stage. If somebody waits, the time is limited, and the next build deletes the rest. */
export function discardStage({ stage }: Pick<Tree, 'stage'>, isWaitedFor: boolean): void {
  if (isWaitedFor) deleteFolder(stage, BUDGET_MS);
  else rmSync(stage, { recursive: true, force: true });
}

/** Leaves in the stage what the commit needs. @param placed how many files it moves into folders that are there */
export function finishStage(paths: StagePaths, placed: number): void {
  for (const each of [paths.differences, paths.bundle, paths.scratch])
    rmSync(each, { recursive: true, force: true });
  reserveRoom(paths, placed);
}

/** Limits the lines of a bundle that are staged, in all threads together. */
export interface BundleRoom {
  /** One number that threads share: how many characters have been staged. */
  readonly staged: BigInt64Array;
  /** Up to this size, compressed, there is a bundle however much of the tree it has. */
  readonly compressed: number;
  /** With more staged, there is no bundle, nor a change list. */
  readonly most: bigint;
}

export const hasRoom = ({ staged, most }: BundleRoom): boolean => Atomics.load(staged, 0) <= most;

/** What the writers of a stage have in common. */
export interface StageSpec {
  /** The published folder. */
  readonly out: string;
  readonly paths: StagePaths;
  /** Where documents are compared. */
  readonly compared: ComparedFiles;
  /** By name. */
  readonly routes: ReadonlyMap<string, ComparedRoute>;
  /** The size from which the previous snapshot's documents have compressed siblings. */
  readonly compressedFrom: number;
  /** Undefined if changes are not listed either, as for a first snapshot. */
  readonly bundle: BundleRoom | undefined;
  /** Set in a dry run: how many changed documents of each route and part are staged. */
  readonly examples?: number;
}
