/**
 * The headers of each sort of response. snapshot.json passes them to the proxy and to edge servers;
 * the OpenAPI description and the developers' page show them.
 */
import { PATHS } from './paths.js';
import type { CacheClass, Route } from './route.js';

/** Values by name, in the order in which they are sent. */
export type Headers = Readonly<Record<string, string>>;

export interface PublishedHeaders {
  /** On every response. */
  readonly all: Headers;
  /** 204, the response to OPTIONS; 405 repeats Allow. */
  readonly options: Headers;
  /** 404 and 308. */
  readonly not_found: Headers;
  /** Every other error. */
  readonly error: Headers;
  /** 200, 206 and 304. */
  readonly content: Readonly<Record<CacheClass, Headers>>;
}

const ALL: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

const NO_STORE: Headers = { 'Cache-Control': 'no-store' };

const OPTIONS: Headers = {
  Allow: 'GET, HEAD, OPTIONS',
  // A HEAD needs no preflight.
  'Access-Control-Allow-Methods': 'GET, OPTIONS',
  'Access-Control-Allow-Headers': '*',
  // 86400 s (= 1 day)
  'Access-Control-Max-Age': '86400',
  ...NO_STORE,
};

/** Pages load from this origin only, and run no inline scripts. */
const PAGE_POLICY: Headers = {
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/**
 * Cache lifetimes in browsers and CDNs (RFC 9213). Not s-maxage, which forbids stale responses (RFC
 * 9111). A CDN lifetime must not exceed the browser's, which also counts `Age`.
 */
const kept = (directives: string, shared = directives): Headers => ({
  'Cache-Control': `public, ${directives}`,
  'CDN-Cache-Control': shared,
});

const LIFETIMES: Readonly<Record<CacheClass, Headers>> = {
  record: kept('max-age=300, stale-while-revalidate=600, stale-if-error=86400'),
  summary: kept('max-age=60, stale-while-revalidate=120, stale-if-error=3600'),
  download: kept('max-age=3600, stale-if-error=86400'),
  feed: kept('max-age=900, stale-if-error=86400'),
  page: kept(
    'max-age=300, stale-if-error=86400',
    'max-age=300, stale-while-revalidate=3600, stale-if-error=86400',
  ),
  // Their names contain the hash of their content.
  asset: kept('max-age=31536000, immutable', 'public, max-age=31536000, immutable'),
};

/** The headers with the tag by which a CDN purges: each CDN reads one of them. */
export const TAG_HEADERS = ['Cache-Tag', 'Surrogate-Key'] as const;

/** The headers of a route's content that others of its class don't have. */
export const routeHeaders = ({ tag, class: cacheClass }: Pick<Route, 'tag' | 'class'>): Headers =>
  Object.fromEntries(TAG_HEADERS.map((name) => [name, tag ?? cacheClass]));

const content = (cacheClass: CacheClass, more: Headers = {}): Headers => ({
  ...LIFETIMES[cacheClass],
  'Accept-Ranges': 'bytes',
  ...more,
});

/** @param licence the URL of the licence of the data */
export function publishedHeaders(licence: string): PublishedHeaders {
  // RFC 8288, with the relations of RFC 8631, RFC 4946 and RFC 9727.
  // Normalised to ASCII, without characters that would end the URL early.
  const terms = `<${new URL(licence).href}>; rel="license"`;
  const link: Headers = {
    Link: [
      `<${PATHS.description}>; rel="service-desc"; type="application/json"`,
      `<${PATHS.docs}>; rel="service-doc"; type="text/html"`,
      terms,
      `<${PATHS.catalog}>; rel="api-catalog"`,
    ].join(', '),
  };
  return {
    all: ALL,
    options: OPTIONS,
    not_found: { ...kept('max-age=60'), ...link },
    error: { ...NO_STORE, ...link },
    content: {
      record: content('record', link),
      summary: content('summary', link),
      download: content('download', { Link: terms }),
      feed: content('feed'),
      page: content('page', PAGE_POLICY),
      asset: content('asset', PAGE_POLICY),
    },
  };
}
