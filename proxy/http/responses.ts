import type { IncomingMessage } from 'node:http';

import { findErrorPage } from '../snapshot/active.js';
import { uriReference } from '../snapshot/request-target.js';
import { QUOTED_MAX_LENGTH, type FileMatch, type HeaderList } from '../snapshot/router.js';
import type { ErrorCode } from '../snapshot/schema.js';
import type { CachedFile } from '../tree/cache.js';
import type { ByteRange } from '../tree/read.js';
import { evaluatePreconditions, isRangeCurrent, parseRange } from './conditions.js';
import { prefersHtml } from './negotiation.js';
import type { HttpResponse, RequestContext } from './request.js';

/** Computes responses as values; nothing is read or written here. */

const VARY: HeaderList = ['Vary', 'Accept-Encoding'];
const NO_HEADERS: HeaderList = [];

/** A file in the selected coding. */
export interface Representation {
  readonly file: CachedFile;
  /** Whether other values of Accept-Encoding may select another form; then there is a Vary. */
  readonly varies: boolean;
}

/** The response with a file: 200, 206, 304, 412 or 416. */
export function respondWith(
  context: RequestContext,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  match: FileMatch,
  representation: Representation,
): HttpResponse {
  const { file } = representation;
  const outcome = evaluatePreconditions(headers, file);
  if (outcome === 'failed') return problem(context, 'precondition_failed');
  if (outcome === 'not_modified') return withoutBody(304, describe(match, representation, NO_HEADERS));
  // Range is defined only for GET (RFC 9110 §14.2).
  const isRanged = headers.range !== undefined && method === 'GET' && isRangeCurrent(headers, file);
  const range = isRanged ? parseRange(headers.range ?? '', file.size) : undefined;
  if (range === 'unsatisfiable') {
    const asked = headers.range?.slice(0, QUOTED_MAX_LENGTH);
    const detail = `range "${asked}": expected one that starts within the ${file.size} bytes of the file`;
    return problem(context, 'range_not_satisfiable', detail, ['Content-Range', `bytes */${file.size}`]);
  }
  return content(match, representation, range, context.active.snapshot.limits.download.token_bytes);
}

/**
 * 200, or 206 with a part of the content. A 206 repeats all headers even with If-Range, where RFC
 * 9110 §15.3.7 would permit fewer: an intermediate cache may not have them.
 */
function content(
  match: FileMatch,
  representation: Representation,
  range: ByteRange | undefined,
  tokenBytes: number,
): HttpResponse {
  const { file } = representation;
  const { coding, size, bytes } = file;
  const part = range ?? { first: 0, last: size - 1 };
  const length = part.last + 1 - part.first;
  const headers = describe(match, representation, match.route.contentHeaders);
  if (coding !== undefined) headers.push('Content-Encoding', coding);
  if (range !== undefined) headers.push('Content-Range', `bytes ${part.first}-${part.last}/${size}`);
  headers.push('Content-Length', String(length));
  return {
    status: range === undefined ? 200 : 206,
    headers,
    body: range === undefined ? bytes : bytes?.subarray(part.first, part.last + 1),
    stream: bytes === undefined ? { file, range: part } : undefined,
    downloadCost: downloadCost(length, size, tokenBytes),
  };
}

/** The headers of a representation. */
function describe(
  { route, required }: FileMatch,
  { file: { etag, lastModified }, varies }: Representation,
  contentHeaders: HeaderList,
): string[] {
  return [
    ...route.headers,
    ...(required?.headers ?? NO_HEADERS),
    'ETag',
    etag,
    'Last-Modified',
    lastModified,
    ...(varies ? VARY : NO_HEADERS),
    ...contentHeaders,
  ];
}

/** The least that a download costs, however small or short a range. */
const LEAST_DOWNLOAD_COST = 0.01;

/**
 * A file of `tokenBytes` or more costs one token, a smaller one its share of that, and a range its
 * share of the file's cost. All in bytes.
 */
export function downloadCost(length: number, size: number, tokenBytes: number): number {
  return Math.max(LEAST_DOWNLOAD_COST, length / Math.max(size, tokenBytes));
}

const withoutBody = (status: number, headers: string[]): HttpResponse => ({
  status,
  headers,
  body: undefined,
  downloadCost: 0,
});

/** 308: the method is preserved (RFC 9110 §15.4.9). */
export const redirect = ({ active, bucket }: RequestContext, location: string): HttpResponse =>
  withoutBody(308, [...active.headers[bucket].notFound, 'Location', location, 'Content-Length', '0']);

/** 204 to OPTIONS, for CORS preflights and other clients. */
export const options = ({ active, bucket }: RequestContext): HttpResponse =>
  withoutBody(204, [...active.headers[bucket].options]);

/** Retry-After while nothing is published. */
const NO_SNAPSHOT_RETRY_SECONDS = 10;
const RETRY: HeaderList = ['Retry-After', String(NO_SNAPSHOT_RETRY_SECONDS)];

/** 503: the published tree can't be read at present. */
export const noSnapshot = (context: RequestContext, detail: string): HttpResponse =>
  problem(context, 'no_snapshot', detail, RETRY);

const PROBLEM_HEADERS: HeaderList = ['Content-Type', 'application/problem+json'];
/** On both forms of an error that also has a page. */
const VARY_ACCEPT: HeaderList = ['Vary', 'Accept'];

/**
 * An error as problem details (RFC 9457): six keys in this order, with the extension `error`. Where
 * people open pages, a client that prefers HTML gets the page of the error, if there is one.
 *
 * @param detail what was requested (the value in quotes) and what was expected; no final period. If
 * undefined, the detail of all errors with this code
 * @param extra headers of this error only
 */
export function problem(
  { active, bucket, match, tokens, accept }: RequestContext,
  code: ErrorCode,
  detail?: string,
  extra = NO_HEADERS,
): HttpResponse {
  const { status, title, detail: usual } = active.snapshot.errors[code];
  const page = findErrorPage(active, match, code);
  const form = page !== undefined && prefersHtml(accept) ? page : undefined;
  const type = `${active.documentation}#error-${code}`;
  const body = form?.body ?? problemBody(type, title, status, detail ?? usual ?? title, match.path, code);
  const isStorable = status === 404;
  const { notFound, error } = active.headers[bucket];
  const headers = [
    ...(isStorable ? notFound : error),
    ...extra,
    // Only if the response is not storable: a cache would repeat one client's state to others.
    ...(isStorable || tokens === undefined
      ? NO_HEADERS
      : ['RateLimit', `"${tokens.bucket}";r=${tokens.remaining};t=${tokens.nextTokenSeconds}`]),
    ...(page === undefined ? NO_HEADERS : VARY_ACCEPT),
    ...(form?.headers ?? PROBLEM_HEADERS),
    'Content-Length',
    String(body.length),
  ];
  return { status, headers, body, downloadCost: 0 };
}

/** Longer paths from clients are cut in `instance`. */
const INSTANCE_MAX_LENGTH = 256;

function problemBody(
  type: string,
  title: string,
  status: number,
  detail: string,
  path: string,
  error: ErrorCode,
): Buffer {
  // A split escape is removed, so that it stays a URI reference.
  const instance = uriReference(path.slice(0, INSTANCE_MAX_LENGTH).replace(/%.?$/, ''));
  return Buffer.from(JSON.stringify({ type, title, status, detail, instance, error }));
}

/** The headers of every response before the first snapshot: readable by any script, not storable. */
const UNPUBLISHED_HEADERS: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
  'Cross-Origin-Resource-Policy',
  'cross-origin',
  'X-Content-Type-Options',
  'nosniff',
  'RateLimit-Policy',
  '"api";q=60;w=60',
  'Cache-Control',
  'no-store',
];

/** The header of a 405, and of the 204 before the first snapshot. */
export const ALLOW: HeaderList = ['Allow', 'GET, HEAD, OPTIONS'];

/** What responds to every request before the first snapshot: 204 to OPTIONS, otherwise 503. */
export function unpublished({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): HttpResponse {
  if (method === 'OPTIONS') return withoutBody(204, [...UNPUBLISHED_HEADERS, ...ALLOW]);
  const [path = ''] = url.split('?', 1);
  // Relative, as no base URL is known.
  const type = '/developers#error-no_snapshot';
  const detail = 'nothing has been published yet';
  const body = problemBody(type, 'No snapshot yet', 503, detail, path, 'no_snapshot');
  const headers = [
    ...UNPUBLISHED_HEADERS,
    ...RETRY,
    ...PROBLEM_HEADERS,
    'Content-Length',
    String(body.length),
  ];
  return { status: 503, headers, body, downloadCost: 0 };
}
