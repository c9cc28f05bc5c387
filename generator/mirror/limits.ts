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
  left: number;
  at: number;
}

export class Limits {
  readonly #levels = new Map<Bucket, Level>();
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
    const known = this.#now(bucket);
    if (known?.tokens === tokens && known.refillMs === refillMs) return;
    const taken = known === undefined ? 0 : known.tokens - known.left;
    this.#levels.set(bucket, { tokens, refillMs, left: tokens - taken, at: performance.now() });
  }

  /** The cost of a download in tokens. @param bytes what is asked for of its `size` bytes */
  costOf(bytes: number, size = bytes): number {
    return downloadCost(bytes, size, this.#tokenBytes);
  }

  /** Takes tokens for a request. @returns how long to wait before it, in ms */
  take(bucket: Bucket, cost: number): number {
    const waits = countedBy(bucket).map((name) => {
      const level = this.#now(name);
      if (level === undefined) return 0;
      level.left -= name === 'download' ? cost : 1;
      return Math.max(0, -level.left * level.refillMs);
    });
    return Math.ceil(Math.max(...waits));
  }

  /**
   * A limit has refused a request, since others use the same address. Retry-After says how long.
   * @param state RateLimit, which names the limit: `"api";r=0;t=1`
   */
  drain(state: string): void {
    const [, name] = /^"(\w+)"/.exec(state) ?? [];
    const bucket = BUCKETS.find((each) => each === name);
    const level = bucket && this.#now(bucket);
    if (level !== undefined) level.left = Math.min(level.left, 0);
  }

  /** The least time for so many requests, in seconds. */
  secondsFor(requests: readonly { readonly bucket: Bucket; readonly bytes: number }[]): number {
    const costs: Record<Bucket, number> = { api: 0, download: 0, page: 0 };
    for (const { bucket, bytes } of requests)
      for (const name of countedBy(bucket)) costs[name] += name === 'download' ? this.costOf(bytes) : 1;
    const seconds = [...this.#levels.keys()].map((name) => {
      const { left, refillMs } = this.#now(name) ?? { left: 0, refillMs: 0 };
      return ((costs[name] - left) * refillMs) / 1000;
    });
    return Math.ceil(Math.max(0, ...seconds));
  }

  #now(bucket: Bucket): Level | undefined {
    const level = this.#levels.get(bucket);
    if (level === undefined) return undefined;
    const now = performance.now();
    level.left = Math.min(level.tokens, level.left + (now - level.at) / level.refillMs);
    level.at = now;
    return level;
  }
}
