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
 * IPv4 or IPv6 (heapUsed after gc(), Node 20 with --expose-gc, minus that of an empty process).
 *
 * HAZARD: an evicted client starts with a full bucket, so a client with 100,000 keys (a /39 of IPv6)
 * evades the limit. Evictions of clients in debt are counted.
 */
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #tats: LRUCache<string, number>;
  #quota: Quota;
  #evictions = 0;

  constructor({ quota, maxClients, clock }: MemoryStoreOptions) {
    this.#quota = quota;
    this.#clock = clock;
    this.#tats = new LRUCache({
      max: maxClients,
      dispose: (tat, _client, reason) => {
        // Evicting a full bucket changes nothing: unknown clients have a full one.
        if (reason === 'evict' && tat > clock()) this.#evictions += 1;
      },
    });
  }

  get quota(): Quota {
    return this.#quota;
  }

  /** A TAT is meaningless under another quota, so a change gives everyone a full bucket. */
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

  /** Clients evicted with tokens in use, since the start. */
  get evictions(): number {
    return this.#evictions;
  }

  /** Takes the cost in the key, or nothing. Synchronous, so no other request intervenes. */
  increment(key: string): ClientRateLimitInfo {
    const { client, cost } = parseKey(key);
    const nowMs = this.#clock();
    const tat = this.#tats.get(client);
    const decision = decide(tat, nowMs, this.#quota, cost);
    this.#tats.set(tat === undefined ? copyText(client) : client, decision.tat);
    return rateLimitInfo(decision, this.#quota, nowMs);
  }

  /** Refunds what increment() took with the same key. */
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

/** The address may be a slice of a 16 KiB header, which V8 would keep in memory with it. */
function copyText(client: string): string {
  return Buffer.from(client, 'latin1').toString('latin1');
}

/**
 * The key of a request: `CLIENT`, or `CLIENT@COST` if the cost is not 1. It carries the cost
 * because express-rate-limit passes nothing else to a store.
 *
 * @param cost in tokens, 0 < cost <= 1
 */
export function formatKey(client: string, cost: number): string {
  return cost === 1 ? client : `${client}@${cost}`;
}

/** @throws RangeError if the cost is not within (0, 1] */
export function parseKey(key: string): { readonly client: string; readonly cost: number } {
  const at = key.lastIndexOf('@');
  if (at < 0) return { client: key, cost: 1 };
  const cost = Number(key.slice(at + 1));
  if (!(cost > 0 && cost <= 1)) throw new RangeError(`no cost in (0, 1]: ${key}`);
  return { client: key.slice(0, at), cost };
}

/**
 * Converts a decision to express-rate-limit's terms: it refuses a request if `totalHits` exceeds
 * the limit. `resetTime` is now plus whole seconds, for Retry-After.
 */
export function rateLimitInfo(
  { allowed, used, nextTokenMs }: Decision,
  { burst }: Quota,
  nowMs: number,
): ClientRateLimitInfo {
  const resetTime = new Date(nowMs + Math.ceil(nextTokenMs / 1000) * 1000);
  // The quota may have shrunk while waiting for Redis.
  return { totalHits: allowed ? Math.min(used, burst) : burst + 1, resetTime };
}
