import type { ClientRateLimitInfo, Store } from 'express-rate-limit';

import { infoOf } from './client-info.js';
import { jointly, type Outcome, type Quota } from './gcra.js';
import type { Clock, MemoryStore } from './memory-store.js';
import type { RedisBuckets } from './redis-buckets.js';
import { bucketKey, type SharedBucket } from './redis-script.js';

/** The parts a store is made of. */
export interface RedisStoreOptions {
  /** The limit's name, part of its keys. */
  readonly policy: string;
  readonly buckets: RedisBuckets;
  /** Takes over whenever Redis can't be used. Its quota is this store's, too. */
  readonly local: MemoryStore;
  readonly clock: Clock;
  /** A second bucket that each request takes from as well: a download counts as an API request, too. */
  readonly alsoFrom?: RedisStore;
}

/**
 * express-rate-limit's store over GCRA buckets in Redis, on the server's clock; it means the same as
 * MemoryStore. It never fails and never waits longer than Redis's budget: what Redis doesn't answer, the local
 * store does, so a client has at worst one bucket here and one in each process.
 */
export class RedisStore implements Store {
  /** express-rate-limit: keys of this store are shared with other processes. */
  readonly localKeys = false;
  readonly #policy: string;
  readonly #buckets: RedisBuckets;
  readonly #local: MemoryStore;
  readonly #clock: Clock;
  readonly #alsoFrom: RedisStore | undefined;

  constructor({ policy, buckets, local, clock, alsoFrom }: RedisStoreOptions) {
    this.#policy = policy;
    this.#buckets = buckets;
    this.#local = local;
    this.#clock = clock;
    this.#alsoFrom = alsoFrom;
  }

  get quota(): Quota {
    return this.#local.quota;
  }

  /** Takes one token from each bucket, or none from any. */
  increment(key: string): ClientRateLimitInfo | Promise<ClientRateLimitInfo> {
    return this.#buckets.isUp ? this.#incrementShared(key) : this.#local.increment(key);
  }

  /** express-rate-limit calls it with its skip…Requests options only. */
  decrement(): never {
    throw new Error('tokens in Redis are not given back');
  }

  /** Part of express-rate-limit's interface for its users' own code; nothing here calls it. */
  resetKey(): never {
    throw new Error('buckets in Redis fill by themselves, or by DEL');
  }

  async #incrementShared(key: string): Promise<ClientRateLimitInfo> {
    const bucket = this.#bucketOf(key);
    const other = this.#alsoFrom && this.#alsoFrom.#bucketOf(key);
    const verdicts = await this.#buckets.take(other === undefined ? [bucket] : [bucket, other]);
    const [own, others] = verdicts ?? [];
    if (own === undefined) return this.#local.increment(key);
    const outcome: Outcome =
      other === undefined || others === undefined ? own : jointly(own, bucket.quota, others, other.quota);
    // Should the limits have changed while Redis answered, a refusal stays one under the new limit.
    return infoOf(outcome, this.quota, this.#clock());
  }

  #bucketOf(key: string): SharedBucket {
    const { quota } = this;
    return { key: bucketKey(key, this.#policy, quota), quota };
  }
}
