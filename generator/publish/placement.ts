/** Where documents are put on their way to being published, and where what they replace is kept; in any thread. */
import { join } from 'node:path';
import { asFailure, codeOf } from '../errors.js';
import { FileWriter } from './files.js';

/** A document that is to be written. */
export interface Unwritten {
  /** Documents of one series (a route) share some folders, or have one each. */
  readonly series: string;
  readonly file: string;
  readonly body: Uint8Array;
  /** The published files that it takes the place of: the one of its name, and those that go with that. */
  readonly replaced: readonly string[];
}

/** Writes a document, or sees to it that it is written. */
export type Write = (unwritten: Unwritten) => void;

/** The folders below which files lie. */
export interface Places {
  /** Where new ones are put as they are published: a folder that is new as well moves there whole. */
  readonly added: string;
  /** Where those are put that replace a published one. Its folder is there, so they need none like it on their way. */
  readonly replacing: string;
  /** Where what is replaced is kept, in the same manner. */
  readonly kept: string;
  readonly published: string;
}

/**
 * A file's place where the tree's folders are not made again: records mostly have one each, and to make, to read and to
 * delete that took as long as all else that is done about the file.
 */
const flat = (series: string, file: string): string => `${series}/${encodeURIComponent(file)}`;

/** The name in the tree of a file that lies in such a place, from the last part of its path. */
export const unflattened = (name: string): string => decodeURIComponent(name);

/** The folder of the files that a commit replaced, in the folder of all that it replaced. */
export const keptIn = (previous: string): string => join(previous, 'files');

/** Where a file is kept that a commit replaced. */
export const keptFile = (previous: string, series: string, file: string): string =>
  join(keptIn(previous), flat(series, file));

export class Placement {
  readonly places: Places;
  readonly #added: FileWriter;
  readonly #replacing: FileWriter;
  readonly #kept: FileWriter;

  constructor(places: Places) {
    this.places = places;
    this.#added = new FileWriter(places.added);
    this.#replacing = new FileWriter(places.replacing);
    this.#kept = new FileWriter(places.kept);
  }

  /** Stages a document, and keeps what it replaces. */
  write(unwritten: Unwritten): void {
    const { series, body } = unwritten;
    this.#stage(unwritten, (writer, path) => writer.write(series, path, body));
  }

  /** Stages a file that lies elsewhere, by a second name, and keeps what it replaces. */
  link(named: Omit<Unwritten, 'body'>, source: string): void {
    this.#stage(named, (writer, path) => writer.link(named.series, path, source));
  }

  #stage(
    { series, file, replaced }: Omit<Unwritten, 'body'>,
    put: (writer: FileWriter, path: string) => void,
  ): void {
    try {
      // What has been deleted from the tree since is not replaced: its folder may be gone as well, and takes room.
      const kept = replaced.filter((old) => this.keep(series, old));
      if (kept.includes(file)) put(this.#replacing, flat(series, file));
      else put(this.#added, file);
    } catch (error) {
      throw asFailure(error, `"${file}"`);
    }
  }

  /**
   * Keeps what is published under this name, for a rollback.
   * @returns whether a file is there: what is gone, or a folder, can't be kept
   */
  keep(series: string, file: string): boolean {
    try {
      this.#kept.link(series, flat(series, file), join(this.places.published, file));
      return true;
    } catch (error) {
      if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '')) return false;
      throw asFailure(error, `"${file}"`);
    }
  }
}
