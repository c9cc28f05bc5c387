/**
 * Compares documents and fingerprints with those of the published snapshot, in any thread: one merge
 * in ascending key order. What differs is collected, and written in one transaction to the database of
 * differences, which the main thread applies (see next.ts).
 */
import { openDatabase, type Database } from '../base/sqlite/sqlite.js';
import { seek, type Cursor, type KeyRange } from '../base/cursor.js';
import {
  ALL_KEYS,
  MOST_AT_ONCE,
  pageReader,
  type Entry,
  type EntryTable,
  type Page,
  type ReadPage,
} from './documents.js';
import { readState, withState } from './schema.js';

export type Verdict = 'added' | 'changed' | 'unchanged';

/** How many entries are read at once: few after a jump, more and more in sequence. */
const LEAST_AT_ONCE = 64;
/** How many documents that differ are kept in memory. */
const DOCUMENTS_KEPT = 8192;
/** Another thread writes its differences in less time: 60,000 ms (= 1 minute). */
const PATIENCE_MS = 60_000;
const NOTHING: Page = { keys: [], bytes: [], hashes: Buffer.alloc(0) };

/** The published entries of one list, in key order. */
class Entries implements Cursor<Entry> {
  readonly #readPage: ReadPage;
  #page = NOTHING;
  #at = 0;
  /** The key of the entry at the cursor; undefined at the end, or until it is read. */
  #key: number | undefined;
  /** From where the next page is read; undefined after the last. */
  #from: number | undefined;
  #limit = LEAST_AT_ONCE;

  constructor(read: ReadPage, { low }: KeyRange) {
    this.#readPage = read;
    this.#from = low;
  }

  readonly peekKey = (): number | undefined => {
    if (this.#key === undefined && this.#from !== undefined) this.#read(this.#from);
    return this.#key;
  };

  readonly peek = (): Entry | undefined => {
    const key = this.peekKey();
    if (key === undefined) return undefined;
    const { bytes, hashes, keys } = this.#page;
    const size = hashes.length / keys.length;
    const hash = hashes.subarray(this.#at * size, (this.#at + 1) * size);
    return { key, bytes: bytes[this.#at] ?? 0, hash };
  };

  readonly next = (): void => {
    this.#at += 1;
    this.#key = this.#page.keys[this.#at];
  };

  /** Skips all entries with lower keys. */
  passBelow(key: number): void {
    const last = this.#page.keys.at(-1) ?? -1;
    if (key <= last) while (this.#key !== undefined && this.#key < key) this.next();
    const isThere = this.#key === undefined ? this.#from === undefined : this.#key >= key;
    if (isThere) return;
    // Far away: what is in between is not read.
    this.#limit = LEAST_AT_ONCE;
    this.#key = undefined;
    this.#from = this.#from === undefined || key > ALL_KEYS.high ? undefined : Math.max(key, this.#from);
  }

  #read(from: number): void {
    this.#page = this.#readPage(from, this.#limit);
    this.#at = -1;
    this.next();
    const { keys } = this.#page;
    this.#from = keys.length < this.#limit ? undefined : (keys.at(-1) ?? 0) + 1;
    this.#limit = Math.min(2 * this.#limit, MOST_AT_ONCE);
  }
}

/** A difference: without a hash, the entry is gone. */
export interface Difference {
  readonly key: number;
  readonly bytes: number | null;
  readonly hash: Buffer | null;
  readonly files: number;
  readonly replaced: number;
}

export interface ComparisonOptions {
  /** Whether there are published entries to compare with. */
  readonly isPublished: boolean;
  /** The keys that are compared. */
  readonly range?: KeyRange;
  /** How many files a document of a size has, and had; a document with another number of files differs. */
  readonly filesOf?: (bytes: number) => number;
  readonly filesBefore?: (bytes: number) => number;
  /** Called with each removed entry. */
  readonly onGone?: (old: Entry) => void;
}

const NO_FILES = (): number => 0;

/** Two-pointer merge in ascending key order. Entries neither put nor kept are removed. */
export class Comparison {
  readonly #old: Entries | undefined;
  readonly #add: (difference: Difference) => void;
  readonly #filesOf: (bytes: number) => number;
  readonly #filesBefore: (bytes: number) => number;
  readonly #onGone: ((old: Entry) => void) | undefined;
  #last = -1;

  constructor(
    old: Entries | undefined,
    add: (difference: Difference) => void,
    { filesOf = NO_FILES, filesBefore = NO_FILES, onGone }: ComparisonOptions,
  ) {
    this.#old = old;
    this.#add = add;
    this.#filesOf = filesOf;
    this.#filesBefore = filesBefore;
    this.#onGone = onGone;
  }

  /** The previous entry of a key above those put. */
  old(key: number): Entry | undefined {
    return this.#old && seek(this.#old, key, this.#remove);
  }

  /** The key of the next previous entry. */
  get nextOld(): number | undefined {
    return this.#old?.peekKey();
  }

  /** Puts an entry. */
  put({ key, bytes, hash }: Entry): Verdict {
    const old = this.#take(key);
    const files = this.#filesOf(bytes);
    const replaced = old === undefined ? 0 : this.#filesBefore(old.bytes);
    if (old?.bytes === bytes && old.hash.equals(hash) && files === replaced) return 'unchanged';
    this.#add({ key, bytes, hash, files, replaced });
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
    const { key, bytes } = old;
    this.#add({ key, bytes: null, hash: null, files: 0, replaced: this.#filesBefore(bytes) });
  };

  /** Removes all remaining entries below a key, by default all. */
  removeBelow(key = Number.POSITIVE_INFINITY): void {
    this.old(key);
  }
}

/** Where entries are compared: files, so that any thread can. */
export interface ComparedFiles {
  /** The published state; undefined if there is none. */
  readonly state: string | undefined;
  /** The database of differences. */
  readonly differences: string;
}

/** Compares any number of lists, until `finish` or `close`. */
export class Comparer implements Disposable {
  readonly #files: ComparedFiles;
  readonly #own: Database | undefined;
  readonly #published: Database | undefined;
  readonly #found = new Map<EntryTable, [list: number, difference: Difference][]>();

  /** @param own a connection that has the differences as `next`, of a thread that applies them meanwhile */
  constructor(files: ComparedFiles, own?: Database) {
    this.#files = files;
    this.#own = own;
    this.#published = files.state === undefined ? undefined : readState(files.state);
  }

  /** Compares a list. @param list the id of a route or source */
  compare(table: EntryTable, list: number, options: ComparisonOptions): Comparison {
    const published = this.#published;
    const { isPublished, range = ALL_KEYS } = options;
    const old =
      isPublished && published !== undefined
        ? new Entries(pageReader(published, table, list, range), range)
        : undefined;
    const found: [number, Difference][] = this.#found.get(table) ?? [];
    this.#found.set(table, found);
    const add = (difference: Difference): void => {
      found.push([list, difference]);
      if (table === 'document' && found.length >= DOCUMENTS_KEPT) this.finish();
    };
    return new Comparison(old, add, options);
  }

  /** Forgets what was found of fingerprints, to compare again. */
  forget(): void {
    for (const found of this.#found.values()) found.length = 0;
  }

  /** Writes what was found. */
  finish(): void {
    if ([...this.#found.values()].every(({ length }) => length === 0)) return;
    const { differences } = this.#files;
    withState(differences, () => {
      const own = this.#own;
      if (own?.inTransaction === true) this.#insert(own, 'next');
      else if (own !== undefined) own.transaction(() => this.#insert(own, 'next'))();
      else {
        const database = openDatabase(differences, { timeout: PATIENCE_MS });
        try {
          database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048');
          database.transaction(() => this.#insert(database, 'main')).immediate();
        } finally {
          database.close();
        }
      }
    });
    this.forget();
  }

  #insert(database: Database, schema: 'next' | 'main'): void {
    const document = database.prepare(`INSERT OR REPLACE INTO ${schema}.document VALUES (?, ?, ?, ?, ?, ?)`);
    const fingerprint = database.prepare(`INSERT OR REPLACE INTO ${schema}.fingerprint VALUES (?, ?, ?, ?)`);
    for (const [list, { key, bytes, hash, files, replaced }] of this.#found.get('document') ?? [])
      document.run(list, key, bytes, hash, files, replaced);
    for (const [list, { key, bytes, hash }] of this.#found.get('fingerprint') ?? [])
      fingerprint.run(list, key, bytes, hash);
  }

  close(): void {
    this.#published?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
