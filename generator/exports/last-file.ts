/** The last version of a compressed download. */
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Gunzip } from 'node:zlib';
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

/** What a file has inflated, in parts of up to 256 KiB. Reading throws the errors of the disk, too. */
export function inflated({ file }: LastFile): Gunzip {
  const inflate = createGunzip({ chunkSize: 256 * 1024 });
  // The callback keeps an error from being thrown twice.
  pipeline(createReadStream(file), inflate, () => {});
  return inflate;
}

/** The ids in patches of fingerprints: of the records that changed since, ascending. */
export function* changedIn(patches: readonly string[]): Generator<number, void, undefined> {
  for (const patch of patches) yield* keysIn(patch);
}
