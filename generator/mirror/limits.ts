/** The origin's rate limits, kept by the client: a token bucket for each, as in the proxy. */
import { BUCKETS, countedBy, downloadCost } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';

/** A bucket in snapshot.json. */
export interface Limit {
  readonly tokens: number;
  readonly refill_seconds: number;
  /** A download of at least so many bytes counts as one; undefined if each does. */
  readonly token_bytes?: number;
}

/** The longest time until a token is back that is believed: a day. Timers end at 2^31 ms. */
const REFILL_MS = 24 * 3600 * 1000;

interface Level {
  readonly tokens: number;
  readonly refillMs: number;
  /** Tokens left at a time; negative if requests have yet to wait. */
  readonly left: number;
  readonly at: number;
}

export class Limits {
  #levels: ReadonlyMap<Bucket, Level> = new Map();
  readonly #isLearned = new Set<Bucket>();
  #tokenBytes = 1;

  /** Keeps to the limits in snapshot.json, unless responses say others. */
  set(limits: Readonly<Record<Bucket, Limit>>): void {
    this.#tokenBytes = limits.download.token_bytes ?? 1;
    for (const bucket of BUCKETS) {
      const { tokens, refill_seconds } = limits[bucket];
      if (!this.#isLearned.has(bucket)) this.#set(bucket, tokens, 1000 * refill_seconds);
    }
  }

  /**
   * Keeps to the limits that a response names: the server may have others than the tree.
   * @param policy RateLimit-Policy: `"api";q=60;w=60`
   */
  learn(policy: string): void {
    for (const [, name, quota, window] of policy.matchAll(/"(\w+)";q=(\d+);w=(\d+)/g)) {
      const bucket = BUCKETS.find((each) => each === name);
      const [tokens, seconds] = [Number(quota), Number(window)];
      if (bucket === undefined || tokens === 0) continue;
      this.#isLearned.add(bucket);
      this.#set(bucket, tokens, (1000 * seconds) / tokens);
    }
  }

  #set(bucket: Bucket, tokens: number, refill: number): void {
    const refillMs = Math.min(refill, REFILL_MS);
    const known = this.#levels.get(bucket);
    if (known?.tokens === tokens && known.refillMs === refillMs) return;
    const taken = known === undefined ? 0 : known.tokens - leftIn(known);
    const level = { tokens, refillMs, left: tokens - taken, at: performance.now() };
    this.#levels = new Map([...this.#levels, [bucket, level]]);
  }

  /** The cost of a download in tokens. @param bytes what is asked for of its `size` bytes */
  costOf(bytes: number, size = bytes): number {
    return downloadCost(bytes, size, this.#tokenBytes);
  }

  /** Takes tokens for a request. @returns how long to wait before it, in ms */
  take(bucket: Bucket, cost: number): number {
    const levels = new Map(this.#levels);
    let waitMs = 0;
    for (const name of countedBy(bucket)) {
      const level = levels.get(name);
      if (level === undefined) continue;
      const left = leftIn(level) - (name === 'download' ? cost : 1);
      levels.set(name, { ...level, left, at: performance.now() });
      waitMs = Math.max(waitMs, -left * level.refillMs);
    }
    this.#levels = levels;
    return Math.ceil(waitMs);
  }

  /** The least time for so many requests, in seconds. Takes no tokens. */
  secondsFor(requests: readonly { readonly bucket: Bucket; readonly bytes: number }[]): number {
    const levels = this.#levels;
    const waits = requests.map(({ bucket, bytes }) => this.take(bucket, this.costOf(bytes)));
    this.#levels = levels;
    return Math.ceil(Math.max(0, ...waits) / 1000);
  }
}

const leftIn = ({ tokens, refillMs, left, at }: Level): number =>
  Math.min(tokens, left + (performance.now() - at) / refillMs);
