/** The transfer itself, in batches and in order. */
import { Failure, isInterrupt } from '../errors.js';
import { INDEX_FILE } from '../publish/changes/change-index.js';
import { filler } from '../routes/index.js';
import type { RouteFiles } from './desired.js';
import { isInTheWay } from './in-the-way.js';
import { isCheckpoint, isTiles } from './log-files.js';
import type { Session } from './session.js';

/** Ascending keys of files, by template. */
export type Keys = ReadonlyMap<string, Float64Array>;

/** The files to write and to delete. */
export interface Plan {
  readonly puts: Keys;
  readonly deletes: Keys;
}

const headersText = ({ headers }: RouteFiles): string => JSON.stringify(headers);

export const countOf = (keys: Keys): number =>
  [...keys.values()].reduce((sum, { length }) => sum + length, 0);

/** How many files a program gets at once. */
const BATCH_FILES = 5000;
/** The number of failed batches after which no more are tried. */
const MOST_FAILURES = 3;
/** Written after all that it names, and after the deletions of what it named before. */
const MANIFEST = 'snapshot.json';

/**
 * If something can't be written, the rest is, and what is gone is deleted: it may be withheld. Only
 * snapshot.json, and the index and checkpoint of the log, stay as they were. The checkpoint comes
 * after all that it needs. Tiles and assets are deleted last, since the checkpoint and the pages
 * before need them.
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(session: Session, { puts, deletes }: Plan): Promise<void> {
  const { tree, remote, progress, desired } = session;
  const [writing, deleting] = [new Attempts(), new Attempts()];
  const isWhole = (): boolean => writing.failure === undefined && deleting.failure === undefined;

  /** Writes files, all of the same headers at once. */
  const putAll = async (isChosen: (files: RouteFiles) => boolean): Promise<void> => {
    const chosen = desired.routes.filter(isChosen);
    for (const [kind, headers] of new Map(chosen.map((files) => [headersText(files), files.headers]))) {
      const alike = chosen.filter((files) => headersText(files) === kind).map(({ template }) => template);
      for (const files of batchesOf(filesOf(puts, alike)))
        await writing.make(() => remote.put(files, headers, progress));
    }
  };
  const deleteAll = async (isChosen: (template: string, file: string) => boolean): Promise<void> => {
    const files = filesOf(deletes, deletes.keys(), isChosen);
    for (const batch of batchesOf(files)) await deleting.make(() => remote.delete(batch, progress));
  };

  progress.start('writing', countOf(puts), 'files');
  await deleteAll((_, file) => isInTheWay(tree.out, file));
  // A file in place of a folder must not be there while the deletion of the folder is repeated.
  if (isWhole()) {
    await putAll(({ template, class: cacheClass }) => !isLate(template) && cacheClass !== 'checkpoint');
    if (isWhole()) await putAll(({ template }) => template === INDEX_FILE);
  }
  progress.finish();
  if (countOf(deletes) > 0) progress.start('deleting', countOf(deletes), 'files');
  await deleteAll((template, file) => !isNeededUntilLast(template) && !isInTheWay(tree.out, file));
  progress.finish();
  for (const isNext of [
    ({ template }: RouteFiles) => template === MANIFEST,
    ({ template, class: cacheClass }: RouteFiles) => cacheClass === 'checkpoint' && !isCheckpoint(template),
    ({ template }: RouteFiles) => isCheckpoint(template),
  ])
    if (isWhole()) await putAll(isNext);
  if (isWhole())
    await deleteAll((template, file) => isNeededUntilLast(template) && !isInTheWay(tree.out, file));
  const failure = writing.failure ?? deleting.failure;
  if (failure !== undefined) throw failure;
}

const isLate = (template: string): boolean => template === INDEX_FILE || template === MANIFEST;

const isNeededUntilLast = (template: string): boolean => isTiles(template) || template.startsWith('assets/');

/** Goes on after failures, up to a number that suggests that the remote is out of reach. */
class Attempts {
  /** The first. */
  failure: Failure | undefined;
  #left = MOST_FAILURES;

  async make(work: () => Promise<void>): Promise<void> {
    if (this.#left === 0) return;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failure) || isInterrupt(error)) throw error;
      this.failure ??= error;
      this.#left -= 1;
    }
  }
}

/** The names of files, template by template. */
function* filesOf(
  keys: Keys,
  templates: Iterable<string>,
  isChosen: (template: string, file: string) => boolean = () => true,
): Generator<string> {
  for (const template of templates) {
    const fileOf = filler(template);
    for (const key of keys.get(template) ?? []) {
      const file = fileOf(key);
      if (isChosen(template, file)) yield file;
    }
  }
}

function* batchesOf(files: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = [];
  for (const file of files) {
    batch.push(file);
    if (batch.length < BATCH_FILES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
