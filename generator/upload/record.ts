/** What a remote is known to hold: a snapshot, and files with which headers. */
import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { snapshotIdSchema } from '../publish/changed-files.js';
import { flushOne, makeFolder, readJson } from '../files.js';

const schema = z.object({
  /** The snapshot that it held as a whole, but for files that uploads after that have changed. */
  held: snapshotIdSchema.nullable(),
  /** The size that the list of its files had then: signing adds to it. */
  listed: z.int(),
  /** The snapshot of the last upload that began and has not ended well. */
  begun: snapshotIdSchema.nullable(),
  /**
   * What was sent, by template (see `DesiredFiles`); empty while it is sent again. What the tree no
   * longer has stays until an upload has ended well.
   */
  sent: z.record(z.string(), z.string()),
});
export type Known = z.infer<typeof schema>;

export class RemoteRecord {
  /** For temporary files; the same at each call of `prepare`. */
  readonly scratch: string;
  readonly #folder: string;
  readonly #file: string;

  /** @param uploads the folder of all records @param remote its name is not stored */
  constructor(uploads: string, remote: string) {
    this.#folder = join(uploads, createHash('sha256').update(remote).digest('hex').slice(0, 16));
    this.#file = join(this.#folder, 'record.json');
    this.scratch = join(this.#folder, 'scratch');
  }

  prepare(): void {
    this.tidyUp();
    // An earlier version kept the hashes of all files there.
    if (this.read() === undefined) rmSync(this.#folder, { recursive: true, force: true });
    makeFolder(this.scratch);
  }

  tidyUp(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }

  /** @returns undefined if nothing is known */
  read(): Known | undefined {
    return schema.safeParse(readJson(this.#file)).data;
  }

  /** Replaces it atomically and durably. */
  write(known: Known): void {
    const partial = join(this.scratch, 'record.json');
    writeFileSync(partial, JSON.stringify(known), { flush: true });
    renameSync(partial, this.#file);
    flushOne(this.#folder);
  }
}
