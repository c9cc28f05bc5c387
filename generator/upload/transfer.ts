/** The transfer itself, in batches and in order. */
import { NO_HASH } from '../incremental/hash-file.js';
import { filler } from '../routes/index.js';
import { CHANGES, MANIFEST, goalLocator } from './goal.js';
import type { Target } from './goal.js';
import { together } from './record.js';
import type { Reached } from './record.js';
import type { Session } from './session.js';
import type { Plan } from './upload.js';

/** How many files a program gets at once. An interrupted upload writes fewer than these again. */
const BATCH_FILES = 2000;

/**
 * Writes and deletes what has no hash in the record: first what others name, then the index of the
 * change lists, then the deletions, snapshot.json last.
 * @param templates all of the record
 * @throws Failure environment: a program is missing, or has failed
 */
export async function transfer(
  session: Session,
  templates: readonly string[],
  { puts, deletes }: Plan,
): Promise<void> {
  const { goal, progress } = session;
  const named = (...names: readonly string[]): readonly Target[] =>
    goal.targets.filter(({ template }) => names.includes(template));
  const data = goal.targets.filter((target) => !named(CHANGES, MANIFEST).includes(target));
  const reached: Reached = {};
  progress.start('writing', puts, 'files');
  await putAll(session, data, reached);
  await putAll(session, named(CHANGES), reached);
  progress.finish();
  if (deletes > 0) {
    progress.start('deleting', deletes, 'files');
    await deleteAll(session, templates);
    progress.finish();
  }
  await putAll(session, named(MANIFEST), reached);
}

/** Writes files, all of the same headers at once. */
async function putAll(
  { remote, record, progress }: Session,
  targets: readonly Target[],
  reached: Reached,
): Promise<void> {
  const sorts = new Map(targets.map(({ headers }) => [JSON.stringify(headers), headers]));
  for (const [sort, headers] of sorts) {
    let files: string[] = [];
    let ends: Reached = {};
    const put = async (): Promise<void> => {
      if (files.length === 0) return;
      await remote.put(files, headers, progress);
      record.reach(Object.assign(reached, ends));
      [files, ends] = [[], {}];
    };
    for (const { template } of targets.filter((target) => JSON.stringify(target.headers) === sort)) {
      const fileOf = filler(template);
      for (const { entry, goal } of together(record.known, record.goal, template)) {
        if (goal === undefined || !entry.hash.equals(NO_HASH)) continue;
        files.push(fileOf(entry.key));
        ends[template] = entry.key;
        if (files.length === BATCH_FILES) await put();
      }
    }
    await put();
  }
}

async function deleteAll(
  { manifest, remote, record, goal: goals, progress }: Session,
  templates: readonly string[],
): Promise<void> {
  const locate = goalLocator(record.goal, goals, manifest.routes);
  let files: string[] = [];
  const remove = async (): Promise<void> => {
    if (files.length > 0) await remote.delete(files, progress);
    files = [];
  };
  for (const template of templates) {
    const fileOf = filler(template);
    for (const { entry, goal } of together(record.known, record.goal, template)) {
      const file = fileOf(entry.key);
      // A route that is new may have taken over the file.
      if (goal !== undefined || !entry.hash.equals(NO_HASH) || locate(file)?.isWanted === true) continue;
      files.push(file);
      if (files.length === BATCH_FILES) await remove();
    }
  }
  await remove();
}
