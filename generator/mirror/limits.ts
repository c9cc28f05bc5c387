/** The origin's rate limits, kept by the client: a token bucket for each, as in the proxy. */
import { BUCKETS, countedBy, downloadCost } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import type { Snapshot } from '../tree/snapshot-json.js';

/** The longest time until a token is back that is believed: a day. Timers end at 2^31 ms. */
const REFILL_MS = 24 * 3600 * 1000;

interface BucketLevel {
  readonly tokens: number;
  readonly refillMs: number;
  /** Tokens left at a time; negative if requests have yet to wait. */
  left: number;
  at: number;
}

export class RequestBudget {
  readonly #levels = new Map<Bucket, BucketLevel>();
  readonly #isLearned = new Set<Bucket>();
  /** Tokens taken before the limit was known. */
  readonly #early = new Map<Bucket, number>();
  #tokenBytes = 1;

  /** Keeps to the limits in snapshot.json, unless responses say others. */
  set(limits: Snapshot['limits']): void {
    this.#tokenBytes = limits.download.token_bytes ?? 1;
    for (const bucket of BUCKETS) {
      const { tokens, refill_seconds: seconds } = limits[bucket];
      if (!this.#isLearned.has(bucket)) this.#set(bucket, tokens, 1000 * seconds);
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

  #set(bucket: Bucket, tokens: number, refillMs: number): void {
    const known = this.#levels.get(bucket);
    const used = known === undefined ? (this.#early.get(bucket) ?? 0) : known.tokens - leftIn(known);
    const level = { refillMs: Math.min(refillMs, REFILL_MS), left: tokens - used, at: performance.now() };
    this.#levels.set(bucket, { tokens, ...level });
  }

  /** The cost of a download in tokens. @param bytes what is asked for of its `size` bytes */
  costOf(bytes: number, size = bytes): number {
    return downloadCost(bytes, size, this.#tokenBytes);
  }

  /** Takes tokens for a request. @returns how long to wait before it, in ms */
  take(bucket: Bucket, cost: number): number {
    const waits = countedBy(bucket).map((name) => {
      const [level, tokens] = [this.#levels.get(name), name === 'download' ? cost : 1];
      if (level === undefined) {
        this.#early.set(name, (this.#early.get(name) ?? 0) + tokens);
        return 0;
      }
      level.left = leftIn(level) - tokens;
      level.at = performance.now();
      return -level.left * level.refillMs;
    });
    return Math.ceil(Math.max(0, ...waits));
  }

  /** The shortest time in which the limit allows a number of requests, in seconds. */
  secondsFor(requests: readonly { readonly bucket: Bucket; readonly bytes: number }[]): number {
    const waits = [...this.#levels].map(([name, level]) => {
      const counted = requests.filter(({ bucket }) => countedBy(bucket).includes(name));
      const costs = counted.map(({ bytes }) => (name === 'download' ? this.costOf(bytes) : 1));
      return (costs.reduce((sum, cost) => sum + cost, -leftIn(level)) * level.refillMs) / 1000;
    });
    return Math.ceil(Math.max(0, ...waits));
  }
}

const leftIn = ({ tokens, refillMs, left, at }: BucketLevel): number =>
  Math.min(tokens, left + (performance.now() - at) / refillMs);
