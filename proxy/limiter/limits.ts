import type { Request, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';

import type { Clock } from '../log.js';
import { BUCKETS, type BucketName, type Quotas } from './gcra.js';
import { formatKey, MemoryStore } from './memory-store.js';
import type { RedisBuckets } from './redis-store.js';

/** A client's bucket after a request. */
export interface BucketState {
  readonly bucket: BucketName;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until the next token; after a refusal, Retry-After. At least 1. */
  readonly nextTokenSeconds: number;
  readonly refused: boolean;
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
  tokens: BucketState | undefined;
}

export interface LimitsOptions {
  readonly quotas: Quotas;
  readonly clock: Clock;
  /** Per bucket. */
  readonly maxClients: number;
  /** Shares the buckets with other processes. */
  readonly redis?: RedisBuckets | undefined;
}

/** @returns the client's bucket after the request, which says if that is refused */
export type Take = (request: Request, response: Response) => Promise<BucketState>;

export interface Limits {
  /** Takes a token of the API or of pages. */
  readonly take: Take;
  /** Takes the cost of a download, after `take`; a refusal gives the token of the API back. */
  readonly takeDownload: Take;
  /** A changed quota gives everyone a full bucket. */
  setQuotas(quotas: Quotas): void;
  /** This process's buckets, for metrics. */
  readonly local: Readonly<Record<BucketName, { readonly size: number; readonly evictions: number }>>;
}

/**
 * Creates limits per client. Pages and assets take from the page bucket, everything else from the
 * API bucket. A download then takes its cost from the download bucket, or nothing from either: the
 * API comes first, so that what it refuses costs no look at the file.
 */
export function createLimits({ quotas, clock, maxClients, redis }: LimitsOptions): Limits {
  const createStores = (bucket: BucketName): { local: MemoryStore; store: Store } => {
    const local = new MemoryStore({ quota: quotas[bucket], maxClients, clock });
    return { local, store: redis?.store(bucket, local, clock) ?? local };
  };
  const [api, download, page] = [createStores('api'), createStores('download'), createStores('page')];
  const local = { api: api.local, download: download.local, page: page.local };

  const takeFrom = (
    bucket: BucketName,
    { local, store }: ReturnType<typeof createStores>,
    keyGenerator: (request: Request) => string,
  ): Take => {
    const handler = rateLimit({
      store,
      limit: () => local.quota.burst,
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
    return async (request, response) => {
      let refused = true;
      await handler(request, response, (error?: unknown) => {
        if (error !== undefined) throw error;
        refused = false;
      });
      const { remaining = 0, resetTime } = request.rateLimit ?? {};
      const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - clock()) / 1000);
      const state = { bucket, remaining, nextTokenSeconds: Math.max(1, seconds), refused };
      const context = limited(request);
      if (refused || context.tokens === undefined || remaining <= context.tokens.remaining)
        context.tokens = state;
      return state;
    };
  };

  const takePage = takeFrom('page', page, readKey);
  const takeApi = takeFrom('api', api, readKey);
  const takeCost = takeFrom('download', download, readDownloadKey);
  return {
    local,
    setQuotas(quotas) {
      for (const bucket of BUCKETS) local[bucket].quota = quotas[bucket];
    },
    // express-rate-limit's `skip` is equivalent, but costs three awaits per skipped limiter.
    take: (request, response) => (limited(request).bucket === 'page' ? takePage : takeApi)(request, response),
    takeDownload: async (request, response) => {
      const state = await takeCost(request, response);
      // The refund is not awaited. Redis runs one process's commands in order.
      if (state.refused) void api.store.decrement(readKey(request));
      return state;
    },
  };
}

function readKey(request: Request): string {
  return limited(request).clientKey;
}

function readDownloadKey(request: Request): string {
  return formatKey(limited(request).clientKey, limited(request).downloadCost);
}

function limited({ context }: Request): LimitedRequest {
  if (context === undefined) throw new Error('the request has no context');
  return context;
}
