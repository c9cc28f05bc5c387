/** The next version of a file of documents, from its last: inflated, with the changed lines put in. */
import { HashFileReader } from '../tree/hash-file.js';
import type { GzipFile } from '../publish/gzip.js';
import type { Context } from '../register/context.js';
import { inflated } from './last-file.js';
import type { LastFile } from './last-file.js';

/** The last version of a file of documents. */
export interface LastDocuments extends LastFile {
  /** The index of its documents: a line has the bytes of one, and a line feed. */
  readonly index: string;
}

const NOTHING = Buffer.alloc(0);

/** Writes the next version. Keys must ascend. */
export class NextDocuments {
  readonly #next: GzipFile;
  readonly #advance: Context['advance'];
  readonly #index: HashFileReader | undefined;
  readonly #chunks: AsyncIterator<unknown>;
  /** What is inflated, but neither kept nor dropped. */
  #rest: Buffer = NOTHING;
  /** The bytes of lines to keep that are not written yet. */
  #kept = 0;
  rows = 0;

  constructor(last: LastDocuments, next: GzipFile, advance: Context['advance']) {
    this.#next = next;
    this.#advance = advance;
    this.#index = HashFileReader.open(last.index);
    this.#chunks = inflated(last)[Symbol.asyncIterator]();
  }

  /** Keeps the lines of the documents below a key. */
  #keepBelow(key: number): void {
    for (let old = this.#index?.peek(); old !== undefined && old.key < key; old = this.#index?.peek()) {
      this.#kept += old.bytes + 1;
      this.#count();
      this.#index?.next();
    }
  }

  /** Puts a document in place of what has its key, or nothing. */
  async put(key: number, body: string | undefined): Promise<void> {
    this.#keepBelow(key);
    const old = this.#index?.peek();
    if (old?.key === key) {
      this.#index?.next();
      await this.#writeKept();
      await this.#take(old.bytes + 1);
    }
    if (body === undefined) return;
    await this.#writeKept();
    this.#next.line(body);
    this.#count();
  }

  #count(): void {
    this.rows += 1;
    this.#advance(1);
  }

  /** Keeps the remaining lines. @returns whether the last version had what its index says */
  async finish(): Promise<boolean> {
    this.#keepBelow(Number.POSITIVE_INFINITY);
    await this.#writeKept();
    return this.#rest.length === 0 && (await this.#chunks.next()).done === true;
  }

  async #writeKept(): Promise<void> {
    const bytes = this.#kept;
    this.#kept = 0;
    await this.#take(bytes, (part) => this.#next.write(part));
  }

  /** Takes bytes of the last version. */
  async #take(bytes: number, put?: (part: Buffer) => void): Promise<void> {
    for (let left = bytes; left > 0;) {
      if (this.#rest.length === 0) {
        const next: IteratorResult<unknown> = await this.#chunks.next();
        if (!Buffer.isBuffer(next.value)) return;
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, left);
      put?.(part);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
    }
  }

  close(): void {
    this.#index?.close();
    void this.#chunks.return?.();
  }
}
