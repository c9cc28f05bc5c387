/** The origin's rate limits, kept by the client: a token bucket for each, as in the proxy. */
import { BUCKETS, countedBy, downloadCost, type Bucket } from '../../routes/route.js';
import type { Snapshot } from '../../tree/snapshot-json.js';

/** The longest time until a token is back that is believed: a day. Timers end at 2^31 ms. */
const REFILL_MS = 24 * 3600 * 1000;

/** Nothing waits for it. */
const UNKNOWN = { tokens: 1, refill_seconds: 0 };

export class RequestBudget {
  /** Those in snapshot.json; undefined until it was read. */
  limits: Snapshot['limits'] | undefined;
  /** When each bucket is full again, by `performance.now()`. */
  readonly #fullAt: Record<Bucket, number> = { api: 0, download: 0, page: 0 };

  /** The cost of a download in tokens. @param bytes what is asked for of its `size` bytes */
  costOf(bytes: number, size: number): number {
    return downloadCost(bytes, size, this.limits?.download.token_bytes ?? 1);
  }

  /** Takes tokens for a request. @returns how long to wait before it, in ms */
  take(bucket: Bucket, cost: number): number {
    const waits = countedBy(bucket).map((name) => {
      const { fullAt, waitMs } = this.#after(name, name === 'download' ? cost : 1);
      this.#fullAt[name] = fullAt;
      return waitMs;
    });
    return Math.ceil(Math.max(0, ...waits));
  }

  /** The shortest time for some requests of whole files, in ms. */
  msFor(requests: readonly { readonly bucket: Bucket; readonly bytes: number }[]): number {
    const waits = BUCKETS.map((name) => {
      const costs = requests
        .filter(({ bucket }) => countedBy(bucket).includes(name))
        .map(({ bytes }) => (name === 'download' ? this.costOf(bytes, bytes) : 1));
      return this.#after(
        name,
        costs.reduce((sum, cost) => sum + cost, 0),
      ).waitMs;
    });
    return Math.max(0, ...waits);
  }

  /** When a bucket would be full again if tokens were taken now, and how long their taker would wait. */
  #after(name: Bucket, taken: number): { readonly fullAt: number; readonly waitMs: number } {
    const { tokens, refill_seconds: seconds } = this.limits?.[name] ?? UNKNOWN;
    const refillMs = Math.min(1000 * seconds, REFILL_MS);
    const now = performance.now();
    const fullAt = Math.max(now, this.#fullAt[name]) + taken * refillMs;
    return { fullAt, waitMs: fullAt - now - tokens * refillMs };
  }
}
