/**
 * What the state of a copy remembers of its origin's log, even if the copy itself is deleted: the
 * keys that are trusted, and the checkpoint that was seen last.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors.js';
import { makeFolder, readText, replaceFileDurably } from '../../base/files.js';
import { parseVerifier, type Verifier } from '../../base/keys.js';
import { checkpointIn } from '../log/tlog/text.js';
import { parseJson } from '../../base/portable.js';
import type { Tree } from '../../tree/tree.js';

const schema = z.object({
  keys: z.array(z.string().transform(parseVerifier)).min(1),
  /** As a note, whose signatures were verified. */
  checkpoint: z.string().transform(checkpointIn),
});

export const knownLogFile = ({ mirror }: Tree): string => join(mirror, 'log.json');

/**
 * @returns undefined if no log was seen
 * @throws Failure environment: the file is damaged, so that a fork would not be noticed
 */
export function readKnownLog(tree: Tree): z.infer<typeof schema> | undefined {
  const file = knownLogFile(tree);
  const content = readText(file);
  try {
    return content === undefined ? undefined : schema.parse(parseJson(content));
  } catch {
    throw Failure.environment(
      `"${file}" is damaged, so it is not known which log the copy had: restore it, or delete it to trust the log as it is now`,
    );
  }
}

/** Durable, before anything of the log is published. */
export function writeKnownLog(tree: Tree, keys: readonly Verifier[], note: string): void {
  const file = knownLogFile(tree);
  const content = JSON.stringify({ keys: keys.map(({ vkey }) => vkey), checkpoint: note });
  if (readText(file) === content) return;
  makeFolder(tree.mirror);
  replaceFileDurably(file, content);
}

/** Keeps, durably, a checkpoint that contradicts the one that was seen last. @returns the file */
export function keepContradiction(tree: Tree, note: string): string {
  const file = join(tree.mirror, 'contradiction');
  makeFolder(tree.mirror);
  replaceFileDurably(file, note);
  return file;
}
