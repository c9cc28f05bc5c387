/**
 * What documents were made of, kept beside the ledger: under a key of ours the SHA-256 of all that went into the
 * documents it stands for. Where that is the same again, so are the documents, and need not be rendered. The files
 * have the form of ledgers; a ledger that was made anew from the tree has none of them.
 */
import { LedgerReader, LedgerWriter } from './ledger.js';

/**
 * What all documents were made of beside the rows of the register: the generator, its configuration, what is
 * withheld. A hash.
 */
export type Made = string;

/**
 * What the files of a route are made of, by its name, where they are not rendered in each build. Of files that were left
 * behind the register, and of those whose ledger was lost, nothing is noted.
 */
export type Makings = ReadonlyMap<string, string>;

/** The name of a file of inputs in the folder of the ledger. */
export const inputsFile = (of: string): string => `inputs-${of}`;

/** Entries of inputs have a key and a hash, and no size. */
const NO_BYTES = 0;

/** Where inputs are read and written. */
export interface Folders {
  /** The published ledger; undefined where its inputs are of no use. */
  readonly old: string | undefined;
  /** The next one. */
  readonly next: string;
}

/** Holds inputs against those of the last snapshot, and writes them down for the next. Keys must ascend. */
export class InputsComparison {
  readonly #old: LedgerReader | undefined;
  readonly #next: LedgerWriter;

  constructor(of: string, { old, next }: Folders) {
    this.#old = old === undefined ? undefined : LedgerReader.open(old, inputsFile(of));
    this.#next = new LedgerWriter(next, inputsFile(of), '');
  }

  /**
   * @param hash undefined where there is nothing under the key
   * @returns whether the key had the same inputs
   */
  note(key: number, hash: Buffer | undefined): boolean {
    if (hash !== undefined) this.#next.add({ key, bytes: NO_BYTES, hash });
    while ((this.#old?.peek()?.key ?? key) < key) this.#old?.next();
    const old = this.#old?.peek();
    if (old?.key !== key) return this.#old !== undefined && hash === undefined;
    const isSame = hash?.equals(old.hash) === true;
    this.#old?.next();
    return isSame;
  }

  /** No more inputs. @returns the checksum of the next file */
  finish(): string {
    this.#old?.close();
    return this.#next.finish();
  }

  /** Lets go of the files, complete or not. */
  close(): void {
    this.#old?.close();
    this.#next.close();
  }
}
