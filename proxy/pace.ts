import type { Clock } from './limiter/memory-store.js';

/** An operation that took longer than this was one of a disk, not of memory. 2 ms. */
const SLOW_MS = 2;
/** So long afterwards nobody waits for it: a slow disk holds up everybody for a thousandth of the time or so. 1 s. */
const AVOIDED_MS = 1_000;

/**
 * Whether files may be read while everything else waits. While they are in the memory of the system or on a quick
 * disk, that is by far the cheapest way. As soon as one was not, the next second's are read beside.
 */
export class Pace {
  readonly #clock: Clock;
  #avoidedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The outcome of an operation that waits for the disk; undefined if it is not the time for one. */
  attempt<T>(operation: () => T): T | undefined {
    const startedMs = this.#clock();
    if (startedMs < this.#avoidedUntilMs) return undefined;
    const outcome = operation();
    const endedMs = this.#clock();
    if (endedMs - startedMs > SLOW_MS) this.#avoidedUntilMs = endedMs + AVOIDED_MS;
    return outcome;
  }
}
