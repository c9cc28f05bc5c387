/**
 * The journal of a commit: the list of its operations on the stage, the tree and the state. From when
 * it is written, the commit only goes forward, and whoever opens the tree next carries out what is
 * left. Each operation can be repeated.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { replaceFileDurably } from '../files.js';
import type { Tree } from '../tree/tree.js';
import { isCopy } from './copied.js';
import { stagePaths } from './stage.js';

/** A path relative to the stage. */
const staged = z.string();

const operation = z.union([
  /** Moves a staged file, or everything in a staged folder, to a path below the tree. */
  z.object({ put: staged, at: z.string() }),
  /** Moves staged files to the paths that are their names (see `flattened`). */
  z.object({ putEach: staged }),
  /** Deletes the files that staged lists name. */
  z.object({ deleteIn: staged }),
  /** Replaces files of a part of the state by staged ones; all of the rollback data. */
  z.object({ replace: z.string(), by: staged }),
]);
export type Operation = z.infer<typeof operation>;

const schema = z.object({
  sequence: z.int(),
  /** The version before had the same ones in each commit. */
  operations: z.array(operation).exactOptional(),
});

/** Whether a commit was interrupted. */
export const isPrepared = ({ journal }: Tree): boolean => existsSync(journal);

/** Marks a flushed stage as complete, durably. */
export const writeJournal = ({ journal }: Tree, sequence: number, operations?: readonly Operation[]): void =>
  replaceFileDurably(journal, JSON.stringify({ sequence, operations }));

/** @throws ZodError: it is damaged */
export function readJournal(tree: Tree): readonly Operation[] {
  const { sequence, operations } = schema.parse(JSON.parse(readFileSync(tree.journal, 'utf8')));
  if (operations !== undefined) return operations;
  writeJournal(tree, sequence, operationsOf(tree, sequence, isCopy(tree)));
  return readJournal(tree);
}

/** The operations of a commit that changes documents, once everything is staged. */
export function operationsOf(tree: Tree, sequence: number, isOfCopy: boolean): readonly Operation[] {
  const isWithout = existsSync(stagePaths(tree).withoutPrevious);
  return [
    { put: 'tree', at: '' },
    { putEach: 'replacing' },
    { deleteIn: 'lists' },
    { replace: 'index', by: 'index' },
    { put: 'last', at: '' },
    { put: 'snapshot.json', at: 'snapshot.json' },
    replacePrevious(isWithout ? 'without-previous' : 'previous'),
    { replace: `changed/${sequence}`, by: 'changed' },
    // Nobody asks a copy for its lists.
    ...(isOfCopy ? [] : [{ replace: `unreported-${sequence}`, by: 'lists' }]),
  ];
}

/** Where in the stage is what was replaced, and not kept for a rollback. */
export const REPLACED: readonly string[] = ['outdated', 'previous'];

/** Replaces the rollback data. */
export const replacePrevious = (by: string): Operation => ({ replace: 'previous', by });
