/** The transfer itself, in batches and in order. */
import { rmSync } from 'node:fs';
import { Failure, isInterrupt } from '../errors.js';
import { NO_HASH } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { applyPatches } from '../incremental/patch.js';
import { filler } from '../routes/index.js';
import { countIn, goalLocator } from './goal.js';
import type { Target } from './goal.js';
import { isObstacle } from './obstacles.js';
import { together, writeHashFile } from './record.js';
import type { RemoteRecord } from './record.js';
import type { Session } from './session.js';
import type { Plan } from './upload.js';

/** How many files a program gets at once. An interrupted upload writes no more than these again. */
const BATCH_FILES = 5000;
/** After so many failed batches no more are tried. */
const MOST_FAILURES = 3;
/** Written after all that it names, and before the deletions of what it named before. */
const CHANGES = 'changes/index.json';
/** Written last. */
const MANIFEST = 'snapshot.json';

/**
 * Writes and deletes what has no hash in the record. If something can't be written, the rest is,
 * and what is gone is deleted: it may be withheld. Only snapshot.json stays as it was.
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(session: Session, { puts, deletes }: Plan): Promise<void> {
  const { tree, progress, targets } = session;
  const named = (...names: readonly string[]): readonly Target[] =>
    targets.filter(({ template }) => names.includes(template));
  const last = named(CHANGES, MANIFEST);
  const [writing, deleting] = [new Attempts(), new Attempts()];
  progress.start('writing', puts, 'files');
  if (deletes > 0) await deleteAll(session, deleting, (file) => isObstacle(tree.out, file));
  await putAll(
    session,
    writing,
    targets.filter((target) => !last.includes(target)),
  );
  if (writing.failure === undefined) await putAll(session, writing, named(CHANGES));
  progress.finish();
  if (deletes > 0) {
    progress.start('deleting', deletes, 'files');
    await deleteAll(session, deleting);
    progress.finish();
  }
  if (writing.failure === undefined && deleting.failure === undefined)
    await putAll(session, writing, named(MANIFEST));
  const failure = writing.failure ?? deleting.failure;
  if (failure !== undefined) throw failure;
}

/** Goes on after failures, unless there are so many that the remote is probably out of reach. */
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

/** Files of some templates, with their entries in the record once they are written or deleted. */
class Batch {
  files: string[] = [];
  #entries = new Map<string, Entry[]>();

  add(template: string, file: string, entry: Entry): void {
    this.files.push(file);
    const entries = this.#entries.get(template);
    // The entry changes as its reader goes on.
    const copy = { ...entry, hash: Buffer.from(entry.hash) };
    if (entries === undefined) this.#entries.set(template, [copy]);
    else entries.push(copy);
  }

  /** Does something with the files, records it, and starts over. */
  async end(
    record: RemoteRecord,
    attempts: Attempts,
    work: (files: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const [files, all] = [this.files, this.#entries];
    if (files.length === 0) return;
    [this.files, this.#entries] = [[], new Map()];
    await attempts.make(async () => {
      await work(files);
      for (const [template, entries] of all) {
        const patch = `${record.temporary(template)}.patch`;
        writeHashFile(patch, entries);
        applyPatches(record.file(template), [patch], record.temporary(template));
        record.keep(template);
      }
    });
  }
}

/** Writes files, all of the same headers at once. */
async function putAll(
  { remote, record, progress }: Session,
  attempts: Attempts,
  targets: readonly Target[],
): Promise<void> {
  const sorts = new Map(targets.map(({ headers }) => [JSON.stringify(headers), headers]));
  for (const [sort, headers] of sorts) {
    const batch = new Batch();
    const put = (): Promise<void> =>
      batch.end(record, attempts, (files) => remote.put(files, headers, progress));
    for (const { template, hashFile } of targets.filter((each) => JSON.stringify(each.headers) === sort)) {
      const fileOf = filler(template);
      for (const [known, wanted] of together(record.file(template), hashFile)) {
        if (wanted === undefined || !known.hash.equals(NO_HASH)) continue;
        batch.add(template, fileOf(known.key), wanted);
        if (batch.files.length === BATCH_FILES) await put();
      }
    }
    await put();
  }
}

/** Deletes files that are gone: all, or those that are chosen. */
async function deleteAll(
  { manifest, remote, record, targets, progress }: Session,
  attempts: Attempts,
  isChosen: (file: string) => boolean = () => true,
): Promise<void> {
  const locate = goalLocator(targets, manifest.routes);
  const batch = new Batch();
  const remove = (): Promise<void> =>
    batch.end(record, attempts, async (files) => {
      // A route that is new may have taken over a file.
      const gone = files.filter((file) => locate(file)?.isWanted !== true);
      if (gone.length > 0) await remote.delete(gone, progress);
    });
  const hashFiles = new Map(targets.map(({ template, hashFile }) => [template, hashFile]));
  for (const template of record.templates()) {
    const fileOf = filler(template);
    for (const [known, wanted] of together(record.file(template), hashFiles.get(template))) {
      if (wanted !== undefined || !known.hash.equals(NO_HASH)) continue;
      const file = fileOf(known.key);
      if (!isChosen(file)) continue;
      batch.add(template, file, known);
      if (batch.files.length === BATCH_FILES) await remove();
    }
  }
  await remove();
  for (const template of record.templates())
    if (!hashFiles.has(template) && countIn(record.file(template)) === 0) rmSync(record.file(template));
}
