/** One route's files, in order of the key, beside what the last snapshot had there. */
import { filler, urlTemplate } from '../routes.js';
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

/** A file that the last snapshot had and the next has not, or has elsewhere. */
export interface Gone {
  readonly url: string;
  readonly urls: readonly string[];
  readonly file: string;
}

export class Series {
  readonly route: PublishedRoute;
  readonly changes: Changes = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  /** The lowest key, once there is one. */
  firstKey: number | undefined;
  bytes = 0;
  /** The URL path of a key's file, with its query. */
  readonly url: (key: number) => string;
  readonly file: (key: number) => string;
  /** Where the last snapshot has a key's file. */
  readonly oldFile: (key: number) => string;
  /** Whether the route's files lie elsewhere than they did. */
  readonly moves: boolean;
  readonly #previous: LedgerReader | undefined;
  readonly #next: LedgerWriter | undefined;
  readonly #onRemoved: (gone: Gone) => void;
  #last = -1;

  /** @param next where the next ledger is written; a dry run has none */
  constructor(
    route: PublishedRoute,
    previous: LedgerReader | undefined,
    next: LedgerWriter | undefined,
    onRemoved: (gone: Gone) => void,
  ) {
    const oldTemplate = previous?.template ?? route.file;
    this.route = route;
    this.url = filler(urlTemplate(route));
    this.file = filler(route.file);
    this.oldFile = filler(oldTemplate);
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

  /** Notes a file of the next snapshot and compares it with the last. Keys must ascend. */
  note({ key, bytes, hash }: Entry): Verdict {
    if (key <= this.#last) {
      throw new TypeError(`route "${this.route.name}": ${key} after ${this.#last}, expected ascending keys`);
    }
    this.#last = key;
    this.firstKey ??= key;
    this.bytes += bytes;
    this.#next?.add({ key, bytes, hash });
    this.#removeBefore(key);
    const verdict = this.#compare(key, hash);
    this.changes[verdict === 'moved' ? 'unchanged' : verdict] += 1;
    return verdict;
  }

  #compare(key: number, hash: Buffer): Verdict {
    const old = this.#previous?.peek();
    if (old?.key !== key) return 'added';
    const same = Buffer.compare(old.hash, hash) === 0;
    this.#previous?.next();
    if (!same) return 'changed';
    return this.moves ? 'moved' : 'unchanged';
  }

  #removeBefore(key: number): void {
    const previous = this.#previous;
    for (let old = previous?.peek(); old !== undefined && old.key < key; old = previous?.peek()) {
      this.changes.removed += 1;
      this.#onRemoved({ url: this.url(old.key), urls: this.urls(old.key), file: this.oldFile(old.key) });
      previous?.next();
    }
  }

  /** No more files: what the last snapshot still has is removed. */
  finish(): void {
    this.#removeBefore(Number.POSITIVE_INFINITY);
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
