import type { Request, Response } from 'express';
import { rateLimit, type ClientRateLimitInfo, type Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';

import type { Clock } from '../log.js';
import { copyText } from './clients.js';
import {
  BUCKETS,
  decide,
  DEFAULT_QUOTAS,
  refund,
  type BucketName,
  type Decision,
  type Quota,
  type Quotas,
} from './gcra.js';

/** The buckets of all clients in memory, and what a request takes from them. */

const MAX_CLIENTS = 100_000;

/**
 * express-rate-limit's store over GCRA buckets in this process's memory: 12 MB for 100,000 clients,
 * IPv4 or IPv6 (heapUsed after gc(), Node 20 with --expose-gc, minus that of an empty process).
 *
 * HAZARD: an evicted client starts with a full bucket, so a client with 100,000 keys (a /39 of IPv6)
 * evades the limit. Evictions of clients in debt are counted.
 */
export class MemoryStore implements Store {
  /** Clients evicted with tokens in use, since the start. */
  evictions = 0;
  readonly #clock: Clock;
  readonly #tats: LRUCache<string, number>;
  #quota: Quota;

  /** @param maxClients beyond it, the least recently seen clients are evicted */
  constructor(quota: Quota, clock: Clock, maxClients = MAX_CLIENTS) {
    this.#quota = quota;
    this.#clock = clock;
    this.#tats = new LRUCache({
      max: maxClients,
      dispose: (tat, _client, reason) => {
        // Evicting a full bucket changes nothing: unknown clients have a full one.
        if (reason === 'evict' && tat > clock()) this.evictions += 1;
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

  get size(): number {
    return this.#tats.size;
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

  resetKey(key: string): void {
    this.#tats.delete(parseKey(key).client);
  }
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

export function parseKey(key: string): { readonly client: string; readonly cost: number } {
  const at = key.lastIndexOf('@');
  return at < 0 ? { client: key, cost: 1 } : { client: key.slice(0, at), cost: Number(key.slice(at + 1)) };
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

/** A client's bucket after a request. */
export interface Allowance {
  readonly bucket: BucketName;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until the next token; after a refusal, Retry-After. At least 1. */
  readonly nextTokenSeconds: number;
  readonly refused: boolean;
}

/** A store that shares a bucket with other processes, and has the local one for when it can't. */
export type Share = (bucket: BucketName, local: MemoryStore, clock: Clock) => Store;

export type Limits = ReturnType<typeof createLimits>;

/**
 * Creates limits per client. Pages and assets take from the page bucket, everything else from the
 * API bucket. A download then takes its cost from the download bucket, or nothing from either: the
 * API comes first, so that what it refuses costs no look at the file.
 */
export function createLimits(clock: Clock, share: Share = (_bucket, own) => own) {
  let quotas = DEFAULT_QUOTAS;
  const localStore = (bucket: BucketName) => new MemoryStore(quotas[bucket], clock);
  const local = { api: localStore('api'), download: localStore('download'), page: localStore('page') };
  const apiStore = share('api', local.api, clock);

  /** Takes what the key says, and returns the client's bucket after that, which says if it is refused. */
  const takeFrom = (bucket: BucketName, store: Store, keyGenerator: (request: Request) => string) => {
    const handler = rateLimit({
      store,
      limit: () => local[bucket].quota.burst,
      keyGenerator,
      requestPropertyName: 'rateLimit',
      // The proxy sets the headers: in a cacheable response, RateLimit would reach other clients.
      standardHeaders: false,
      legacyHeaders: false,
      // The checks only log warnings, which do not apply here.
      validate: false,
      // It would respond to a refused request.
      handler: () => undefined,
    });
    return async (request: Request, response: Response): Promise<Allowance> => {
      let refused = true;
      await handler(request, response, (error?: unknown) => {
        if (error !== undefined) throw error;
        refused = false;
      });
      const { remaining = 0, resetTime } = request.rateLimit ?? {};
      const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - clock()) / 1000);
      const allowance = { bucket, remaining, nextTokenSeconds: Math.max(1, seconds), refused };
      const context = contextOf(request);
      if (refused || context.allowance === undefined || remaining <= context.allowance.remaining)
        context.allowance = allowance;
      return allowance;
    };
  };

  const takePage = takeFrom('page', share('page', local.page, clock), clientOf);
  const takeApi = takeFrom('api', apiStore, clientOf);
  const takeCost = takeFrom('download', share('download', local.download, clock), (request) =>
    formatKey(clientOf(request), contextOf(request).downloadCost),
  );
  return {
    /** This process's buckets, for metrics. */
    local,
    /** Called for each request. A changed quota gives everyone a full bucket. */
    setQuotas: (next: Quotas): void => {
      if (next === quotas) return;
      quotas = next;
      for (const bucket of BUCKETS) local[bucket].quota = next[bucket];
    },
    /** Takes a token of the API or of pages. `skip` would do, but costs three awaits per limiter. */
    take: (request: Request, response: Response): Promise<Allowance> =>
      (contextOf(request).bucket === 'page' ? takePage : takeApi)(request, response),
    /** Takes the cost of a download, after `take`; a refusal gives the token of the API back. */
    takeDownload: async (request: Request, response: Response): Promise<Allowance> => {
      const allowance = await takeCost(request, response);
      // The refund is not awaited. Redis runs one process's commands in order.
      if (allowance.refused) void apiStore.decrement(clientOf(request));
      return allowance;
    },
  };
}

/** The part of a request's context that the limiter uses. */
export interface LimitedRequest {
  /** See clientKey(). */
  readonly clientKey: string;
  /** The bucket that the request takes from. */
  readonly bucket: BucketName;
  /** In tokens of the download bucket, 0 to 1; known when `takeDownload` is called. */
  downloadCost: number;
  /** Set by the limiter: the bucket that refused, or the one with the fewest tokens left. */
  allowance: Allowance | undefined;
}

function contextOf({ context }: Request): LimitedRequest {
  if (context === undefined) throw new Error('the request has no context');
  return context;
}

const clientOf = (request: Request): string => contextOf(request).clientKey;
