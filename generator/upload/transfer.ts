/** The transfer itself, in batches and in order. */
import { rmSync } from 'node:fs';
import { NO_HASH } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { applyPatches } from '../incremental/patch.js';
import { filler } from '../routes/index.js';
import { goalLocator } from './goal.js';
import type { Target } from './goal.js';
import { together, writeHashFile } from './record.js';
import type { RemoteRecord } from './record.js';
import type { Session } from './session.js';
import type { Plan } from './upload.js';

/** How many files a program gets at once. An interrupted upload writes no more than these again. */
const BATCH_FILES = 5000;
/** Written after all that it names, and before the deletions of what it named before. */
const CHANGES = 'changes/index.json';
/** Written last. */
const MANIFEST = 'snapshot.json';

/**
 * Writes and deletes what has no hash in the record.
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(session: Session, { puts, deletes }: Plan): Promise<void> {
  const { progress, targets } = session;
  const named = (...names: readonly string[]): readonly Target[] =>
    targets.filter(({ template }) => names.includes(template));
  const last = named(CHANGES, MANIFEST);
  progress.start('writing', puts, 'files');
  await putAll(
    session,
    targets.filter((target) => !last.includes(target)),
  );
  await putAll(session, named(CHANGES));
  progress.finish();
  if (deletes > 0) {
    progress.start('deleting', deletes, 'files');
    await deleteAll(session);
    progress.finish();
  }
  await putAll(session, named(MANIFEST));
}

/** Files of some templates, with their entries in the record once they are written or deleted. */
class Batch {
  files: string[] = [];
  readonly #entries = new Map<string, Entry[]>();

  add(template: string, file: string, entry: Entry): void {
    this.files.push(file);
    const entries = this.#entries.get(template);
    // The entry changes as its reader goes on.
    const copy = { ...entry, hash: Buffer.from(entry.hash) };
    if (entries === undefined) this.#entries.set(template, [copy]);
    else entries.push(copy);
  }

  /** Does something with the files, and records it. */
  async end(record: RemoteRecord, work: (files: readonly string[]) => Promise<void>): Promise<void> {
    if (this.files.length === 0) return;
    await work(this.files);
    for (const [template, entries] of this.#entries) {
      const patch = `${record.temporary(template)}.patch`;
      writeHashFile(patch, entries);
      applyPatches(record.file(template), [patch], record.temporary(template));
      record.keep(template);
    }
    this.files = [];
    this.#entries.clear();
  }
}

/** Writes files, all of the same headers at once. */
async function putAll({ remote, record, progress }: Session, targets: readonly Target[]): Promise<void> {
  const sorts = new Map(targets.map(({ headers }) => [JSON.stringify(headers), headers]));
  for (const [sort, headers] of sorts) {
    const batch = new Batch();
    const put = (): Promise<void> => batch.end(record, (files) => remote.put(files, headers, progress));
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

async function deleteAll({ manifest, remote, record, targets, progress }: Session): Promise<void> {
  const locate = goalLocator(targets, manifest.routes);
  const batch = new Batch();
  const remove = (): Promise<void> =>
    batch.end(record, async (files) => {
      // A route that is new may have taken over a file.
      const gone = files.filter((file) => locate(file)?.isWanted !== true);
      if (gone.length > 0) await remote.delete(gone, progress);
    });
  const hashFiles = new Map(targets.map(({ template, hashFile }) => [template, hashFile]));
  for (const template of record.templates()) {
    const fileOf = filler(template);
    for (const [known, wanted] of together(record.file(template), hashFiles.get(template))) {
      if (wanted !== undefined || !known.hash.equals(NO_HASH)) continue;
      batch.add(template, fileOf(known.key), known);
      if (batch.files.length === BATCH_FILES) await remove();
    }
  }
  await remove();
  // By now those of former routes are empty.
  for (const template of record.templates()) if (!hashFiles.has(template)) rmSync(record.file(template));
}
