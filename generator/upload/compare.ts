/** Compares all that a remote holds with what it is to hold. */
import { Failure } from '../errors.js';
import { HashFileWriter, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Progress } from '../progress.js';
import { hashFileOf } from './goal.js';
import type { Located } from './goal.js';
import type { Remote } from './remote.js';

export type Difference = 'missing' | 'different' | 'extra';

/** Files on the remote that no route leads to, which are left alone. */
export interface Foreign {
  /** At most `SHOWN_FOREIGN`. */
  readonly files: readonly string[];
  readonly total: number;
}

const SHOWN_FOREIGN = 100;

/**
 * @param isStrict see `Remote.compare` @param wanted how many files the remote is to hold
 * @param onDifference called with each difference that an upload would remove
 * @throws Failure environment: the remote can't be read
 */
export async function compare(
  remote: Remote,
  { isStrict, wanted }: { readonly isStrict: boolean; readonly wanted: number },
  locate: (file: string) => Located | undefined,
  onDifference: (what: Difference, file: string, place: Located) => void,
  progress: Progress,
): Promise<Foreign> {
  const foreign: string[] = [];
  let [reported, total] = [0, 0];
  progress.start('comparing', 0, 'files');
  await remote.compare(
    isStrict,
    (what, file) => {
      const place = locate(file);
      if (place?.isWanted === true) {
        if (what !== 'extra') reported += 1;
        // What is wanted and isn't in the tree: an upload says that the tree is damaged.
        if (what !== 'same') onDifference(what === 'extra' ? 'different' : what, file, place);
      } else if (what !== 'missing') {
        if (place !== undefined) onDifference('extra', file, place);
        else if ((total += 1) <= SHOWN_FOREIGN) foreign.push(file);
      }
    },
    progress,
  );
  progress.finish();
  if (remote.hasHeaders && reported < wanted) {
    throw Failure.environment(
      `${remote.name} was compared in part: rclone reported ${reported} of ${wanted} files, so a folder there can't be listed`,
    );
  }
  return { files: foreign, total };
}

/**
 * Writes what is known of a remote after a comparison: what it is to hold, except in the doubtful
 * files.
 * @param doubtful keys by template, in any order
 */
export function writeKnown(
  folder: string,
  goal: string,
  templates: Iterable<string>,
  doubtful: ReadonlyMap<string, readonly number[]>,
): void {
  for (const template of new Set([...templates, ...doubtful.keys()])) {
    const keys = Float64Array.from(new Set(doubtful.get(template))).toSorted();
    const writer = new HashFileWriter(hashFileOf(folder, template));
    const doubt = (key: number): void => writer.add({ key, bytes: 0, hash: NO_HASH });
    let at = 0;
    for (const entry of entriesIn(hashFileOf(goal, template))) {
      for (let key = keys[at]; key !== undefined && key < entry.key; key = keys[(at += 1)]) doubt(key);
      if (keys[at] !== entry.key) writer.add(entry);
      else {
        doubt(entry.key);
        at += 1;
      }
    }
    for (const key of keys.subarray(at)) doubt(key);
    writer.finish();
  }
}
