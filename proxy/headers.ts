import type { Quota } from './limiter/gcra.js';

/** The headers of every answer, as tables: who may read it from where, and who may keep it how long. */

/** The caching classes a route can be of. */
export const CACHE_CLASSES = ['record', 'summary', 'download', 'feed', 'page'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

/** The class of an answer; a request that matched no route is `unrouted`. */
export type AnswerClass = CacheClass | 'unrouted';

/** The limits a client meets: one for all requests, and a stricter one that downloads take from as well. */
export interface Quotas {
  readonly api: Quota;
  readonly download: Quota;
}
export type PolicyName = keyof Quotas;

/** Flat name, value, name, value …: the form response.writeHead takes without looking at each. */
export type HeaderList = readonly string[];

interface Lifetime {
  /** For browsers and other private caches (RFC 9111 §5.2.2, stale-*: RFC 5861). */
  readonly cacheControl: string;
  /**
   * For CDNs (RFC 9213). Not s-maxage: that forbids serving stale (RFC 9111 §5.2.2.10). Absent where nothing
   * may be stored: nginx kept 429s and 500s that carried a shared lifetime.
   */
  readonly cdn?: string;
}

/** 200, 206 and 304: by the route's class. */
export const CONTENT_LIFETIMES: Readonly<Record<CacheClass, Lifetime>> = {
  record: {
    cacheControl: 'public, max-age=300, stale-while-revalidate=600, stale-if-error=86400',
    cdn: 'max-age=3600, stale-while-revalidate=600, stale-if-error=86400',
  },
  summary: {
    cacheControl: 'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600',
    cdn: 'max-age=300, stale-while-revalidate=120, stale-if-error=3600',
  },
  download: {
    cacheControl: 'public, max-age=3600, stale-if-error=86400',
    cdn: 'max-age=86400, stale-if-error=86400',
  },
  feed: {
    cacheControl: 'public, max-age=900, stale-if-error=86400',
    cdn: 'max-age=900, stale-if-error=86400',
  },
  page: {
    cacheControl: 'public, max-age=3600, stale-if-error=86400',
    cdn: 'max-age=86400, stale-if-error=86400',
  },
};

/** 404 and 308: what is missing today may be there tomorrow. */
export const BRIEF_LIFETIME: Lifetime = { cacheControl: 'public, max-age=60', cdn: 'max-age=60' };

/**
 * 400, 405, 414, 416, 429, 500, 503. Also 204 to OPTIONS, which no cache may keep anyway (RFC 9110 §9.3.7); a
 * preflight's lifetime is Access-Control-Max-Age.
 */
export const NO_LIFETIME: Lifetime = { cacheControl: 'no-store' };

const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link';

/** On every answer, whatever its status. */
export const COMMON_HEADERS: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED,
  'X-Content-Type-Options',
  'nosniff',
];

/**
 * What 405 and OPTIONS name. HEAD needs no preflight, so the preflight lists the methods of the
 * specification.
 */
export const ALLOW: HeaderList = ['Allow', 'GET, HEAD, OPTIONS'];
export const PREFLIGHT: HeaderList = [
  'Access-Control-Allow-Methods',
  'GET, OPTIONS',
  'Access-Control-Allow-Headers',
  'If-None-Match, If-Modified-Since, If-Range, Range',
  // 86400 s (= 1 day)
  'Access-Control-Max-Age',
  '86400',
];

/** Any file is served in parts, compressed forms in parts of those bytes (RFC 9110 §14.3). */
const RANGES: HeaderList = ['Accept-Ranges', 'bytes'];

/** Pages load from this origin only and run nothing that stands in the page itself. */
const PAGE_POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * The headers known before a request comes, by the class of its answer and by how long the answer may be
 * kept.
 */
export interface HeaderTable {
  readonly content: Readonly<Record<CacheClass, HeaderList>>;
  readonly brief: Readonly<Record<AnswerClass, HeaderList>>;
  readonly uncached: Readonly<Record<AnswerClass, HeaderList>>;
}

/**
 * Computes the table, once for each snapshot. `link` is the value of Link on API answers, undefined before
 * the first snapshot.
 */
export function createHeaderTable(quotas: Quotas, link: string | undefined): HeaderTable {
  const forClass = (answerClass: AnswerClass, { cacheControl, cdn }: Lifetime): HeaderList => [
    ...COMMON_HEADERS,
    ...rateLimitPolicy(policyOf(answerClass), quotas),
    'Cache-Control',
    cacheControl,
    ...(cdn === undefined ? [] : ['CDN-Cache-Control', cdn]),
    ...(link !== undefined && isApi(answerClass) ? ['Link', link] : []),
  ];
  const forAll = (lifetime: Lifetime): Record<AnswerClass, HeaderList> => ({
    record: forClass('record', lifetime),
    summary: forClass('summary', lifetime),
    download: forClass('download', lifetime),
    feed: forClass('feed', lifetime),
    page: forClass('page', lifetime),
    unrouted: forClass('unrouted', lifetime),
  });
  const forContent = (cacheClass: CacheClass): HeaderList => [
    ...forClass(cacheClass, CONTENT_LIFETIMES[cacheClass]),
    ...RANGES,
  ];
  const content = {
    record: forContent('record'),
    summary: forContent('summary'),
    download: forContent('download'),
    feed: forContent('feed'),
    page: [...forContent('page'), 'Content-Security-Policy', PAGE_POLICY],
  };
  return { content, brief: forAll(BRIEF_LIFETIME), uncached: forAll(NO_LIFETIME) };
}

/** Which limit an answer of this class counts against. */
export function policyOf(answerClass: AnswerClass): PolicyName {
  return answerClass === 'download' ? 'download' : 'api';
}

/**
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers §3): q tokens, w seconds in which an empty bucket
 * fills. No `pk`: it would tell addresses.
 */
function rateLimitPolicy(name: PolicyName, quotas: Quotas): HeaderList {
  const { tokens, refillMs } = quotas[name];
  return ['RateLimit-Policy', `"${name}";q=${tokens};w=${Math.ceil((tokens * refillMs) / 1000)}`];
}

/**
 * Answers of the API describe it by Link: those of its routes, and errors on paths that are nothing else's.
 */
function isApi(answerClass: AnswerClass): boolean {
  return answerClass === 'record' || answerClass === 'summary' || answerClass === 'unrouted';
}
