import type { BucketName, Quotas } from '../limiter/gcra.js';

/**
 * The headers of every response, as tables computed once per snapshot. Values come from
 * snapshot.json; only the limits in effect, which an operator may override, are added here.
 */

/** The cache classes of routes. */
export const CACHE_CLASSES = [
  'record',
  'summary',
  'download',
  'feed',
  'page',
  'asset',
  'checkpoint',
  'tile',
] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];
/** Downloads have compressed variants of their own, and the files of the log are small. */
export const UNCOMPRESSED: ReadonlySet<CacheClass> = new Set(['download', 'checkpoint', 'tile']);

type ByClass<T> = Readonly<Record<CacheClass, T>>;

/** Something for each class. */
const byClass = <T>(of: (name: CacheClass) => T): ByClass<T> => ({
  record: of('record'),
  summary: of('summary'),
  download: of('download'),
  feed: of('feed'),
  page: of('page'),
  asset: of('asset'),
  checkpoint: of('checkpoint'),
  tile: of('tile'),
});

/** How a response is counted; a request that matched no route is `unrouted`. */
export type ResponseClass = CacheClass | 'unrouted';

/** The errors of this proxy. snapshot.json has a status and a title for each. */
export const ERROR_CODES = [
  'invalid_id',
  'invalid_limit',
  'invalid_prefix',
  'invalid_path',
  'invalid_request',
  'not_found',
  'method_not_allowed',
  'precondition_failed',
  'uri_too_long',
  'range_not_satisfiable',
  'rate_limited',
  'internal',
  'no_snapshot',
  'version_not_supported',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The header of a 405. */
export const ALLOW = ['Allow', 'GET, HEAD, OPTIONS'] as const;

/** Header fields by name, as in snapshot.json. */
export type Fields = Readonly<Record<string, string>>;

/** The header fields declared in snapshot.json. */
export interface DeclaredHeaders {
  /** On every response. */
  readonly all: Fields;
  /** 204 to OPTIONS. */
  readonly options: Fields;
  /** 404 and 308. */
  readonly not_found: Fields;
  /** All other errors. */
  readonly error: Fields;
  /** 200, 206 and 304. */
  readonly content: ByClass<Fields>;
}

/** A flat list of name, value, name, value …, which response.writeHead does not inspect. */
export type HeaderList = readonly string[];

type ByBucket = Readonly<Record<BucketName, HeaderList>>;

/** The headers known before a request arrives, by kind of response and by limit. */
export interface HeaderTables {
  readonly options: ByBucket;
  readonly notFound: ByBucket;
  readonly error: ByBucket;
  readonly content: ByClass<ByBucket>;
}

/** The headers of the 503 before the first snapshot: not storable, but readable by any script. */
export const BUILT_IN: DeclaredHeaders = (() => {
  const error = { 'Cache-Control': 'no-store' };
  return {
    all: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers':
        'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    },
    options: { ...error, [ALLOW[0]]: ALLOW[1] },
    not_found: error,
    error,
    content: byClass(() => error),
  };
})();

export function createHeaderTables(declared: DeclaredHeaders, quotas: Quotas): HeaderTables {
  const all = flatten(declared.all);
  const byBucket = (fields: Fields): ByBucket => {
    const list = (bucket: BucketName): HeaderList => [
      ...all,
      'RateLimit-Policy',
      rateLimitPolicy(bucket, quotas),
      ...flatten(fields),
    ];
    return { api: list('api'), download: list('download'), page: list('page') };
  };
  return {
    options: byBucket(declared.options),
    notFound: byBucket(declared.not_found),
    error: byBucket(declared.error),
    content: byClass((name) => byBucket(declared.content[name])),
  };
}

/**
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 §3): q tokens, w seconds to refill an
 * empty bucket; a list if two limits apply. No `pk`: it would reveal addresses.
 */
function rateLimitPolicy(bucket: BucketName, quotas: Quotas): string {
  const names = bucket === 'download' ? (['download', 'api'] as const) : [bucket];
  return names
    .map((name) => {
      const { burst, emissionIntervalMs } = quotas[name];
      return `"${name}";q=${burst};w=${Math.ceil((burst * emissionIntervalMs) / 1000)}`;
    })
    .join(', ');
}

function flatten(fields: Fields): HeaderList {
  return Object.entries(fields).flat();
}
