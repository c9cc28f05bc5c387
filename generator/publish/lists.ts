/** Lists for operators: URLs to purge from a CDN, files to copy to another machine. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Lists } from '../config/config.js';
import { Failure, asFailure } from '../errors.js';
import { ALWAYS_FILES } from './changed-files.js';
import { LineWriter, linesOf, replaceFileDurably } from '../files.js';
import { listFiles } from './stage.js';
import type { Tree } from '../tree/tree.js';

const ALWAYS_URLS = ALWAYS_FILES.map((file) => `/${file}`);

/**
 * Writes the lists of everything done since the last successful build, including an interrupted
 * commit that this build completed.
 * @throws Failure environment: a list can't be written
 */
export function writeLists(tree: Tree, baseUrl: string, { purgeList, filesFrom, deleteFrom }: Lists): void {
  const isThere = (file: string): boolean => existsSync(join(tree.out, file));
  const isGone = (file: string): boolean => !isThere(file);
  write(purgeList, listed(tree, 'urls', ALWAYS_URLS), baseUrl);
  write(filesFrom, listed(tree, 'files', ALWAYS_FILES, isThere));
  // A later commit may have added the file again.
  write(deleteFrom, listed(tree, 'removed', [], isGone));
  for (const folder of tree.allUnreported()) rmSync(folder, { recursive: true });
}

/** The lines of a list of all commits that are to be written, and then those that always are. */
function* listed(
  tree: Tree,
  list: 'files' | 'urls' | 'removed',
  always: readonly string[],
  isWritten: (line: string) => boolean = () => true,
): Generator<string> {
  for (const folder of tree.allUnreported())
    for (const file of listFiles(folder, list))
      for (const line of linesOf(file)) if (isWritten(line)) yield line;
  yield* always;
}

/**
 * Writes a file, if it is asked for, atomically, since a script may wait for it, and durably, since the
 * next build doesn't list these lines again.
 */
function write(file: string | undefined, lines: Iterable<string>, prefix = ''): void {
  if (file === undefined) return;
  try {
    replaceFileDurably(file, (partial) => {
      const writer = new LineWriter(partial);
      for (const line of lines) writer.write(prefix + line);
      writer.end();
    });
  } catch (error) {
    const failure = asFailure(error, `list "${file}"`);
    throw failure instanceof Failure ? failure.adding('the snapshot itself is published') : failure;
  }
}
