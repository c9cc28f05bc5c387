/** The checkpoint that was signed here or verified last, so that a fork is noticed. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import { readText, replaceFile } from '../files.js';
import type { Tree } from '../tree/tree.js';
import { checkpointIn } from './text.js';
import type { Checkpoint } from './text.js';

export const seenFile = ({ state }: Tree): string => join(state, 'checkpoint');

/** Remembers a checkpoint, as a note. */
export function rememberSeen(tree: Tree, note: string): void {
  if (!existsSync(tree.state)) return;
  replaceFile(seenFile(tree), note);
}

/** Forgets it: the tree has another log from now on. */
export const forgetSeen = (tree: Tree): void => rmSync(seenFile(tree), { force: true });

/** @throws Failure environment: it is damaged, so that a fork would not be noticed */
export function readSeen(tree: Tree): Checkpoint | undefined {
  const file = seenFile(tree);
  const seen = readText(file);
  try {
    return seen === undefined ? undefined : checkpointIn(seen);
  } catch {
    throw Failure.environment(
      `"${file}" is damaged, so it is not known which log the tree had: delete it to trust the log as it is now`,
    );
  }
}
