/** The transfer itself, in batches and in order. */
import { Failure, isInterrupt } from '../errors.js';
import { INDEX_FILE } from '../tree/changes.js';
import { filler } from '../routes/index.js';
import type { RouteFiles } from './desired.js';
import { isInTheWay } from './in-the-way.js';
import { isCheckpoint, isTiles } from './log-files.js';
import type { Session } from './session.js';

/** Ascending keys of files, by template. */
export type Keys = ReadonlyMap<string, readonly number[]>;

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
/** Steps of writing, in their order: what names others comes after them. */
type PutStep = 'files' | 'list of changes' | 'snapshot' | 'index of the log' | 'checkpoint';

const putStepOf = ({ template, class: cacheClass }: RouteFiles): PutStep => {
  if (template === INDEX_FILE) return 'list of changes';
  if (template === 'snapshot.json') return 'snapshot';
  if (cacheClass !== 'checkpoint') return 'files';
  return isCheckpoint(template) ? 'checkpoint' : 'index of the log';
};

type DeleteStep = 'in the way' | 'rest' | 'needed until last';

/**
 * If something can't be written, the rest is, and what is gone is deleted: it may be withheld. Only
 * snapshot.json, and the index and checkpoint of the log, stay as they were. Tiles and assets are
 * deleted last, since the checkpoint and the pages before need them.
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(session: Session, { puts, deletes }: Plan): Promise<void> {
  const { tree, remote, progress, desired } = session;
  const [writing, deleting] = [new Attempts(), new Attempts()];
  const isWhole = (): boolean => writing.failure === undefined && deleting.failure === undefined;

  /** Writes the files of some steps, all of the same headers at once, until a step has failed. */
  const putAll = async (...steps: readonly PutStep[]): Promise<void> => {
    for (const step of steps) {
      if (!isWhole()) return;
      const routes = desired.routes.filter((files) => putStepOf(files) === step);
      for (const [kind, headers] of new Map(routes.map((files) => [headersText(files), files.headers]))) {
        const alike = routes.filter((files) => headersText(files) === kind).map(({ template }) => template);
        for (const files of batchesOf(filesOf(puts, alike)))
          await writing.make(() => remote.put(files, headers, progress));
      }
    }
  };
  const deleteStepOf = (template: string, file: string): DeleteStep => {
    if (isInTheWay(tree.out, file)) return 'in the way';
    return isTiles(template) || template.startsWith('assets/') ? 'needed until last' : 'rest';
  };
  const deleteAll = async (step: DeleteStep): Promise<void> => {
    const files = filesOf(deletes, deletes.keys(), (...file) => deleteStepOf(...file) === step);
    for (const batch of batchesOf(files)) await deleting.make(() => remote.delete(batch, progress));
  };

  progress.start('writing', countOf(puts), 'files');
  await deleteAll('in the way');
  // A file in place of a folder must not be there while the deletion of the folder is repeated.
  await putAll('files', 'list of changes');
  progress.finish();
  if (countOf(deletes) > 0) progress.start('deleting', countOf(deletes), 'files');
  await deleteAll('rest');
  progress.finish();
  await putAll('snapshot', 'index of the log', 'checkpoint');
  if (isWhole()) await deleteAll('needed until last');
  const failure = writing.failure ?? deleting.failure;
  if (failure !== undefined) throw failure;
}

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
