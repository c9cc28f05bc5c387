/** The transfer itself, in batches and in order. */
import { rmSync } from 'node:fs';
import { Failure, isInterrupt } from '../errors.js';
import { NO_HASH } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import { INDEX_FILE } from '../tree/changes.js';
import { filler } from '../routes/index.js';
import { countIn } from './desired-files.js';
import type { RouteFiles } from './desired-files.js';
import { isCheckpoint, isTiles } from './log-files.js';
import { isObstacle } from './obstacles.js';
import { differences } from './record.js';
import type { RemoteRecord } from './record.js';
import type { Session } from './session.js';
import type { Plan } from './upload.js';

/** How many files a program gets at once. An interrupted upload writes no more than these again. */
const BATCH_FILES = 5000;
/** The number of failed batches after which no more are tried. */
const MOST_FAILURES = 3;
/** Written after all that it names, and after the deletions of what it named before. */
const MANIFEST = 'snapshot.json';

/**
 * Writes and deletes what is unknown in the record. If something can't be written, the rest is,
 * and what is gone is deleted: it may be withheld. Only snapshot.json and the checkpoint of the log
 * stay as they were. The checkpoint comes last, since it needs all other files; tiles that it
 * doesn't need are deleted after that, since the checkpoint before it may need them.
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(session: Session, { puts, deletes }: Plan): Promise<void> {
  const { tree, progress, desired } = session;
  const named = (...names: readonly string[]): readonly RouteFiles[] =>
    desired.filter(({ template }) => names.includes(template));
  const checkpoint = desired.filter(({ template }) => isCheckpoint(template));
  const last = new Set([...named(INDEX_FILE, MANIFEST), ...checkpoint]);
  const [writing, deleting] = [new Attempts(), new Attempts()];
  progress.start('writing', puts, 'files');
  if (deletes > 0) await deleteAll(session, deleting, ALL, (file) => isObstacle(tree.out, file));
  // A file in place of a folder must not be there while the deletion of the folder is repeated.
  if (deleting.failure === undefined) {
    await putAll(
      session,
      writing,
      desired.filter((files) => !last.has(files)),
    );
    if (writing.failure === undefined) await putAll(session, writing, named(INDEX_FILE));
  }
  progress.finish();
  if (deletes > 0) {
    progress.start('deleting', deletes, 'files');
    await deleteAll(session, deleting, (template) => !isTiles(template));
    progress.finish();
  }
  for (const files of [named(MANIFEST), checkpoint])
    if (writing.failure === undefined && deleting.failure === undefined)
      await putAll(session, writing, files);
  const isWhole = writing.failure === undefined && deleting.failure === undefined;
  if (deletes > 0 && isWhole) await deleteAll(session, deleting, isTiles);
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

/** Files of some templates, with their entries in the record once they are written or deleted. */
class Batch {
  files: string[] = [];
  #entries = new Map<string, Entry[]>();

  /** @param entry what to record afterwards; by default, that the file is gone */
  add(
    template: string,
    file: string,
    key: number,
    { bytes, hash }: Omit<Entry, 'key'> = { bytes: 0, hash: NO_HASH },
  ): void {
    this.files.push(file);
    const entries = this.#entries.get(template);
    // The hash changes as its reader goes on.
    const copy = { key, bytes, hash: Buffer.from(hash) };
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
    this.files = [];
    this.#entries = new Map();
    await attempts.make(async () => {
      await work(files);
      for (const [template, entries] of all) record.update(template, record.file(template), entries);
    });
  }
}

/** Writes files, all of the same headers at once. */
async function putAll(
  { remote, record, progress }: Session,
  attempts: Attempts,
  routes: readonly RouteFiles[],
): Promise<void> {
  const sorts = new Map(routes.map(({ headers }) => [JSON.stringify(headers), headers]));
  for (const [sort, headers] of sorts) {
    const batch = new Batch();
    const put = (): Promise<void> =>
      batch.end(record, attempts, (files) => remote.put(files, headers, progress));
    for (const { template, hashFile } of routes.filter((each) => JSON.stringify(each.headers) === sort)) {
      const fileOf = filler(template);
      for (const { key, desired } of differences(record.file(template), hashFile)) {
        if (desired === undefined) continue;
        batch.add(template, fileOf(key), key, desired);
        if (batch.files.length === BATCH_FILES) await put();
      }
    }
    await put();
  }
}

const ALL = (): boolean => true;

/** Deletes files that are gone, of some templates: all, or those that are chosen. */
async function deleteAll(
  { remote, record, desired: routes, locator, progress }: Session,
  attempts: Attempts,
  isIncluded: (template: string) => boolean,
  isChosen: (file: string) => boolean = ALL,
): Promise<void> {
  const batch = new Batch();
  const remove = (): Promise<void> =>
    batch.end(record, attempts, async (files) => {
      // A route that is new may have taken over a file.
      const gone = files.filter((file) => locator.locate(file)?.isDesired !== true);
      if (gone.length > 0) await remote.delete(gone, progress);
    });
  const hashFiles = new Map(routes.map(({ template, hashFile }) => [template, hashFile]));
  for (const template of record.templates().filter(isIncluded)) {
    const fileOf = filler(template);
    for (const { key, desired } of differences(record.file(template), hashFiles.get(template))) {
      if (desired !== undefined) continue;
      const file = fileOf(key);
      if (!isChosen(file)) continue;
      batch.add(template, file, key);
      if (batch.files.length === BATCH_FILES) await remove();
    }
  }
  await remove();
  for (const template of record.templates())
    if (!hashFiles.has(template) && countIn(record.file(template)) === 0) rmSync(record.file(template));
}
