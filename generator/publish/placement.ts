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
  /** The published files that it takes the place of. */
  readonly replaced: readonly string[];
}

/** Writes a document, or sees to it that it is written. */
export type Write = (unwritten: Unwritten) => void;

/** The folders below which files lie under the same names. */
export interface Places {
  readonly staged: string;
  readonly kept: string;
  readonly published: string;
}

export class Placement {
  readonly places: Places;
  readonly #staged: FileWriter;
  readonly #kept: FileWriter;

  constructor(places: Places) {
    this.places = places;
    this.#staged = new FileWriter(places.staged);
    this.#kept = new FileWriter(places.kept);
  }

  /** Stages a document, and keeps what it replaces. */
  write({ series, file, body, replaced }: Unwritten): void {
    this.#staged.write(series, file, body);
    for (const old of replaced) this.keep(series, old);
  }

  /** Stages a file that lies elsewhere, by a second name. */
  link(series: string, file: string, source: string): void {
    this.#staged.link(series, file, source);
  }

  /** Keeps what is published under this name, for a rollback. What is gone, or is no file, can't be kept. */
  keep(series: string, file: string): void {
    try {
      this.#kept.link(series, file, join(this.places.published, file));
    } catch (error) {
      if (!['ENOENT', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw asFailure(error, `"${file}"`);
    }
  }
}
