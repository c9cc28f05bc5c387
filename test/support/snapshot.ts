/** What every hand-made snapshot.json has, as the generator writes it. */
import type { DeclaredHeaders } from '../../proxy/snapshot/headers.js';

export const LIMITS = {
  api: { tokens: 60, refill_seconds: 1 },
  download: { tokens: 12, refill_seconds: 60 },
  page: { tokens: 240, refill_seconds: 0.25 },
};

export const LINK =
  '</api/v1/openapi.json>; rel="service-desc"; type="application/json", </developers>; rel="service-doc"; type="text/html", ' +
  '<https://licence.example/by/4.0/>; rel="license"';
export const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link';

const lifetime = (cacheControl: string, cdn = cacheControl): Record<string, string> => ({
  'Cache-Control': cacheControl,
  'CDN-Cache-Control': cdn,
  'Accept-Ranges': 'bytes',
});
const RECORD = 'max-age=300, stale-while-revalidate=600, stale-if-error=86400';
const SUMMARY = 'max-age=60, stale-while-revalidate=120, stale-if-error=3600';

export const HEADERS: DeclaredHeaders = {
  all: {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  },
  options: {
    Allow: 'GET, HEAD, OPTIONS',
    'Access-Control-Allow-Methods': 'GET, OPTIONS',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': '86400',
    'Cache-Control': 'no-store',
  },
  not_found: { 'Cache-Control': 'public, max-age=60', 'CDN-Cache-Control': 'max-age=60', Link: LINK },
  error: { 'Cache-Control': 'no-store', Link: LINK },
  content: {
    record: { ...lifetime(`public, ${RECORD}`, RECORD), Link: LINK },
    summary: { ...lifetime(`public, ${SUMMARY}`, SUMMARY), Link: LINK },
    download: lifetime('public, max-age=3600, stale-if-error=86400', 'max-age=3600, stale-if-error=86400'),
    feed: lifetime('public, max-age=900, stale-if-error=86400', 'max-age=900, stale-if-error=86400'),
    page: {
      ...lifetime(
        'public, max-age=300, stale-if-error=86400',
        'max-age=300, stale-while-revalidate=3600, stale-if-error=86400',
      ),
      'Content-Security-Policy': "default-src 'self'",
    },
    asset: lifetime('public, max-age=31536000, immutable'),
    checkpoint: lifetime('public, max-age=5, stale-if-error=60', 'max-age=5, stale-if-error=60'),
    tile: lifetime('public, max-age=31536000, immutable'),
  },
};

const error = (status: number) => ({ status, title: `Title of ${status}` });

export const ERRORS = {
  invalid_id: error(400),
  invalid_prefix: error(400),
  invalid_limit: error(400),
  invalid_path: error(400),
  invalid_request: error(400),
  not_found: error(404),
  method_not_allowed: error(405),
  precondition_failed: {
    ...error(412),
    detail: 'the document is not the version that If-Match or If-Unmodified-Since requires',
  },
  uri_too_long: error(414),
  range_not_satisfiable: error(416),
  rate_limited: error(429),
  internal: error(500),
  no_snapshot: error(503),
  version_not_supported: error(505),
};
