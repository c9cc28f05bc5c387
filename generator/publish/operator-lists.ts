/** Lists for operators: files to send to a copy, files to delete there, URLs to purge from a CDN. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure } from '../base/errors.js';
import { LineWriter, linesOf, namesIn, replaceFileDurably } from '../base/files.js';
import type { Lists } from '../config/config.js';
import { INDEX_FILE } from '../tree/changes.js';
import type { Tree } from '../tree/tree.js';

/** The files that every commit changes. */
const ALWAYS_FILES = [INDEX_FILE, 'snapshot.json'];

/** The lines of files, in order. Of a folder, those of all files in it, by their names. */
export function* linesIn(paths: readonly string[]): Generator<string, void, undefined> {
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) yield* linesIn(namesIn(path).map((name) => join(path, name)));
    else if (found !== undefined) yield* linesOf(path);
  }
}

/**
 * Writes the lists of all commits since a build last wrote them: an earlier build may have been interrupted after
 * its commit.
 * @throws Failure environment: a list can't be written
 */
export function writeOperatorLists(tree: Tree, baseUrl: string, lists: Lists): void {
  const commits = namesIn(tree.unreported);
  const linesOfAll = (what: string): Generator<string> =>
    linesIn(commits.map((name) => join(tree.unreported, name, what)));
  const typeAt = (file: string) => statSync(join(tree.out, file), { throwIfNoEntry: false });
  write(lists.purgeList, function* () {
    for (const url of linesOfAll('purge')) if (!ALWAYS_FILES.includes(url.slice(1))) yield baseUrl + url;
    for (const file of ALWAYS_FILES) yield `${baseUrl}/${file}`;
  });
  // A later commit may have deleted a file, or put it again.
  write(lists.filesFrom, function* () {
    for (const file of linesOfAll('put'))
      if (!ALWAYS_FILES.includes(file) && typeAt(file)?.isFile() === true) yield file;
    yield* ALWAYS_FILES;
  });
  write(lists.deleteFrom, function* () {
    for (const file of linesOfAll('delete')) if (typeAt(file) === undefined) yield file;
  });
  rmSync(tree.unreported, { recursive: true, force: true });
}

/**
 * Writes a list that was asked for: atomically, since a script may wait for the file, and durably, since the next
 * build doesn't list these lines again.
 */
function write(file: string | undefined, lines: () => Iterable<string>): void {
  if (file === undefined) return;
  try {
    replaceFileDurably(file, (partial) => {
      const writer = new LineWriter(partial);
      for (const line of lines()) writer.write(line);
      writer.end();
    });
  } catch (error) {
    const failure = asFailure(error, `list "${file}"`);
    throw failure instanceof Failure ? failure.adding('the snapshot itself is published') : failure;
  }
}
