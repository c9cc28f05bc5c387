/**
 * What a remote is known to hold: a hash file for each template of files. Before an upload writes
 * or deletes a file, its entry becomes `unknown`; afterwards it gets the new hash, or is removed.
 * So after an interruption the record says which files may be old, new or missing there, however
 * many snapshots were built in between.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { HASH_BYTES, HashFileWriter, entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import { PatchWriter, applyPatches } from '../tree/patch.js';
import { flushOne, makeFolder } from '../files.js';

const schema = z.object({
  /** False after a comparison that found differences: the next upload compares everything. */
  isTrusted: z.boolean(),
  /** Also true while an upload is at work. */
  isInterrupted: z.boolean(),
  /** The headers of the objects that are known, by template, as JSON. */
  headers: z.record(z.string(), z.string()),
});
export type Description = z.infer<typeof schema>;

export class RemoteRecord {
  /** For temporary files; the same at each call of `prepare`. */
  readonly scratch: string;
  readonly #folder: string;
  readonly #known: string;

  /** @param uploads the folder of all records @param remote its name is not stored */
  constructor(uploads: string, remote: string) {
    this.#folder = join(uploads, createHash('sha256').update(remote).digest('hex').slice(0, 16));
    this.#known = join(this.#folder, 'known');
    this.scratch = join(this.#folder, 'scratch');
  }

  prepare(): void {
    this.tidyUp();
    for (const folder of [this.#known, this.scratch]) makeFolder(folder);
  }

  tidyUp(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }

  /** @returns undefined if nothing is known */
  read(): Description | undefined {
    try {
      return schema.parse(JSON.parse(readFileSync(join(this.#folder, 'record.json'), 'utf8')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
        return undefined;
      throw error;
    }
  }

  /** Durable, along with all that was kept before. */
  write(description: Description): void {
    const partial = join(this.scratch, 'record.json');
    writeFileSync(partial, JSON.stringify(description), { flush: true });
    flushOne(this.#known);
    renameSync(partial, join(this.#folder, 'record.json'));
    flushOne(this.#folder);
  }

  templates(): readonly string[] {
    return readdirSync(this.#known).map(decodeURIComponent);
  }

  /** The hash file of a template. */
  file(template: string): string {
    return join(this.#known, encodeURIComponent(template));
  }

  /** A temporary hash file for one. */
  temporary(template: string): string {
    return join(this.scratch, encodeURIComponent(template));
  }

  /** Changes some entries of a hash file. @param base the one to start from, perhaps another */
  update(template: string, base: string | undefined, changes: Iterable<Entry>): void {
    const [next, patch] = [this.temporary(template), `${this.temporary(template)}.patch`];
    writeHashFile(patch, changes);
    applyPatches(base, [patch], next);
    flushOne(next);
    renameSync(next, this.file(template));
  }
}

export function writeHashFile(path: string, entries: Iterable<Entry>): void {
  const writer = new HashFileWriter(path);
  for (const entry of entries) writer.add(entry);
  writer.finish();
}

/** In place of a hash; no content has it. */
const UNKNOWN = Buffer.alloc(HASH_BYTES, 0xff);

/** Entries of files that may be there or not, with any content. */
export function* unknown(keys: Iterable<number>): Generator<Entry> {
  for (const key of keys) yield { key, bytes: 0, hash: UNKNOWN };
}

export const isUnknown = ({ hash }: Entry): boolean => hash.equals(UNKNOWN);

/** What has to be done about a file. */
export interface Difference {
  readonly key: number;
  /** What to write, valid until the next difference; undefined: the file is to be deleted. */
  readonly desired?: Entry;
}

/** Compares hash files. @param isForced whether all files are to be written again */
export function* differences(
  known: string,
  desired: string | undefined,
  isForced = false,
): Generator<Difference> {
  const gone: number[] = [];
  const comparison = new PatchWriter({ old: known, onGone: ({ key }) => gone.push(key) });
  try {
    for (const entry of desired === undefined ? [] : entriesIn(desired)) {
      const isSame = comparison.put(entry, isForced) === 'unchanged';
      for (const key of gone.splice(0)) yield { key };
      if (!isSame) yield { key: entry.key, desired: entry };
    }
    comparison.finish();
    for (const key of gone) yield { key };
  } finally {
    comparison.close();
  }
}
