/** Lists for operators: URLs to purge from a CDN, files to copy to another machine. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure } from '../base/errors.js';
import { LineWriter, replaceFileDurably } from '../base/files.js';
import type { Lists } from '../config/config.js';
import { State, type Committed } from '../state/state.js';
import type { Tree } from '../tree/tree.js';
import { ALWAYS_FILES, changedFiles, changedUrls } from './changed-files.js';

/**
 * Writes the lists of everything done since the last successful build, including an interrupted
 * commit that this build completed.
 * @throws Failure environment: a list can't be written; invalid: it is no longer known what was done
 */
export function writeLists(tree: Tree, baseUrl: string, { purgeList, filesFrom, deleteFrom }: Lists): void {
  using state = State.open(tree.database);
  const commits = [...state.commits()].filter(({ isReported }) => !isReported).toReversed();
  for (const commit of commits) state.requireChangesOf(commit);
  const typeAt = (file: string) => statSync(join(tree.out, file), { throwIfNoEntry: false });
  write(purgeList, () => urlsOf(state, commits, baseUrl));
  // A later commit may have deleted a file, or added it again.
  write(filesFrom, () => filesOf(state, commits, true, (file) => typeAt(file)?.isFile() === true));
  write(deleteFrom, () => filesOf(state, commits, false, (file) => typeAt(file) === undefined));
  state.markReported();
}

function* urlsOf(state: State, commits: readonly Committed[], baseUrl: string): Generator<string> {
  for (const commit of commits) for (const url of changedUrls(state, commit)) yield baseUrl + url;
  for (const file of ALWAYS_FILES) yield `${baseUrl}/${file}`;
}

function* filesOf(
  state: State,
  commits: readonly Committed[],
  isPut: boolean,
  isWanted: (file: string) => boolean,
): Generator<string> {
  for (const commit of commits)
    for (const each of changedFiles(state, commit))
      if (each.isPut === isPut && isWanted(each.file)) yield each.file;
  if (isPut) yield* ALWAYS_FILES;
}

/**
 * Writes a file, if it is asked for, atomically, since a script may wait for it, and durably, since the
 * next build doesn't list these lines again.
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
