import type { Request, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';

import type { Clock } from '../log.js';
import { copyText } from './clients.js';
import {
  BUCKETS,
  decide,
  DEFAULT_QUOTAS,
  type BucketName,
  type Decision,
  type Quota,
  type Quotas,
} from './gcra.js';

/** The buckets of all clients in memory, and what a request takes from them. */

const MAX_CLIENTS = 100_000;

/**
 * Buckets in this process's memory: 12 MB for 100,000 clients, IPv4 or IPv6 (heapUsed after gc(), Node
 * 20 with --expose-gc, minus that of an empty process).
 *
 * HAZARD: an evicted client starts with a full bucket, so a client with 100,000 keys (a /39 of IPv6)
 * evades the limit. Evictions of clients in debt are counted.
 */
export class LocalBuckets {
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
      // As `max`, which would take 2 MB and 8 ms at the start for clients that may never come.
      maxSize: maxClients,
      sizeCalculation: () => 1,
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

  /** Takes the cost, or nothing. Synchronous, so no other request intervenes. */
  take(client: string, cost: number): Decision {
    const tat = this.#tats.get(client);
    const decision = decide(tat, this.#clock(), this.#quota, cost);
    this.#tats.set(tat === undefined ? copyText(client) : client, decision.tat);
    return decision;
  }
}

/** Buckets that other processes take from as well. When they can't be used, the local ones decide. */
export interface SharedBuckets {
  /** Undefined if they can't be used. */
  take(bucket: BucketName, quota: Quota, client: string, cost: number): Promise<Decision | undefined>;
}

/** A client's bucket after a request. */
export interface Allowance {
  readonly bucket: BucketName;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until the next token; after a refusal, Retry-After. At least 1. */
  readonly nextTokenSeconds: number;
}

/** The part of a request's context that the limiter uses. */
export interface LimitedRequest {
  /** See clientKey(). */
  readonly clientKey: string;
  /** The bucket of the route. */
  readonly bucket: BucketName;
  /** In tokens of the download bucket, 0 to 1; known when `takeDownload` is called. */
  downloadCost: number;
  /** Set by the limiter: the bucket that refused, or the one with the fewest tokens left. */
  allowance: Allowance | undefined;
}

export type Limits = ReturnType<typeof createLimits>;

/**
 * Creates limits per client. Pages and assets take from the page bucket, everything else from the
 * API bucket. A download then takes its cost from the download bucket, or nothing from either.
 *
 * @param shared undefined if this is the only proxy
 */
export function createLimits(clock: Clock, shared: SharedBuckets | undefined) {
  let quotas = DEFAULT_QUOTAS;
  const createBuckets = (name: BucketName) => new LocalBuckets(quotas[name], clock);
  const local = {
    api: createBuckets('api'),
    download: createBuckets('download'),
    page: createBuckets('page'),
  };

  /**
   * The store that express-rate-limit asks. It gets nothing but a key, `CLIENT@COST`, and refuses a request
   * if `totalHits` exceeds the limit. `resetTime` is in whole seconds, for Retry-After.
   */
  const storeOf = (bucket: BucketName): Store => {
    const own = local[bucket];
    const infoOf = ({ allowed, used, nextTokenMs }: Decision) => ({
      // The quota may have shrunk while waiting for Redis.
      totalHits: allowed ? Math.min(used, own.quota.burst) : own.quota.burst + 1,
      resetTime: new Date(clock() + Math.ceil(nextTokenMs / 1000) * 1000),
    });
    return {
      increment: (key) => {
        const [client = '', cost] = key.split('@');
        const takeLocally = () => own.take(client, Number(cost));
        if (shared === undefined) return infoOf(takeLocally());
        const decided = shared.take(bucket, own.quota, client, Number(cost));
        return decided.then((decision) => infoOf(decision ?? takeLocally()));
      },
      // Required by the type, but never called.
      decrement: () => undefined,
      resetKey: () => undefined,
    };
  };

  const limiterOf = (bucket: BucketName) => {
    const handler = rateLimit({
      store: storeOf(bucket),
      limit: () => local[bucket].quota.burst,
      keyGenerator: (request) => {
        const { clientKey, downloadCost } = contextOf(request);
        return `${clientKey}@${bucket === 'download' ? downloadCost : 1}`;
      },
      requestPropertyName: 'rateLimit',
      // The proxy sets the headers: in a cacheable response, RateLimit would reach other clients.
      standardHeaders: false,
      legacyHeaders: false,
      // The checks only log warnings, which do not apply here.
      validate: false,
      // It would respond to a refused request.
      handler: () => undefined,
    });
    return async (request: Request, response: Response): Promise<Allowance | undefined> => {
      let isRefused = true;
      await handler(request, response, (error?: unknown) => {
        if (error !== undefined) throw error;
        isRefused = false;
      });
      const { remaining = 0, resetTime } = request.rateLimit ?? {};
      const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - clock()) / 1000);
      const allowance = { bucket, remaining, nextTokenSeconds: Math.max(1, seconds) };
      const context = contextOf(request);
      if (isRefused || context.allowance === undefined || remaining <= context.allowance.remaining)
        context.allowance = allowance;
      return isRefused ? allowance : undefined;
    };
  };
  const limiters = { api: limiterOf('api'), download: limiterOf('download'), page: limiterOf('page') };

  /** If Redis failed or recovered since the token was taken, the refund goes to the wrong bucket. */
  const refundApi = async (client: string): Promise<unknown> =>
    (await shared?.take('api', local.api.quota, client, -1)) ?? local.api.take(client, -1);

  return {
    /** This process's buckets, for metrics. */
    local,
    /** Called for each request. A changed quota gives everyone a full bucket. */
    setQuotas: (next: Quotas): void => {
      if (next === quotas) return;
      quotas = next;
      for (const bucket of BUCKETS) local[bucket].quota = next[bucket];
    },
    /** Takes a token of the API or of pages. @returns the empty bucket if that is refused */
    take: (request: Request, response: Response): Promise<Allowance | undefined> =>
      limiters[contextOf(request).bucket === 'page' ? 'page' : 'api'](request, response),
    /** Takes the cost of a download, after `take`; a refusal, as above, gives the token of the API back. */
    takeDownload: async (request: Request, response: Response): Promise<Allowance | undefined> => {
      const refusal = await limiters.download(request, response);
      // The refund is not awaited. Redis runs one process's commands in order.
      if (refusal !== undefined) void refundApi(contextOf(request).clientKey);
      return refusal;
    },
  };
}

/** @throws Error if the app has not seen the request */
export function contextOf({ context }: Pick<Request, 'context'>) {
  if (context === undefined) throw new Error('a request reached Express without a context');
  return context;
}
