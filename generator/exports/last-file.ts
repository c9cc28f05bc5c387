/** The last version of a compressed download. */
import { existsSync } from 'node:fs';
import { measure } from '../tree/measure.js';
import { keysIn } from '../tree/patch.js';

export interface LastFile {
  readonly file: string;
  /** In hex. */
  readonly sha256: string;
}

/** Whether a file is what was published. */
export const isIntact = ({ file, sha256 }: LastFile): boolean =>
  existsSync(file) && measure(file).hash.toString('hex') === sha256;

/** The ids in patches of fingerprints: of the records that changed since, ascending. */
export function* changedIn(patches: readonly string[]): Generator<number, void, undefined> {
  for (const patch of patches) yield* keysIn(patch);
}
