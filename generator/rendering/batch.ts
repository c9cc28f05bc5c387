/**
 * Rendered documents on their way from the thread that renders to the one that publishes: many of one route in a few
 * blocks of memory, which change hands without being copied. They are encoded and hashed already.
 */
import { hash } from 'node:crypto';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';

const HASH_BYTES = 32;
/** A batch is handed over when it holds so much: 256 KiB, or so many documents. */
const BATCH_BYTES = 256 * 1024;
const BATCH_DOCUMENTS = 1024;

export interface Batch {
  readonly route: string;
  readonly keys: Float64Array<ArrayBuffer>;
  /** Where each document ends in the content. None is empty: one that is stays as it was in the last snapshot. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** SHA-256 of each, one behind the other. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A document of a batch; its bytes are those of the batch. */
export interface Rendered {
  readonly key: number;
  readonly body: Buffer;
  readonly hash: Buffer;
}

/** Takes the documents of one route, and hands out batches. */
export class Batcher {
  readonly #route: string;
  readonly #send: (batch: Batch) => void;
  readonly #keys: number[] = [];
  readonly #ends: number[] = [];
  #hashes = Buffer.alloc(0);
  #content = Buffer.alloc(0);
  #used = 0;

  constructor(route: string, send: (batch: Batch) => void) {
    this.#route = route;
    this.#send = send;
  }

  /** @param body undefined for a document that stays as it is */
  add(key: number, body: string | undefined): void {
    // UTF-8 takes up to three bytes for a unit of UTF-16.
    const most = (body?.length ?? 0) * 3;
    if (this.#keys.length === BATCH_DOCUMENTS || this.#used + most > this.#content.length) this.#renew(most);
    const start = this.#used;
    if (body !== undefined) {
      this.#used += this.#content.write(body, start);
      const its = hash('sha256', this.#content.subarray(start, this.#used), 'buffer');
      this.#hashes.set(its, this.#keys.length * HASH_BYTES);
    }
    this.#keys.push(key);
    this.#ends.push(this.#used);
  }

  #renew(needed: number): void {
    this.flush();
    // A block of its own, not a part of Node's pool: it is given away.
    this.#content = Buffer.from(new ArrayBuffer(Math.max(BATCH_BYTES, needed)));
    this.#hashes = Buffer.from(new ArrayBuffer(BATCH_DOCUMENTS * HASH_BYTES));
    this.#used = 0;
  }

  /** Hands out what there is. */
  flush(): void {
    if (this.#keys.length === 0) return;
    this.#send({
      route: this.#route,
      keys: Float64Array.from(this.#keys),
      ends: Uint32Array.from(this.#ends),
      hashes: new Uint8Array(this.#hashes.buffer),
      content: new Uint8Array(this.#content.buffer),
    });
    this.#keys.length = 0;
    this.#ends.length = 0;
    this.#hashes = Buffer.alloc(0);
    this.#content = Buffer.alloc(0);
  }
}

/** The documents of a batch. */
export function* rendered({ keys, ends, hashes, content }: Batch): Generator<Rendered, void, undefined> {
  const bytes = Buffer.from(content.buffer);
  const sums = Buffer.from(hashes.buffer);
  let start = 0;
  for (let at = 0; at < keys.length; at += 1) {
    const [key, end] = [keys[at] ?? 0, ends[at] ?? 0];
    yield {
      key,
      body: bytes.subarray(start, end),
      hash: sums.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    };
    start = end;
  }
}

/** @throws TypeError: a defect of ours */
export function asBatch(said: Members): Batch {
  if (isObject(said) && isBatch(said)) return said;
  throw new TypeError('not a batch of documents');
}

const isBatch = (said: Members): said is Members & Batch =>
  typeof said['route'] === 'string' &&
  said['keys'] instanceof Float64Array &&
  said['ends'] instanceof Uint32Array &&
  said['hashes'] instanceof Uint8Array &&
  said['content'] instanceof Uint8Array;
