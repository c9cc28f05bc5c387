/** What documents were made of, and are: what is the same need not be made again. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { inputsFile } from './inputs.js';
import type { Folders, Made, Makings } from './inputs.js';
import type { LedgerIndex } from './ledger-index.js';

export class Reuse {
  readonly #old: string | undefined;
  readonly #next: string;
  readonly #index: LedgerIndex | undefined;
  #made: Made | undefined;
  #inputs: Readonly<Record<string, string>> = {};
  #makings: Makings = new Map();
  readonly #behind = new Set<string>();

  /**
   * @param old the folder of the published ledger, where there is a sound one
   * @param next the folder of the next
   * @param index of the published ledger
   */
  constructor(old: string | undefined, next: string, index: LedgerIndex | undefined) {
    this.#old = old;
    this.#next = next;
    this.#index = index;
  }

  /** Where inputs are compared: with those of the last snapshot only if all its documents were made of this as well. */
  folders(made: Made): Folders {
    return { old: this.#index?.made === made ? this.#old : undefined, next: this.#next };
  }

  /**
   * What all documents of the next snapshot are made of.
   * @param sums the checksums of the files of inputs, by file
   * @param same routes whose documents stay as they are, and with them what they were made of
   */
  remember(made: Made, sums: Readonly<Record<string, string>>, same: readonly string[] = []): void {
    this.#made = made;
    this.#inputs = {
      ...sums,
      ...Object.fromEntries(same.flatMap((route) => this.#takeOver(inputsFile(route)))),
    };
  }

  /** Takes a file of inputs over, if there is one. @returns it with its checksum */
  #takeOver(file: string): readonly (readonly [file: string, sum: string])[] {
    const sum = this.#index?.sums[file];
    if (this.#old === undefined || sum === undefined) return [];
    copyFileSync(join(this.#old, file), join(this.#next, file));
    return [[file, sum]];
  }

  /** What the files of those routes are made of that are not rendered in each build. */
  make(makings: Makings): void {
    this.#makings = makings;
  }

  /**
   * The files of a route stay, though others would be made now. What they are made of is then not noted, so that no
   * build takes them for what they should be, whether the register changes again or not.
   */
  leaveBehind(route: string): void {
    this.#behind.add(route);
  }

  /** What the last snapshot's files of a route were made of, where that is noted. */
  noted(route: string): string | undefined {
    return this.#index?.makings?.[route];
  }

  /** Whether the last snapshot's files of a route were made of the same. */
  isMadeOfTheSame(route: string): boolean {
    const noted = this.noted(route);
    return noted !== undefined && noted === this.#makings.get(route);
  }

  /** Whether the next ledger knows something else than the published one of what the same documents are made of. */
  isNews(sums: Readonly<Record<string, string>>): boolean {
    const { made, makings, sums: old } = this.#index ?? {};
    return !isDeepStrictEqual({ made, makings, sums: old }, { made: undefined, ...this.described(sums) });
  }

  /** For the index of the next ledger. @param sums the checksums of its other files */
  described(sums: Readonly<Record<string, string>>): Pick<LedgerIndex, 'sums' | 'made' | 'makings'> {
    return {
      sums: { ...sums, ...this.#inputs },
      ...(this.#made !== undefined && { made: this.#made }),
      makings: Object.fromEntries([...this.#makings].filter(([route]) => !this.#behind.has(route))),
    };
  }
}
