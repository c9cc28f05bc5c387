import { rateLimit, type Options, type RateLimitInfo } from 'express-rate-limit';
import type { Request, RequestHandler, Response } from 'express';

import type { Quotas } from '../headers.js';
import type { Standing } from '../respond.js';
import { clientKey } from './client-key.js';
import { MemoryStore, type Clock } from './memory-store.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by express-rate-limit on a request that met a limiter, refused or not. */
    rateLimit?: RateLimitInfo;
  }
}

/** What the limiter leaves to its user. */
export interface LimiterOptions {
  readonly quotas: Quotas;
  readonly clock: Clock;
  /** Of each limit no more clients than this are remembered. */
  readonly maximumClients: number;
  /** Whether a request is for a download, which takes from both buckets. */
  readonly isDownload: (request: Request) => boolean;
  /** Answers a request that was refused. */
  readonly refuse: (request: Request, response: Response) => void;
}

export interface Limiter {
  /** In this order: each request meets exactly one of the two. */
  readonly middleware: readonly [api: RequestHandler, download: RequestHandler];
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
  isDownload,
  refuse,
}: LimiterOptions): Limiter {
  const api = new MemoryStore({ quota: quotas.api, maximumClients, clock });
  const download = new MemoryStore({ quota: quotas.download, maximumClients, clock, alsoFrom: api });
  const common = {
    // Headers are this project's own: a RateLimit on a storable answer would be replayed to other clients.
    standardHeaders: false,
    legacyHeaders: false,
    // The validations only log, and what they warn of (trust proxy, a request counted twice) cannot happen
    // here.
    validate: false,
    requestPropertyName: 'rateLimit',
    keyGenerator: (request) => clientKey(request.socket.remoteAddress),
    handler: (request, response) => {
      refuse(request, response);
    },
  } satisfies Partial<Options>;
  return {
    middleware: [
      rateLimit({ ...common, store: api, limit: () => api.quota.tokens, skip: isDownload }),
      rateLimit({
        ...common,
        store: download,
        limit: () => download.quota.tokens,
        skip: (request) => !isDownload(request),
      }),
    ],
    follow(next) {
      api.follow(next.api);
      download.follow(next.download);
    },
  };
}

/**
 * Where the limiter left a client, undefined if the request never met it. After a refusal the seconds are
 * those of Retry-After.
 */
export function standingOf(
  { rateLimit: info }: { rateLimit?: RateLimitInfo },
  clock: Clock,
): Standing | undefined {
  if (info?.resetTime === undefined) return undefined;
  const seconds = Math.ceil((info.resetTime.getTime() - clock()) / 1000);
  return { remaining: info.remaining, nextTokenSeconds: Math.max(1, seconds) };
}
