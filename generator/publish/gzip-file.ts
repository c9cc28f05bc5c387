/** A compressed file of lines, hashed as it is written. */
import { GzipEncoder } from './gzip.js';
import { Sink } from '../tree/sink.js';
import type { Content } from '../tree/sink.js';

export interface WrittenFile extends Content {
  /** Lines, or rows of all tables. */
  readonly rows: number;
}

export class GzipFile {
  readonly #sink: Sink;
  readonly #gzip: GzipEncoder;
  #lines = 0;

  constructor(file: string) {
    this.#sink = new Sink(file);
    this.#gzip = new GzipEncoder((bytes) => this.#sink.write(bytes));
  }

  /** The size so far, before compression. */
  get raw(): number {
    return this.#gzip.bytes;
  }

  /** The size of what is compressed so far. */
  get bytes(): number {
    return this.#sink.bytes;
  }

  write(bytes: Uint8Array): void {
    this.#gzip.write(bytes);
  }

  /** Writes a line. @param text has no line break */
  line(text: string): void {
    this.#gzip.write(Buffer.from(`${text}\n`));
    this.#lines += 1;
  }

  finish(rows = this.#lines): WrittenFile {
    this.#gzip.finish();
    return { ...this.#sink.finish(), rows };
  }

  close(): void {
    this.#sink.close();
  }
}
