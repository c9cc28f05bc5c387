/** One route's files, in order of the key, beside what the last snapshot had there. */
import { filler, urlTemplate } from '../routes.js';
import { COMPRESSED_FROM_BYTES, namesOf } from './codings.js';
import { NO_HASH } from './ledger.js';
import type { Entry, LedgerReader, LedgerWriter } from './ledger.js';
import type { PublishedRoute } from './manifest.js';

/** What became of a file: `moved` is the same content at another place of the tree (another layout). */
export type Verdict = 'added' | 'changed' | 'moved' | 'unchanged';

/** How many files of a route a build touches, and how many it leaves alone. */
export interface Changes {
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
}

/** A document that the last snapshot had and the next has not. */
export interface Gone {
  readonly key: number;
  readonly url: string;
  readonly urls: readonly string[];
  /** Its file, and those of its compressed siblings. */
  readonly files: readonly string[];
}

/** Keys from `low` to `high`, both included. */
export interface KeyRange {
  readonly low: number;
  readonly high: number;
}

/** What a document of the next snapshot is beside the last. */
export interface Noted {
  readonly verdict: Verdict;
  /** The files it had in the last snapshot, if it was there. */
  readonly oldFiles: readonly string[];
}

const ADDED: Noted = { verdict: 'added', oldFiles: [] };
/** Where nothing is done, the old files are not asked for. */
const UNCHANGED: Noted = { verdict: 'unchanged', oldFiles: [] };

/** Downloads are large, and have compressed twins of their own. */
export const compressedFrom = (route: PublishedRoute, bytes: number): number =>
  route.class === 'download' ? Number.POSITIVE_INFINITY : bytes;

export class Series {
  readonly route: PublishedRoute;
  readonly changes: Changes = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  /** Files of the same content at another place, or in other codings. */
  moved = 0;
  /** The lowest key, once there is one. */
  firstKey: number | undefined;
  bytes = 0;
  /** The URL path of a key's file, with its query. */
  readonly url: (key: number) => string;
  readonly file: (key: number) => string;
  readonly #oldFile: (key: number) => string;
  readonly #compressedFrom: number;
  readonly #oldCompressedFrom: number;
  /** Whether the route's files lie elsewhere than they did. */
  readonly moves: boolean;
  readonly #previous: LedgerReader | undefined;
  readonly #next: LedgerWriter | undefined;
  readonly #onRemoved: (gone: Gone) => void;
  #last = -1;
  /** The ranges of keys that are noted, from the one under the cursor on; undefined where all keys are. */
  #noted: Iterator<KeyRange> | undefined;
  #range: KeyRange | undefined;

  /**
   * @param next where the next ledger is written; a dry run has none
   * @param oldCompressedFrom the size from which documents of the last snapshot have compressed siblings
   */
  constructor(
    route: PublishedRoute,
    previous: LedgerReader | undefined,
    next: LedgerWriter | undefined,
    oldCompressedFrom: number,
    onRemoved: (gone: Gone) => void,
  ) {
    const oldTemplate = previous?.template ?? route.file;
    this.route = route;
    this.url = filler(urlTemplate(route));
    this.file = filler(route.file);
    this.#oldFile = filler(oldTemplate);
    this.#compressedFrom = compressedFrom(route, COMPRESSED_FROM_BYTES);
    this.#oldCompressedFrom = oldCompressedFrom;
    this.moves = oldTemplate !== route.file;
    this.#previous = previous;
    this.#next = next;
    this.#onRemoved = onRemoved;
  }

  /** Every URL that the file answers: a parameter's default is also what no parameter means. */
  urls(key: number): readonly string[] {
    const bare = this.route.parameters?.some(
      (parameter) => parameter.in === 'query' && parameter.default === key,
    );
    return bare === true ? [this.url(key), this.route.path] : [this.url(key)];
  }

  /** The files of a document of this size: its own, and those of its compressed siblings. */
  files(key: number, bytes: number): readonly string[] {
    return namesOf(this.file(key), bytes, this.#compressedFrom);
  }

  /** The files that a document had in the last snapshot. */
  oldFiles({ key, bytes }: Entry): readonly string[] {
    return namesOf(this.#oldFile(key), bytes, this.#oldCompressedFrom);
  }

  /**
   * Outside these ranges, in ascending order, every document of the last snapshot stays and none is noted. Said
   * before the first document is noted.
   */
  keepOutside(ranges: Iterable<KeyRange>): void {
    this.#noted = ranges[Symbol.iterator]();
    this.#advance();
  }

  #advance(): void {
    const next = this.#noted?.next();
    this.#range = next === undefined || next.done === true ? undefined : next.value;
  }

  /** Notes a document of the next snapshot and compares it with the last. Keys must ascend. */
  note({ key, bytes, hash }: Entry): Noted {
    if (key <= this.#last) {
      throw new TypeError(`route "${this.route.name}": ${key} after ${this.#last}, expected ascending keys`);
    }
    this.#last = key;
    this.#passBefore(key);
    this.firstKey ??= key;
    this.bytes += bytes;
    this.#next?.add({ key, bytes, hash });
    const noted = this.#compare(key, bytes, hash);
    if (noted.verdict === 'moved') this.moved += 1;
    this.changes[noted.verdict === 'moved' ? 'unchanged' : noted.verdict] += 1;
    return noted;
  }

  #compare(key: number, bytes: number, hash: Buffer): Noted {
    const old = this.#previous?.peek();
    if (old?.key !== key) return ADDED;
    const same = Buffer.compare(old.hash, hash) === 0;
    const recoded = bytes >= this.#compressedFrom !== bytes >= this.#oldCompressedFrom;
    const verdict: Verdict = !same ? 'changed' : this.moves || recoded ? 'moved' : 'unchanged';
    const noted = verdict === 'unchanged' ? UNCHANGED : { verdict, oldFiles: this.oldFiles(old) };
    this.#previous?.next();
    return noted;
  }

  /** What the last snapshot has before a key is taken over or removed. */
  #passBefore(key: number): void {
    if (this.#noted === undefined) {
      this.#removeBefore(key);
      return;
    }
    for (;;) {
      const range = this.#range;
      this.#keepBefore(Math.min(range?.low ?? Number.POSITIVE_INFINITY, key));
      if (range === undefined || range.low >= key) return;
      this.#removeBefore(Math.min(range.high + 1, key));
      if (range.high >= key) return;
      this.#advance();
    }
  }

  #keepBefore(key: number): void {
    const kept = this.#previous?.passBelow(key, this.#next);
    if (kept === undefined) return;
    this.firstKey ??= kept.firstKey;
    this.bytes += kept.bytes;
    this.changes.unchanged += kept.entries;
  }

  /**
   * Takes the document of this key over from the last snapshot, if that has it and it is not known to be damaged.
   * @returns whether it was taken over
   */
  take(key: number): boolean {
    this.#passBefore(key);
    const entry = this.published(key);
    if (entry === undefined) return false;
    this.note(entry);
    return true;
  }

  #removeBefore(key: number): void {
    const previous = this.#previous;
    for (let old = previous?.peek(); old !== undefined && old.key < key; old = previous?.peek()) {
      this.changes.removed += 1;
      this.#onRemoved({
        key: old.key,
        url: this.url(old.key),
        urls: this.urls(old.key),
        files: this.oldFiles(old),
      });
      previous?.next();
    }
  }

  /** What the last snapshot has under the key that would be noted next, unless that is known to be damaged. */
  published(key: number): Entry | undefined {
    const old = this.#previous?.peek();
    if (old?.key !== key || NO_HASH.equals(old.hash)) return undefined;
    return { ...old, hash: Buffer.from(old.hash) };
  }

  /** No more files: what the last snapshot still has is removed. */
  finish(): void {
    this.#passBefore(Number.POSITIVE_INFINITY);
  }

  /** Ends the next ledger and returns its checksum. */
  seal(): string | undefined {
    this.#previous?.close();
    return this.#next?.finish();
  }

  /** Lets go of the files, complete or not. */
  close(): void {
    this.#previous?.close();
    this.#next?.close();
  }
}
