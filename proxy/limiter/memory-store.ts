import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';

import type { Clock } from '../log.js';
import { decide, refund, type Decision, type Quota } from './gcra.js';

export interface MemoryStoreOptions {
  readonly quota: Quota;
  /** Beyond this number, the least recently seen clients are evicted. */
  readonly maxClients: number;
  readonly clock: Clock;
}

/**
 * express-rate-limit's store over GCRA buckets in this process's memory: 12 MB for 100,000 clients,
 * IPv4 or IPv6 (heapUsed after gc(), Node 20 with --expose-gc, less that of an empty process).
 *
 * BUG: an evicted client starts with a full bucket, so whoever has 100,000 keys (a /39 of IPv6)
 * evades the limit. Evictions of clients in debt are counted.
 */
export class MemoryStore implements Store {
  /** express-rate-limit: the keys are not shared with other processes. */
  readonly localKeys = true;
  readonly #clock: Clock;
  readonly #tats: LRUCache<string, number>;
  #quota: Quota;
  #evictions = 0;

  constructor({ quota, maxClients, clock }: MemoryStoreOptions) {
    this.#quota = quota;
    this.#clock = clock;
    this.#tats = new LRUCache({
      max: maxClients,
      noDisposeOnSet: true,
      dispose: (tat, _client, reason) => {
        // To evict a full bucket changes nothing: unknown clients have a full one.
        if (reason === 'evict' && tat > clock()) this.#evictions += 1;
      },
    });
  }

  get quota(): Quota {
    return this.#quota;
  }

  /** A TAT means nothing under another quota, so a change starts everyone with a full bucket. */
  set quota(quota: Quota) {
    const { burst, emissionIntervalMs } = this.#quota;
    if (quota.burst === burst && quota.emissionIntervalMs === emissionIntervalMs) return;
    this.#quota = quota;
    this.#tats.clear();
  }

  /** Clients in memory. */
  get size(): number {
    return this.#tats.size;
  }

  /** Clients evicted while tokens of theirs were in use, since the start. */
  get evictions(): number {
    return this.#evictions;
  }

  /** Takes the cost in the key, or nothing. Synchronous, so that no other request comes in between. */
  increment(key: string): ClientRateLimitInfo {
    const { client, cost } = parseKey(key);
    const nowMs = this.#clock();
    // get() marks the client as recently seen, refused or not.
    const tat = this.#tats.get(client);
    const decision = decide(tat, nowMs, this.#quota, cost);
    if (decision.allowed) this.#tats.set(tat === undefined ? copyOf(client) : client, decision.tat);
    return rateLimitInfo(decision, this.#quota, nowMs);
  }

  /** Gives back what increment() took by the same key. */
  decrement(key: string): void {
    const { client, cost } = parseKey(key);
    const tat = this.#tats.get(client);
    if (tat !== undefined) this.#tats.set(client, refund(tat, this.#clock(), this.#quota, cost));
  }

  /** Fills a client's bucket. */
  resetKey(key: string): void {
    this.#tats.delete(parseKey(key).client);
  }
}

/** The address may be a slice of a header of 16 KiB, which V8 would keep in memory along with it. */
function copyOf(client: string): string {
  return Buffer.from(client, 'latin1').toString('latin1');
}

/**
 * The key of a request: `CLIENT`, or `CLIENT@COST` for a cost other than 1. It has to carry the cost
 * because express-rate-limit passes a store nothing else.
 *
 * @param cost in tokens, 0 < cost <= 1
 */
export function keyOf(client: string, cost: number): string {
  return cost === 1 ? client : `${client}@${cost}`;
}

/** @throws RangeError for a cost that is not within (0, 1] */
export function parseKey(key: string): { readonly client: string; readonly cost: number } {
  const at = key.lastIndexOf('@');
  if (at < 0) return { client: key, cost: 1 };
  const cost = Number(key.slice(at + 1));
  if (!(cost > 0 && cost <= 1)) throw new RangeError(`no cost in (0, 1]: ${key}`);
  return { client: key.slice(0, at), cost };
}

/**
 * A decision in express-rate-limit's terms. It refuses a request if `totalHits` is over the limit.
 * `resetTime` is now plus whole seconds, for Retry-After.
 */
export function rateLimitInfo(
  { allowed, used, nextTokenMs }: Decision,
  { burst }: Quota,
  nowMs: number,
): ClientRateLimitInfo {
  const resetTime = new Date(nowMs + Math.ceil(nextTokenMs / 1000) * 1000);
  // The quota may have become smaller while Redis answered.
  return { totalHits: allowed ? Math.min(used, burst) : burst + 1, resetTime };
}
