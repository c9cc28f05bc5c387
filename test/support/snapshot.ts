/** What every hand-made snapshot.json has, as the generator writes it. */
import type { Snapshot } from '../../proxy/tree/schema.js';

export const LIMITS = {
  api: { tokens: 60, refill_seconds: 1 },
  download: { tokens: 12, refill_seconds: 60 },
  page: { tokens: 240, refill_seconds: 0.25 },
};

export const LINK =
  '</api/v1/openapi.json>; rel="service-desc"; type="application/json", </developers>; rel="service-doc"; type="text/html", ' +
  '<https://licence.example/by/4.0/>; rel="license"';
const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link';

const lifetime = (cacheControl: string, cdn = cacheControl): Record<string, string> => ({
  'Cache-Control': cacheControl,
  'CDN-Cache-Control': cdn,
  'Accept-Ranges': 'bytes',
});
const RECORD = 'max-age=300, stale-while-revalidate=600, stale-if-error=86400';
const SUMMARY = 'max-age=60, stale-while-revalidate=120, stale-if-error=3600';

export const HEADERS: Snapshot['headers'] = {
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
      ...lifetime('public, max-age=300, stale-if-error=86400', 'max-age=300, stale-while-revalidate=3600'),
      'Content-Security-Policy': "default-src 'self'",
    },
    asset: lifetime('public, max-age=31536000, immutable'),
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
  precondition_failed: { ...error(412), detail: 'the document is not the version that If-Match requires' },
  uri_too_long: error(414),
  range_not_satisfiable: error(416),
  rate_limited: error(429),
  internal: error(500),
  no_snapshot: error(503),
  version_not_supported: error(505),
};

const CLASSES = {
  record: { bucket: 'api', type: 'application/json; charset=utf-8' },
  summary: { bucket: 'api', type: 'application/json; charset=utf-8' },
  download: { bucket: 'download', type: 'text/csv; charset=utf-8; header=present' },
  feed: { bucket: 'api', type: 'application/atom+xml' },
  page: { bucket: 'page', type: 'text/html; charset=utf-8' },
  asset: { bucket: 'page', type: 'text/css' },
};

/** A route of a class, with that class's bucket and type. */
export const route = (
  name: string,
  path: string,
  file: string,
  of: keyof typeof CLASSES,
  more: object = {},
) => ({ name, path, file, class: of, ...CLASSES[of], ...more });

const ID = { name: 'id', in: 'path', type: 'id', description: 'Id of the group' };
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 200, default: 100 };
const RECORD_OF_GROUP = { parameters: [ID], absent: 'no group {id} in this register' };

/** One route of each class and of each shape. */
export const ROUTES = [
  route('index', '/api/v1', 'api/v1.json', 'summary'),
  route('group', '/api/v1/group/{id}', 'api/v1/group/{id}.json', 'record', {
    ...RECORD_OF_GROUP,
    example: '/api/v1/group/7',
  }),
  route('largest', '/api/v1/largest', 'api/v1/largest/{limit}.json', 'summary', { parameters: [LIMIT] }),
  route('history', '/group/{id}/history.json', 'group/{id}/history.json', 'record', RECORD_OF_GROUP),
  route('csv', '/downloads/groups.csv', 'downloads/groups.csv', 'download'),
  route('sums', '/downloads/SHA256SUMS', 'downloads/SHA256SUMS', 'download', {
    bucket: 'api',
    type: 'text/plain',
  }),
  route('feed', '/feeds/all.atom', 'feeds/all.atom', 'feed'),
  route('front', '/', 'index.html', 'page'),
  route('style', '/assets/style-1a2b3c4d5e.css', 'assets/style-1a2b3c4d5e.css', 'asset'),
  route('security', '/.well-known/security.txt', '.well-known/security.txt', 'page', { type: 'text/plain' }),
  route('change-bundle', '/changes/{sequence}.ndjson.gz', 'changes/{sequence}.ndjson.gz', 'download', {
    parameters: [{ ...ID, name: 'sequence' }],
  }),
  route('changes', '/changes/index.json', 'changes/index.json', 'summary'),
  route('snapshot', '/snapshot.json', 'snapshot.json', 'summary'),
];

export const SERVICE = {
  name: 'The Example Register',
  base_url: 'https://register.example',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  licence: { name: 'CC BY 4.0', url: 'https://licence.example/by/4.0/' },
};

/** snapshot.json as the generator writes it, keys the proxy does not know included. */
export function snapshotJson(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    format: 5,
    sequence: 3,
    as_of: '2026-11-20T08:00:00Z',
    built_at: '2026-11-20T09:00:00Z',
    generator: { name: 'register-api', version: '0.1.0' },
    service: SERVICE,
    limits: LIMITS,
    headers: HEADERS,
    errors: ERRORS,
    routes: ROUTES,
    counts: { groups: 2 },
    tree: { files: 8, bytes: 100 },
    ...changes,
  };
}
