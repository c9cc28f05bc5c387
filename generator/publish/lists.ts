/** Lists for operators: URLs to purge from a CDN, files to copy to another machine. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Lists } from '../config/config.js';
import { Failure, asFailure } from '../errors.js';
import { ALWAYS_FILES } from './changed-files.js';
import { LineWriter, linesOf, replaceFile } from '../files.js';
import { listFiles } from './stage.js';
import type { Tree } from '../tree/tree.js';

/**
 * Writes the lists of everything done since the last successful build, including an interrupted
 * commit that this build completed.
 * @throws Failure environment: a list can't be written
 */
export function writeLists(tree: Tree, baseUrl: string, { purgeList, filesFrom, deleteFrom }: Lists): void {
  const { out } = tree;
  if (purgeList !== undefined) {
    const urls = function* (): Generator<string> {
      for (const path of noted(tree, 'urls')) yield baseUrl + path;
      for (const file of ALWAYS_FILES) yield `${baseUrl}/${file}`;
    };
    write(purgeList, urls());
  }
  if (filesFrom !== undefined) {
    const files = function* (): Generator<string> {
      for (const file of noted(tree, 'files')) if (existsSync(join(out, file))) yield file;
      yield* ALWAYS_FILES;
    };
    write(filesFrom, files());
  }
  if (deleteFrom !== undefined) {
    const files = function* (): Generator<string> {
      // A later commit may have added the file again.
      for (const file of noted(tree, 'removed')) if (!existsSync(join(out, file))) yield file;
    };
    write(deleteFrom, files());
  }
  for (const folder of tree.allUnreported()) rmSync(folder, { recursive: true });
}

function* noted(tree: Tree, list: 'files' | 'urls' | 'removed'): Generator<string> {
  for (const folder of tree.allUnreported()) for (const file of listFiles(folder, list)) yield* linesOf(file);
}

/** Writes a file atomically, since a script may wait for it. */
function write(file: string, lines: Iterable<string>): void {
  try {
    replaceFile(file, (partial) => {
      const writer = new LineWriter(partial);
      for (const line of lines) writer.write(line);
      // Ends the last line with a newline.
      writer.write('');
      writer.finish();
    });
  } catch (error) {
    const failure = asFailure(error, `list "${file}"`);
    throw failure instanceof Failure ? failure.adding('the snapshot itself is published') : failure;
  }
}
