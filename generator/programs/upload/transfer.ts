/** The transfer itself, in batches and in order. */
import { Failure, isInterrupt } from '../../base/errors.js';
import { filler } from '../../routes/route.js';
import { INDEX_FILE } from '../../tree/changes.js';
import { isCheckpoint, type FileSet } from './desired.js';
import { isInTheWay } from './remote.js';
import type { UploadSession } from './session.js';

/** The files to write and to delete, by ascending keys. */
export interface TransferPlan {
  readonly puts: ReadonlyMap<FileSet, readonly number[]>;
  /** By template. */
  readonly deletes: ReadonlyMap<string, readonly number[]>;
  /** Of a file to write, if one is missing or damaged: then none is written. */
  readonly damage: Failure | undefined;
}

export const countOf = (keys: ReadonlyMap<unknown, readonly number[]>): number =>
  [...keys.values()].reduce((sum, { length }) => sum + length, 0);

/** How many files rclone gets at once. */
const BATCH_FILES = 5000;
/** The number of failed batches after which no more are tried. */
const MOST_FAILURES = 3;

/** Assets come before the pages that load them, and the tiles of the log before all. */
const CLASSES = ['tile', 'asset', 'record', 'download', 'feed', 'summary', 'page', 'checkpoint'];

const kindOf = ({ headers }: FileSet): string => JSON.stringify(headers);

/** Steps of writing, in their order: what names others comes after them. */
type PutStep = 'files' | 'list of changes' | 'snapshot' | 'index of the log' | 'checkpoint';

const putStepOf = ({ template, class: cacheClass }: FileSet): PutStep => {
  if (template === INDEX_FILE) return 'list of changes';
  if (template === 'snapshot.json') return 'snapshot';
  if (cacheClass !== 'checkpoint') return 'files';
  return isCheckpoint(template) ? 'checkpoint' : 'index of the log';
};

/** Whether a file is a tile of the log, or a bundle of entries. */
export const isTile = (file: string): boolean => /^log\/[0-9a-f]{16}\/tile\//.test(file);

type DeleteStep = 'in the way' | 'rest' | 'needed until last';

function deleteStepOf(out: string, file: string): DeleteStep {
  if (isInTheWay(out, file)) return 'in the way';
  return isTile(file) || file.startsWith('assets/') ? 'needed until last' : 'rest';
}

/**
 * If something can't be written, the rest is, and what is gone is deleted: it may be withheld. Only
 * snapshot.json, and the index and checkpoint of the log, stay as they were. Tiles and assets are
 * deleted last, since the checkpoint and the pages before need them.
 * @throws Failure environment: a program is missing, or has failed; invalid: the tree is damaged
 */
export async function transfer(
  { tree, remote, progress }: UploadSession,
  { puts, deletes, damage }: TransferPlan,
): Promise<void> {
  const [writing, deleting] = [new Attempts(damage), new Attempts()];
  const isWhole = (): boolean => writing.failure === undefined && deleting.failure === undefined;
  const sets = [...puts].toSorted(([a], [b]) => CLASSES.indexOf(a.class) - CLASSES.indexOf(b.class));

  /** Writes the files of some steps, all of the same headers at once, until a step has failed. */
  const putAll = async (...steps: readonly PutStep[]): Promise<void> => {
    for (const step of steps) {
      if (!isWhole()) return;
      const ofStep = sets.filter(([set]) => putStepOf(set) === step);
      for (const [kind, headers] of new Map(ofStep.map(([set]) => [kindOf(set), set.headers]))) {
        const alike = ofStep.flatMap(([set, keys]) =>
          kindOf(set) === kind ? [[set.template, keys] as const] : [],
        );
        for (const batch of batchesOf(namesOf(alike)))
          await writing.make(() => remote.put(batch, headers, progress));
      }
    }
  };
  const batchesToDelete = (step: DeleteStep) =>
    batchesOf(namesOf(deletes), (file) => deleteStepOf(tree.out, file) === step);
  const deleteAll = async (step: DeleteStep): Promise<void> => {
    for (const batch of batchesToDelete(step)) await deleting.make(() => remote.delete(batch, progress));
  };

  progress.start('writing', countOf(puts), 'files');
  await deleteAll('in the way');
  // A file in place of a folder must not be there while the deletion of the folder is repeated.
  await putAll('files', 'list of changes');
  progress.finish();
  const count = [...batchesToDelete('rest')].reduce((sum, { length }) => sum + length, 0);
  if (count > 0) {
    progress.start('deleting', count, 'files');
    await deleteAll('rest');
    progress.finish();
  }
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

  constructor(failure?: Failure) {
    this.failure = failure;
  }

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
function* namesOf(keys: Iterable<readonly [template: string, keys: readonly number[]]>): Generator<string> {
  for (const [template, each] of keys) {
    const nameOf = filler(template);
    for (const key of each) yield nameOf(key);
  }
}

function* batchesOf(
  files: Iterable<string>,
  isChosen = (_file: string): boolean => true,
): Generator<readonly string[]> {
  let batch: string[] = [];
  for (const file of files) {
    if (!isChosen(file)) continue;
    batch.push(file);
    if (batch.length < BATCH_FILES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
