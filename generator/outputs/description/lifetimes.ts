/** How long answers may be kept, as they are told to people; a contract test holds it equal to what the proxy sends. */
import type { CacheClass } from '../../routes.js';

export interface Lifetime {
  /** What it is for: a class of routes, or a sort of answer. */
  readonly name: string;
  /** For browsers and other private caches. */
  readonly cacheControl: string;
  /** For CDNs (RFC 9213); absent where nothing may be stored. */
  readonly cdn?: string;
}

/** 200, 206 and 304, by the class of the route. */
export const CONTENT_LIFETIMES: Readonly<Record<CacheClass, Lifetime>> = {
  record: {
    name: 'record',
    cacheControl: 'public, max-age=300, stale-while-revalidate=600, stale-if-error=86400',
    cdn: 'max-age=3600, stale-while-revalidate=600, stale-if-error=86400',
  },
  summary: {
    name: 'summary',
    cacheControl: 'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600',
    cdn: 'max-age=300, stale-while-revalidate=120, stale-if-error=3600',
  },
  download: {
    name: 'download',
    cacheControl: 'public, max-age=3600, stale-if-error=86400',
    cdn: 'max-age=86400, stale-if-error=86400',
  },
  feed: {
    name: 'feed',
    cacheControl: 'public, max-age=900, stale-if-error=86400',
    cdn: 'max-age=900, stale-if-error=86400',
  },
  page: {
    name: 'page',
    cacheControl: 'public, max-age=3600, stale-if-error=86400',
    cdn: 'max-age=86400, stale-if-error=86400',
  },
};

/** 404 and 308. */
export const BRIEF_LIFETIME: Lifetime = {
  name: 'brief',
  cacheControl: 'public, max-age=60',
  cdn: 'max-age=60',
};

/** Every other error, and 204. */
export const NO_LIFETIME: Lifetime = { name: 'none', cacheControl: 'no-store' };

/** How long an answer of this status may be kept. */
export function lifetimeOf(status: number, cacheClass: CacheClass): Lifetime {
  if (status < 300 || status === 304) return CONTENT_LIFETIMES[cacheClass];
  return status === 404 || status === 308 ? BRIEF_LIFETIME : NO_LIFETIME;
}
