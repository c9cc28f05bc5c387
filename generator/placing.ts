/** Puts rendered documents where they are published from: which, is decided here; who is free writes the files. */
import type { Job } from './jobs.js';
import { Placement } from './publish/placement.js';
import type { Places, Unwritten } from './publish/placement.js';
import type { Publisher } from './publish/publisher.js';
import type { Batch } from './rendering/batches.js';
import type { Pool } from './threads/pool.js';

/** Documents in memory that threads share, the way they are handed to another one. */
export interface Placed {
  readonly memory: SharedArrayBuffer;
  readonly series: readonly string[];
  readonly files: readonly string[];
  /** Where each one's content begins in the memory, and how long it is. */
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly replaced: readonly (readonly string[])[];
}

/** Fewer files than these are written sooner than handed over. */
const WORTH_IT = 32;

export class Placing {
  readonly #pool: Pool<Job>;
  readonly #publisher: Publisher;
  readonly #placing = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(pool: Pool<Job>, publisher: Publisher) {
    this.#pool = pool;
    this.#publisher = publisher;
  }

  /**
   * Publishes the documents of a batch, which is released when all its files are written: by a thread that would
   * have nothing to do, or here.
   * @param noteChanged is told the route of each document that is new or changed
   * @throws what prevented files of an earlier batch from being written
   */
  take({ documents, release }: Batch, noteChanged: (route: string) => void): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    const unwritten: Unwritten[] = [];
    for (const { route, key, body, hash } of documents) {
      if (body.length === 0) this.#publisher.carry(route, key);
      else if (this.#publisher.putHashed(route, key, body, hash, (file) => unwritten.push(file)))
        noteChanged(route);
    }
    const placed = unwritten.length >= WORTH_IT && this.#pool.isIdle ? together(unwritten) : undefined;
    if (placed !== undefined) {
      this.#handOver(placed, release);
      return;
    }
    for (const file of unwritten) this.#publisher.placement.write(file);
    release();
  }

  #handOver(placed: Placed, release: () => void): void {
    const placing = this.#pool
      .run({ do: 'place', places: this.#publisher.placement.places, placed })
      .then(release, (error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#placing.delete(placing));
    this.#placing.add(placing);
  }

  /** Waits until all files are written. @throws what prevented one from it */
  async settled(): Promise<void> {
    await Promise.all(this.#placing);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** What can be handed over: undefined where it lies in memory that is not shared. */
function together(unwritten: readonly Unwritten[]): Placed | undefined {
  const memory = unwritten[0]?.body.buffer;
  if (!(memory instanceof SharedArrayBuffer)) return undefined;
  return {
    memory,
    series: unwritten.map(({ series }) => series),
    files: unwritten.map(({ file }) => file),
    starts: Uint32Array.from(unwritten, ({ body }) => body.byteOffset),
    lengths: Uint32Array.from(unwritten, ({ body }) => body.length),
    replaced: unwritten.map(({ replaced }) => replaced),
  };
}

/** What a thread does that is asked to stage documents. */
export function place({ places, placed }: { readonly places: Places; readonly placed: Placed }): void {
  const { memory, series, files, starts, lengths, replaced } = placed;
  const placement = new Placement(places);
  for (const [index, file] of files.entries()) {
    placement.write({
      series: series[index] ?? '',
      file,
      body: new Uint8Array(memory, starts[index], lengths[index]),
      replaced: replaced[index] ?? [],
    });
  }
}
