import { rateLimit, type Options, type RateLimitInfo } from 'express-rate-limit';
import type { Request, RequestHandler, Response } from 'express';

import type { Quotas } from '../headers.js';
import type { Standing } from '../respond.js';
import { clientAddress } from './client-address.js';
import { clientKey } from './client-key.js';
import { MemoryStore, type Clock } from './memory-store.js';
import type { RedisBuckets } from './redis-buckets.js';
import { RedisStore } from './redis-store.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by express-rate-limit on a request that met a limiter, refused or not. */
    rateLimit?: RateLimitInfo | undefined;
  }
}

/** What the limiter leaves to its user. */
export interface LimiterOptions {
  readonly quotas: Quotas;
  readonly clock: Clock;
  /** Of each limit no more clients than this are remembered. */
  readonly maximumClients: number;
  /** Where the limits are shared with other proxies. */
  readonly shared?: RedisBuckets | undefined;
  /** Whether a request is for a download, which takes from both buckets. */
  readonly isDownload: (request: Request) => boolean;
  /** Answers a request that was refused. */
  readonly refuse: (request: Request, response: Response) => void;
}

export interface Limiter {
  /** The limits of this process alone, for metrics: clients remembered, and how many were forgiven. */
  readonly local: Readonly<Record<keyof Quotas, { readonly size: number; readonly evictions: number }>>;
  /** Has each request meet one of the two limits. */
  readonly middleware: RequestHandler;
  /** Adopts the limits of a new snapshot. */
  follow(quotas: Quotas): void;
}

/**
 * express-rate-limit in front of the tree: one limit by client for all requests, and a stricter one for
 * downloads.
 */
export function createLimiter({
  quotas,
  clock,
  maximumClients,
  shared,
  isDownload,
  refuse,
}: LimiterOptions): Limiter {
  const api = new MemoryStore({ quota: quotas.api, maximumClients, clock });
  const download = new MemoryStore({ quota: quotas.download, maximumClients, clock, alsoFrom: api });
  const stores = shared === undefined ? { api, download } : share(shared, api, download, clock);
  const common = {
    // Headers are this project's own: a RateLimit on a storable answer would be replayed to other clients.
    standardHeaders: false,
    legacyHeaders: false,
    // The validations only log, and what they warn of (trust proxy, a request counted twice) cannot happen
    // here.
    validate: false,
    requestPropertyName: 'rateLimit',
    keyGenerator: (request) => clientKey(clientAddress(request)),
    handler: (request, response) => {
      refuse(request, response);
    },
  } satisfies Partial<Options>;
  const limitApi = rateLimit({ ...common, store: stores.api, limit: () => api.quota.tokens });
  const limitDownload = rateLimit({ ...common, store: stores.download, limit: () => download.quota.tokens });
  return {
    local: { api, download },
    // Not by their `skip`, which would take each request through both: they are async functions that wait four times.
    middleware: (request, response, next) =>
      (isDownload(request) ? limitDownload : limitApi)(request, response, next),
    follow(next) {
      api.follow(next.api);
      download.follow(next.download);
    },
  };
}

/** The same two limits in Redis, with the local ones for when that can't be used. */
function share(
  buckets: RedisBuckets,
  api: MemoryStore,
  download: MemoryStore,
  clock: Clock,
): { api: RedisStore; download: RedisStore } {
  const shared = new RedisStore({ policy: 'api', buckets, local: api, clock });
  return {
    api: shared,
    download: new RedisStore({ policy: 'download', buckets, local: download, clock, alsoFrom: shared }),
  };
}

/**
 * Where the limiter left a client, undefined if the request never met it. After a refusal the seconds are
 * those of Retry-After.
 */
export function standingOf(
  { rateLimit: info }: { rateLimit?: RateLimitInfo | undefined },
  clock: Clock,
): Standing | undefined {
  if (info?.resetTime === undefined) return undefined;
  const seconds = Math.ceil((info.resetTime.getTime() - clock()) / 1000);
  return { remaining: info.remaining, nextTokenSeconds: Math.max(1, seconds) };
}
