/**
 * How a hash file differs from the one before: a patch has the entries that were added or changed, and one with
 * NO_HASH for each that is gone. All comparing of a build is done here: of documents, of the register's chunks and
 * records, of what archive documents were made of.
 */
import { HashFileReader, HashFileWriter, NO_HASH, entriesIn } from './hash-file.js';
import type { Entry } from './hash-file.js';

/** What an entry is compared with the file before. */
export type Verdict = 'added' | 'changed' | 'unchanged';

/** Keys from `low` to `high`, both included. */
export interface KeyRange {
  readonly low: number;
  readonly high: number;
}

export const ALL_KEYS: KeyRange = { low: 0, high: Number.MAX_SAFE_INTEGER };

export interface PatchOptions {
  /** The file before, if there is one to compare with. */
  readonly old?: string | undefined;
  /** Where the patch is written, if anything differs; a dry run writes none. */
  readonly patch?: string | undefined;
  /** The keys that the patch is about. */
  readonly range?: KeyRange;
  /** Called with each entry that is gone, which is valid until it returns. */
  readonly onGone?: (old: Entry) => void;
}

/** Compares entries, and writes the patch. Keys must ascend; entries that are neither put nor kept are gone. */
export class PatchWriter {
  readonly #old: HashFileReader | undefined;
  readonly #path: string | undefined;
  /** Begun with the first difference. */
  #patch: HashFileWriter | undefined;
  readonly #onGone: ((old: Entry) => void) | undefined;
  #last = -1;

  constructor({ old, patch, range = ALL_KEYS, onGone }: PatchOptions) {
    this.#old = old === undefined ? undefined : HashFileReader.open(old);
    this.#old?.restrict(range.low, range.high);
    this.#path = patch;
    this.#onGone = onGone;
  }

  /** What the file before has under a key; valid until the next is asked for. The key must follow those that were put. */
  old(key: number): Entry | undefined {
    this.removeBelow(key);
    const old = this.#old?.peek();
    return old?.key === key ? old : undefined;
  }

  /** Puts an entry. @param isForced counts as changed even where it is the same */
  put(entry: Entry, isForced = false): Verdict {
    const old = this.#take(entry.key);
    if (!isForced && old?.bytes === entry.bytes && old.hash.equals(entry.hash)) return 'unchanged';
    this.#add(entry);
    return old === undefined ? 'added' : 'changed';
  }

  /** Keeps the entry of a key. @returns whether there was one */
  keep(key: number): boolean {
    return this.#take(key) !== undefined;
  }

  /** There is no entry under a key. @returns whether there was one */
  remove(key: number): boolean {
    const old = this.#take(key);
    if (old !== undefined) this.#remove(old);
    return old !== undefined;
  }

  /** Keeps all entries below a key that were not passed yet. */
  keepBelow(key: number): void {
    this.#old?.passBelow(key);
  }

  #take(key: number): Entry | undefined {
    if (key <= this.#last) throw new TypeError(`${key} after ${this.#last}, expected ascending keys`);
    this.#last = key;
    const old = this.old(key);
    if (old !== undefined) this.#old?.next();
    return old;
  }

  #remove(old: Entry): void {
    this.#onGone?.(old);
    this.#add({ key: old.key, bytes: 0, hash: NO_HASH });
  }

  #add(entry: Entry): void {
    if (this.#path !== undefined) (this.#patch ??= new HashFileWriter(this.#path)).add(entry);
  }

  /** Removes all entries below a key that were not passed yet. */
  removeBelow(key: number): void {
    const old = this.#old;
    for (let entry = old?.peek(); entry !== undefined && entry.key < key; entry = old?.peek()) {
      this.#remove(entry);
      old?.next();
    }
  }

  /** No more entries. */
  finish(): void {
    this.removeBelow(Number.POSITIVE_INFINITY);
    this.#patch?.finish();
    this.close();
  }

  /** Lets go of the files, complete or not. */
  close(): void {
    this.#old?.close();
    this.#patch?.close();
  }
}

/** What `applyPatches` is asked. */
export interface Patching {
  readonly old: string | undefined;
  readonly patches: readonly string[];
  readonly next: string;
}

/**
 * Applies patches to a hash file: the keys of each must be above those of the one before.
 * @param onPatched called with each entry that was added, changed or removed (then it is undefined), and the one that
 *   was there before; both are valid until it returns
 * @returns the checksum of the next file
 */
export function applyPatches(
  old: string | undefined,
  patches: readonly string[],
  next: string,
  onPatched?: (entry: Entry | undefined, old: Entry | undefined) => void,
): string {
  const before = old === undefined ? undefined : HashFileReader.open(old);
  const writer = new HashFileWriter(next);
  const keep = (entries: Buffer): void => writer.addAll(entries);
  try {
    for (const patch of patches) {
      for (const entry of entriesIn(patch)) {
        before?.passBelow(entry.key, keep);
        const replaced = before?.peekKey() === entry.key ? before.peek() : undefined;
        const isGone = entry.hash.equals(NO_HASH);
        if (!isGone) writer.add(entry);
        onPatched?.(isGone ? undefined : entry, replaced);
        if (replaced !== undefined) before?.next();
      }
    }
    before?.passBelow(Number.POSITIVE_INFINITY, keep);
    return writer.finish();
  } finally {
    before?.close();
    writer.close();
  }
}
