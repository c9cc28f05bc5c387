/**
 * What a remote is known to hold. `known/` has a hash file for each template of files, in which an
 * entry without a hash stands for a file of which nothing is known: it may be there, with any
 * content. Before an upload touches a file, its entry loses its hash; so an interrupted upload
 * leaves no doubt as to what is in doubt, however many snapshots it spanned.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import { HashFileReader, HashFileWriter, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { flush } from '../publish/commit.js';
import { linkOrCopy, makeFolder } from '../publish/files.js';
import { measure } from '../publish/scan.js';
import { hashFileOf } from './goal.js';

const sums = z.record(z.string(), z.string());
const schema = z.object({
  /** False after a comparison that found differences: the next upload compares everything. */
  isSure: z.boolean(),
  /** The headers of all objects whose entries have hashes, by template, as JSON. */
  headers: z.record(z.string(), z.string()),
  /** The checksums of the hash files in `known/`, by template. */
  known: sums,
  /** Of those in `goal/`, where an upload leads to; only while it is at work or interrupted. */
  goal: sums.exactOptional(),
});
export type Description = z.infer<typeof schema>;

/** By template, the last key up to which an upload has written everything. */
const reachedSchema = z.record(z.string(), z.number());
export type Reached = Record<string, number>;

export class RemoteRecord {
  readonly #folder: string;

  /** @param uploads the folder of all records @param remote its name is not stored */
  constructor(uploads: string, remote: string) {
    this.#folder = join(uploads, createHash('sha256').update(remote).digest('hex').slice(0, 16));
  }

  get known(): string {
    return join(this.#folder, 'known');
  }

  get goal(): string {
    return join(this.#folder, 'goal');
  }

  get #old(): string {
    return `${this.#folder}.old`;
  }

  get #reached(): string {
    return join(this.#folder, 'reached.json');
  }

  /** Where the next record is made. */
  get next() {
    const folder = `${this.#folder}.next`;
    const scratch = `${this.#folder}.scratch`;
    return {
      folder,
      known: join(folder, 'known'),
      goal: join(folder, 'goal'),
      /** Temporary: lists of files, and what is known after an interruption or a comparison. */
      scratch,
      settled: join(scratch, 'settled'),
      compared: join(scratch, 'compared'),
    } as const;
  }

  /** Creates empty folders for the next record and for temporary files. */
  prepare(): void {
    this.tidyUp();
    for (const path of Object.values(this.next)) makeFolder(path);
  }

  /** Deletes what `prepare` made, and completes a `replace` that was interrupted. */
  tidyUp(): void {
    const { folder, scratch } = this.next;
    if (!existsSync(this.#folder) && existsSync(this.#old)) renameSync(this.#old, this.#folder);
    for (const path of [folder, scratch, this.#old]) rmSync(path, { recursive: true, force: true });
  }

  /** @returns undefined if there is none, or a damaged one */
  read(): Description | undefined {
    try {
      const found = schema.parse(JSON.parse(readFileSync(join(this.#folder, 'record.json'), 'utf8')));
      const isSound = (folder: string, expected: z.infer<typeof sums>): boolean =>
        Object.entries(expected).every(
          ([template, sum]) => measure(hashFileOf(folder, template)).hash.toString('hex') === sum,
        );
      return isSound(this.known, found.known) && isSound(this.goal, found.goal ?? {}) ? found : undefined;
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
        return undefined;
      throw error;
    }
  }

  /** Puts the next record in place. If interrupted, the old one is left, or already the next. */
  replace(description: Description): void {
    const { folder } = this.next;
    writeFileSync(join(folder, 'record.json'), JSON.stringify(description));
    flush(folder);
    if (existsSync(this.#folder)) renameSync(this.#folder, this.#old);
    renameSync(folder, this.#folder);
    rmSync(this.#old, { recursive: true, force: true });
  }

  /** The goal is reached: it is what the remote holds. */
  complete({ headers, goal = {} }: Description): void {
    this.prepare();
    const { known } = this.next;
    for (const template of Object.keys(goal))
      linkOrCopy(hashFileOf(this.goal, template), hashFileOf(known, template));
    this.replace({ isSure: true, headers, known: goal });
  }

  /** Makes the next upload compare everything. */
  doubt(description: Description): void {
    this.#write('record.json', { ...description, isSure: false });
  }

  reach(reached: Reached): void {
    this.#write('reached.json', reached);
  }

  #write(name: string, value: object): void {
    const path = join(this.#folder, name);
    writeFileSync(`${path}.partial`, JSON.stringify(value));
    renameSync(`${path}.partial`, path);
  }

  /**
   * Applies what an interrupted upload has reached.
   * @returns the folder of the hash files
   */
  settle({ goal, known }: Description): string {
    if (goal === undefined) return this.known;
    const reached = this.#readReached();
    for (const template of Object.keys(known)) {
      const upTo = reached[template] ?? -1;
      const writer = new HashFileWriter(hashFileOf(this.next.settled, template));
      for (const { entry, goal: wanted } of together(this.known, this.goal, template)) {
        const isWritten = entry.key <= upTo && wanted !== undefined && entry.hash.equals(NO_HASH);
        writer.add(isWritten ? wanted : entry);
      }
      writer.finish();
    }
    return this.next.settled;
  }

  #readReached(): Reached {
    try {
      return reachedSchema.parse(JSON.parse(readFileSync(this.#reached, 'utf8')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
        return {};
      throw error;
    }
  }
}

/** The entries of what is known, each with that of the goal; valid until the next is read. */
export function* together(
  known: string,
  goal: string,
  template: string,
): Generator<{ readonly entry: Entry; readonly goal: Entry | undefined }> {
  const reader = HashFileReader.open(hashFileOf(goal, template));
  try {
    for (const entry of entriesIn(hashFileOf(known, template))) {
      reader?.passBelow(entry.key);
      yield { entry, goal: reader?.peekKey() === entry.key ? reader.peek() : undefined };
    }
  } finally {
    reader?.close();
  }
}
