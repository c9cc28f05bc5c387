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
  /** Responds to a refused request. */
  readonly onRefused: (request: Request, response: Response, bucket: BucketName) => void;
}

/** @returns whether the request is allowed; otherwise `onRefused` responds to it */
export type Take = (request: Request, response: Response) => Promise<boolean>;

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
export function createLimits({ quotas, clock, maxClients, redis, onRefused }: LimitsOptions): Limits {
  const createStores = (bucket: BucketName): { local: MemoryStore; store: Store } => {
    const local = new MemoryStore({ quota: quotas[bucket], maxClients, clock });
    return { local, store: redis?.store(bucket, local, clock) ?? local };
  };
  const [api, download, page] = [createStores('api'), createStores('download'), createStores('page')];
  const local = { api: api.local, download: download.local, page: page.local };

  const keepState = (request: Request, bucket: BucketName, refused: boolean): void => {
    const { rateLimit: info } = request;
    if (info?.resetTime === undefined) return;
    const context = limited(request);
    const { remaining } = info;
    if (!refused && context.tokens !== undefined && context.tokens.remaining < remaining) return;
    const seconds = Math.ceil((info.resetTime.getTime() - clock()) / 1000);
    context.tokens = { bucket, remaining, nextTokenSeconds: Math.max(1, seconds), refused };
  };

  const limitBy = (
    bucket: BucketName,
    { local, store }: ReturnType<typeof createStores>,
    keyGenerator: (request: Request) => string,
    afterRefusal: (request: Request) => void = () => undefined,
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
      handler: (request, response) => {
        keepState(request, bucket, true);
        afterRefusal(request);
        onRefused(request, response, bucket);
      },
    });
    return async (request, response) => {
      let isAllowed = false;
      await handler(request, response, (error?: unknown) => {
        if (error !== undefined) throw error;
        keepState(request, bucket, false);
        isAllowed = true;
      });
      return isAllowed;
    };
  };

  const takePage = limitBy('page', page, readKey);
  const takeApi = limitBy('api', api, readKey);
  const takeDownload = limitBy('download', download, readDownloadKey, (request) => {
    // The refund is not awaited. Redis runs one process's commands in order.
    void api.store.decrement(readKey(request));
  });
  return {
    local,
    setQuotas(quotas) {
      for (const bucket of BUCKETS) local[bucket].quota = quotas[bucket];
    },
    // express-rate-limit's `skip` is equivalent, but costs three awaits per skipped limiter.
    take: (request, response) => (limited(request).bucket === 'page' ? takePage : takeApi)(request, response),
    takeDownload,
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
