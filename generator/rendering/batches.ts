/**
 * Rendered documents on their way from a thread that renders to the one that publishes, encoded and hashed already.
 * They lie in memory that both share, in batches that are used again as soon as they were taken: allocating memory
 * for each, in one thread, and freeing it in another, costs time in both and leaves holes.
 */
import { HASH_BYTES, hashInto } from '../publish/hash.js';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';

/** Batches that may be on their way at once. */
const BATCHES = 8;
/** Who waits for a free one is woken by so many: being woken by each costs both sides more. */
const WOKEN_BY = BATCHES / 2;
/** A batch is handed over when it holds so much: 256 KiB, or so many documents. */
const CONTENT_BYTES = 256 * 1024;
const DOCUMENTS = 1024;

/** How long one look at what was taken may last: 100 ms. */
const LOOK_MS = 100;

/** Where a batch lies in the memory: numbers of 8, 4 and 1 bytes a document, hashes, the contents one behind the other. */
const ENDS_AT = DOCUMENTS * Float64Array.BYTES_PER_ELEMENT;
const ROUTES_AT = ENDS_AT + DOCUMENTS * Uint32Array.BYTES_PER_ELEMENT;
const HASHES_AT = ROUTES_AT + DOCUMENTS;
const CONTENT_AT = HASHES_AT + DOCUMENTS * HASH_BYTES;
const BATCH_BYTES = CONTENT_AT + CONTENT_BYTES;
/** The first bytes of the memory count the batches that were taken. */
const BATCHES_AT = 64;

export type Memory = SharedArrayBuffer;

export const newMemory = (): Memory => new SharedArrayBuffer(BATCHES_AT + BATCHES * BATCH_BYTES);

const counter = (memory: Memory): Int32Array<SharedArrayBuffer> => new Int32Array(memory, 0, 1);

/** One batch's part of the memory. */
class Slot {
  readonly keys: Float64Array;
  /** Where each document ends in the content. One that is empty stays as it was in the last snapshot. */
  readonly ends: Uint32Array;
  /** The place of each document's route among those the message names. */
  readonly routes: Uint8Array;
  readonly hashes: Buffer;
  readonly content: Buffer;

  /** @param number of the batch, counted from the first */
  constructor(memory: Memory, number: number) {
    const start = BATCHES_AT + (number % BATCHES) * BATCH_BYTES;
    this.keys = new Float64Array(memory, start, DOCUMENTS);
    this.ends = new Uint32Array(memory, start + ENDS_AT, DOCUMENTS);
    this.routes = new Uint8Array(memory, start + ROUTES_AT, DOCUMENTS);
    this.hashes = Buffer.from(memory, start + HASHES_AT, DOCUMENTS * HASH_BYTES);
    this.content = Buffer.from(memory, start + CONTENT_AT, CONTENT_BYTES);
  }
}

/** Tells of the next batch in the memory. */
interface Sent {
  readonly documents: number;
  readonly routes: readonly string[];
  /** The content of a batch that has none, of a document which is larger than any. */
  readonly large?: Uint8Array<ArrayBuffer>;
}

/** The thread's end: takes documents, and waits where none of the batches is free. */
export class Sender {
  readonly #memory: Memory;
  readonly #taken: Int32Array<SharedArrayBuffer>;
  readonly #say: (sent: Members, transfer: readonly ArrayBuffer[]) => void;
  readonly #routes: string[] = [];
  #sent = 0;
  #slot: Slot;
  #documents = 0;
  #used = 0;

  constructor(memory: Memory, say: (sent: Members, transfer: readonly ArrayBuffer[]) => void) {
    this.#memory = memory;
    this.#taken = counter(memory);
    this.#say = say;
    this.#slot = new Slot(memory, 0);
  }

  /** @param body undefined for a document that stays as it is */
  add(route: string, key: number, body: string | undefined): void {
    // UTF-8 takes up to three bytes for a unit of UTF-16.
    const most = (body?.length ?? 0) * 3;
    if (this.#documents === DOCUMENTS || this.#used + most > CONTENT_BYTES) this.flush();
    const { keys, ends, routes, hashes, content } = this.#slot;
    const isLarge = most > CONTENT_BYTES;
    const large = isLarge && body !== undefined ? new TextEncoder().encode(body) : undefined;
    let bytes: Uint8Array | undefined = large;
    if (body !== undefined && !isLarge) {
      const start = this.#used;
      this.#used += content.write(body, start);
      bytes = content.subarray(start, this.#used);
    }
    if (bytes !== undefined) hashInto(hashes, this.#documents * HASH_BYTES, bytes);
    keys[this.#documents] = key;
    ends[this.#documents] = large?.length ?? this.#used;
    routes[this.#documents] = this.#placeOf(route);
    this.#documents += 1;
    if (large !== undefined) this.flush(large);
  }

  #placeOf(route: string): number {
    const place = this.#routes.indexOf(route);
    return place === -1 ? this.#routes.push(route) - 1 : place;
  }

  /** Hands over what there is. */
  flush(large?: Uint8Array<ArrayBuffer>): void {
    if (this.#documents === 0) return;
    const sent: Sent = { documents: this.#documents, routes: this.#routes, ...(large && { large }) };
    this.#say({ ...sent }, large === undefined ? [] : [large.buffer]);
    this.#sent += 1;
    for (let done = this.#done(); this.#sent - done >= BATCHES; done = this.#done())
      Atomics.wait(this.#taken, 0, done, LOOK_MS);
    this.#slot = new Slot(this.#memory, this.#sent);
    this.#documents = 0;
    this.#used = 0;
  }

  #done(): number {
    return Atomics.load(this.#taken, 0);
  }
}

/** A document that was rendered. */
export interface Rendered {
  readonly route: string;
  readonly key: number;
  /** Empty where the document stays as it was in the last snapshot. */
  readonly body: Buffer;
  readonly hash: Buffer;
}

/** Documents that came together. Their memory is used again when the batch is released. */
export interface Batch {
  readonly size: number;
  readonly documents: Iterable<Rendered>;
  readonly release: () => void;
}

/** The main thread's end. */
export class Receiver {
  readonly #memory: Memory;
  #received = 0;
  #taken = 0;
  /** The numbers of batches that were released before one that came earlier. */
  readonly #early = new Set<number>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /**
   * The batch that the thread told of, in the order in which it did.
   * @throws TypeError: a defect of ours
   */
  receive(said: Members): Batch {
    const sent = asSent(said);
    const number = this.#received;
    this.#received += 1;
    return {
      size: sent.documents,
      documents: documentsOf(sent, new Slot(this.#memory, number)),
      release: () => this.#release(number),
    };
  }

  /** The sender fills the memory round and round, so a batch is free when all before it are. */
  #release(number: number): void {
    const before = this.#taken;
    this.#early.add(number);
    while (this.#early.delete(this.#taken)) this.#taken += 1;
    Atomics.store(counter(this.#memory), 0, this.#taken);
    // Some that were early count at once.
    if (Math.floor(this.#taken / WOKEN_BY) > Math.floor(before / WOKEN_BY))
      Atomics.notify(counter(this.#memory), 0);
  }
}

function* documentsOf(
  { documents, routes: named, large }: Sent,
  { keys, ends, routes, hashes, content }: Slot,
): Generator<Rendered, void, undefined> {
  const bytes = large === undefined ? content : Buffer.from(large.buffer);
  let start = 0;
  for (let at = 0; at < documents; at += 1) {
    const [route, key, end] = [named[routes[at] ?? 0] ?? '', keys[at] ?? 0, ends[at] ?? 0];
    const its = hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
    yield { route, key, body: bytes.subarray(start, end), hash: its };
    start = end;
  }
}

function asSent(said: Members): Sent {
  if (isObject(said) && isSent(said)) return said;
  throw new TypeError('not a batch of documents');
}

const isSent = (said: Members): said is Members & Sent =>
  typeof said['documents'] === 'number' &&
  Array.isArray(said['routes']) &&
  (said['large'] === undefined || said['large'] instanceof Uint8Array);
