/** The origin's rate limits, kept by the client: a token bucket for each, as in the proxy. */
import { countedBy, downloadCost } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import type { Snapshot } from '../tree/snapshot-json.js';

/** The longest time until a token is back that is believed: a day. Timers end at 2^31 ms. */
const REFILL_MS = 24 * 3600 * 1000;

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
    const { limits } = this;
    if (limits === undefined) return 0;
    const now = performance.now();
    const waits = countedBy(bucket).map((name) => {
      const { tokens, refill_seconds: seconds } = limits[name];
      const refillMs = Math.min(1000 * seconds, REFILL_MS);
      const taken = name === 'download' ? cost : 1;
      this.#fullAt[name] = Math.max(now, this.#fullAt[name]) + taken * refillMs;
      return this.#fullAt[name] - now - tokens * refillMs;
    });
    return Math.ceil(Math.max(0, ...waits));
  }
}
