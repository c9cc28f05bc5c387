/** What a run gets in all, whatever an origin does: bytes, time, and patience while nothing comes. */
import { Failure } from '../../base/errors.js';
import { number } from '../../base/progress.js';

export interface Bounds {
  /** Of the whole run. */
  readonly ms: number;
  /** How long a run may wait, in all, until something is received again. */
  readonly patienceMs: number;
  /** Received, besides what the size of the tree explains. */
  readonly bytes: number;
  /** After this time, a response must have arrived at this rate on average. */
  readonly slowMs: number;
  readonly bytesPerSecond: number;
}

/** The longest time of a run: 4320 minutes (= 3 days). */
export const RUN_MINUTES = 3 * 24 * 60;
/** The patience by default: 60 minutes (= 1 hour). */
export const PATIENCE_MINUTES = 60;
const MINUTE_MS = 60_000;

/** Also 2 GiB (twice the longest log), and 1 KiB a second after a minute. */
export const boundsFor = (patienceMinutes: number): Bounds => ({
  ms: RUN_MINUTES * MINUTE_MS,
  patienceMs: patienceMinutes * MINUTE_MS,
  bytes: 2 * 1024 ** 3,
  slowMs: 60_000,
  bytesPerSecond: 1024,
});

/** How often all files of a tree may be received: for attempts that the origin makes void. */
const COPIES = 4;

const inMinutes = (ms: number): number => Math.round(ms / MINUTE_MS);
export const minutes = (ms: number): string => `${number(inMinutes(ms))} min`;

/** How much of its bounds a run has used. */
export class Usage {
  /** Received so far. */
  bytes = 0;
  readonly #origin: string;
  readonly bounds: Bounds;
  readonly #startedAt = performance.now();
  #mostBytes: number;
  /** Since something was received. */
  #waitedMs = 0;

  /** @param origin for messages */
  constructor(origin: string, bounds: Bounds) {
    this.#origin = origin;
    this.bounds = bounds;
    this.#mostBytes = bounds.bytes;
  }

  /** Allows the bytes that the size of a tree explains. */
  allow(treeBytes: number): void {
    this.#mostBytes = this.bounds.bytes + COPIES * treeBytes;
  }

  /**
   * @param ms what the run takes still, at least
   * @param why after the time
   * @throws Failure environment: that is too long
   */
  requireTime(ms = 0, why = ''): void {
    const runMs = performance.now() - this.#startedAt + ms;
    if (runMs <= this.bounds.ms) return;
    throw Failure.environment(
      `${this.#origin} would take at least ${minutes(runMs)}${why}, longer than the ${minutes(this.bounds.ms)} that a run may take`,
    );
  }

  /** Counts a wait for something of the origin, whether past or to come. */
  addWait(ms: number): void {
    this.#waitedMs += ms;
  }

  /** @param why after the time. @throws Failure environment: the waits since something came are too long */
  requirePatience(why: string): void {
    const { patienceMs } = this.bounds;
    // An origin may ask for all of it, although the request took some milliseconds.
    if (inMinutes(this.#waitedMs) <= inMinutes(patienceMs)) return;
    throw Failure.environment(
      `${this.#origin} would have sent nothing for ${minutes(this.#waitedMs)}${why}, ` +
        `longer than the patience of ${minutes(patienceMs)}`,
    );
  }

  /** Counts what was received. @throws Failure invalid: it is too much; environment: it took too long */
  receive(bytes: number): void {
    this.bytes += bytes;
    this.#waitedMs = 0;
    this.requireTime();
    if (this.bytes > this.#mostBytes) {
      throw Failure.invalid(
        `${this.#origin} has sent more than ${this.#mostBytes} bytes, expected ${COPIES} times its tree at most`,
      );
    }
  }

  /** Whether a response is too slow. @param ms since its headers */
  isSlow(bytes: number, ms: number): boolean {
    const { slowMs, bytesPerSecond } = this.bounds;
    return ms > slowMs && bytes < (ms / 1000) * bytesPerSecond;
  }
}
