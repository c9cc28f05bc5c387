/**
 * Patches: how a hash file differs from its previous version. A patch has the added and changed
 * entries, and an entry with NO_HASH for each removed one. The whole build compares through this
 * one merge: documents, chunks and records of the register, and inputs of archive documents.
 */
import { seek } from '../cursor.js';
import type { KeyRange } from '../cursor.js';
import { HashFileReader, HashFileWriter, NO_HASH, entriesIn } from './hash-file.js';
import type { Entry } from './hash-file.js';

export type Verdict = 'added' | 'changed' | 'unchanged';

export const ALL_KEYS: KeyRange = { low: 0, high: Number.MAX_SAFE_INTEGER };

/** The keys in a hash file or a patch, ascending. */
export function* keysIn(file: string, range?: KeyRange): Generator<number, void, undefined> {
  for (const { key } of entriesIn(file, range)) yield key;
}

export interface PatchOptions {
  /** The previous version, if there is one. */
  readonly old?: string | undefined;
  /** Where the patch is written, if there are differences. */
  readonly patch: string;
  /** The keys that the patch covers. */
  readonly range?: KeyRange;
  /** Called with each removed entry, which is valid until the callback returns. */
  readonly onGone?: (old: Entry) => void;
}

/** Two-pointer merge in ascending key order. Entries neither put nor kept are removed. */
export class PatchWriter {
  readonly #old: HashFileReader | undefined;
  readonly #path: string;
  /** Created with the first difference. */
  #patch: HashFileWriter | undefined;
  readonly #onGone: ((old: Entry) => void) | undefined;
  #last = -1;

  constructor({ old, patch, range = ALL_KEYS, onGone }: PatchOptions) {
    this.#old = HashFileReader.open(old);
    this.#old?.restrict(range);
    this.#path = patch;
    this.#onGone = onGone;
  }

  /** The previous entry of a key above those put; valid until the next call. */
  old(key: number): Entry | undefined {
    return this.#old && seek(this.#old, key, this.#remove);
  }

  /** Puts an entry. @param isForced counts it as changed even if it is the same */
  put(entry: Entry, isForced = false): Verdict {
    const old = this.#take(entry.key);
    if (!isForced && old?.bytes === entry.bytes && old.hash.equals(entry.hash)) return 'unchanged';
    this.#add(entry);
    return old === undefined ? 'added' : 'changed';
  }

  /** Keeps the entry of a key. @returns whether it exists */
  keep(key: number): boolean {
    return this.#take(key) !== undefined;
  }

  /** Removes the entry of a key. @returns whether it existed */
  remove(key: number): boolean {
    const old = this.#take(key);
    if (old !== undefined) this.#remove(old);
    return old !== undefined;
  }

  /** Keeps all remaining entries below a key. */
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

  readonly #remove = (old: Entry): void => {
    this.#onGone?.(old);
    this.#add({ key: old.key, bytes: 0, hash: NO_HASH });
  };

  #add(entry: Entry): void {
    (this.#patch ??= new HashFileWriter(this.#path)).add(entry);
  }

  /** Removes all remaining entries below a key. */
  removeBelow(key: number): void {
    this.old(key);
  }

  /** Removes all remaining entries and completes the patch. */
  finish(): void {
    this.removeBelow(Number.POSITIVE_INFINITY);
    this.#patch?.finish();
    this.close();
  }

  /** Closes the files, complete or not. */
  close(): void {
    this.#old?.close();
    this.#patch?.close();
  }
}

export interface Patching {
  readonly old: string | undefined;
  readonly patches: readonly string[];
  readonly next: string;
}

/** Called with each added, changed or removed entry (then undefined), and the previous one. */
export type OnPatched = (entry: Entry | undefined, old: Entry | undefined) => void;

/**
 * Compares patches with the hash file that they apply to. Each patch's keys must be above those of the
 * one before.
 * @param onPatched its entries are valid until it returns
 * @param keep called with the entries in between, if they are needed
 */
export function comparePatches(
  old: string | undefined,
  patches: readonly string[],
  onPatched: OnPatched,
  keep?: (entries: Buffer) => void,
): void {
  const before = HashFileReader.open(old);
  try {
    for (const patch of patches) {
      for (const entry of entriesIn(patch)) {
        before?.passBelow(entry.key, keep);
        const replaced = before && seek(before, entry.key);
        onPatched(entry.hash.equals(NO_HASH) ? undefined : entry, replaced);
        if (replaced !== undefined) before?.next();
      }
    }
    if (keep !== undefined) before?.passBelow(Number.POSITIVE_INFINITY, keep);
  } finally {
    before?.close();
  }
}

/** Applies patches to a hash file: see `comparePatches`. @returns the checksum of the next version */
export function applyPatches(
  old: string | undefined,
  patches: readonly string[],
  next: string,
  onPatched?: OnPatched,
): string {
  const writer = new HashFileWriter(next);
  const onEntry: OnPatched = (entry, replaced) => {
    if (entry !== undefined) writer.add(entry);
    onPatched?.(entry, replaced);
  };
  try {
    comparePatches(old, patches, onEntry, (entries) => writer.addAll(entries));
    return writer.finish();
  } finally {
    writer.close();
  }
}
