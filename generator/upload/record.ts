/**
 * What a remote is known to hold: a hash file for each template of files. An entry without a hash
 * stands for a file of which nothing is known. Before an upload touches a file, its entry loses its
 * hash, and gets the new one afterwards; so an interrupted upload leaves no doubt as to what is in
 * doubt, however many snapshots it spanned.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { HashFileReader, HashFileWriter, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { flushOne } from '../publish/commit.js';
import { makeFolder } from '../publish/files.js';

const schema = z.object({
  /** False after a comparison that found differences: the next upload compares everything. */
  isSure: z.boolean(),
  /** True if an upload was interrupted, or is at work. */
  isOpen: z.boolean(),
  /** The headers of the objects whose entries have hashes, by template, as JSON. */
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

  /** Puts the temporary hash file in place. */
  keep(template: string): void {
    flushOne(this.temporary(template));
    renameSync(this.temporary(template), this.file(template));
  }
}

export function writeHashFile(path: string, entries: Iterable<Entry>): void {
  const writer = new HashFileWriter(path);
  for (const entry of entries) writer.add(entry);
  writer.finish();
}

/** The entries of a hash file, each with that of another; valid until the next is read. */
export function* together(
  file: string,
  other: string | undefined,
): Generator<readonly [Entry, Entry | undefined]> {
  const reader = other === undefined ? undefined : HashFileReader.open(other);
  try {
    for (const entry of entriesIn(file)) {
      reader?.passBelow(entry.key);
      yield [entry, reader?.peekKey() === entry.key ? reader.peek() : undefined];
    }
  } finally {
    reader?.close();
  }
}
