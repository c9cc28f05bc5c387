import type { Clock } from './limiter/memory-store.js';

/** Of each second this much may go by in waiting for a disk: what everything else is held up by at most. 50 ms of 1 s. */
const BUDGET_MS = 50;
const WINDOW_MS = 1_000;
/** What the system has in memory, and what comes from a quick disk, takes less; it counts for nothing. 1 ms. */
const QUICK_MS = 1;

/**
 * Whether files may be read while everything else waits. As long as they are in the memory of the system or on a
 * quick disk, that is by far the cheapest way. Once a slow one has used up its budget, what is left of the second
 * is read beside.
 */
export class Pace {
  readonly #clock: Clock;
  #windowEndMs = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The outcome of an operation that waits for the disk; undefined if it is not the time for one. */
  attempt<T>(operation: () => T): T | undefined {
    const startedMs = this.#clock();
    if (startedMs >= this.#windowEndMs) {
      this.#windowEndMs = startedMs + WINDOW_MS;
      this.#spentMs = 0;
    }
    if (this.#spentMs >= BUDGET_MS) return undefined;
    const outcome = operation();
    const tookMs = this.#clock() - startedMs;
    if (tookMs > QUICK_MS) this.#spentMs += tookMs;
    return outcome;
  }
}
