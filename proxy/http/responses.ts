import type { IncomingMessage } from 'node:http';

import { errorPageOf } from '../snapshot/error-pages.js';
import { errorOf } from '../snapshot/snapshot.js';
import type { CachedFile } from '../tree/file-cache.js';
import type { ByteRange } from '../tree/files.js';
import type { ActiveSnapshot } from '../snapshot/watcher.js';
import type { RequestContext } from './context.js';
import type { ErrorCode, HeaderList } from '../snapshot/headers.js';
import { prefersHtml } from './negotiation.js';
import { QUOTED_MAX_LENGTH } from '../snapshot/parameters.js';
import { evaluatePreconditions, isRangeCurrent } from './preconditions.js';
import { parseRange } from './ranges.js';
import { uriReference } from '../snapshot/request-target.js';
import type { Route } from '../snapshot/router.js';

/** Computes responses as values; nothing is written here. */

/** A response. For HEAD, the body is not sent. */
export interface HttpResponse {
  readonly status: number;
  /** A flat list of name, value, name, value …; Node adds Date and the connection's own. */
  readonly headers: string[];
  /** Undefined for 204, 304 and 308, and for a file that is too large for memory. */
  readonly body: Buffer | undefined;
  /** A file too large for memory, and the range of it that is the body. */
  readonly stream?: { readonly file: CachedFile; readonly range: ByteRange } | undefined;
  /** The cost of a download, in tokens: 0 without content, else up to 1. */
  readonly downloadCost: number;
}

/** A file in the selected coding. */
export interface Representation {
  readonly file: CachedFile;
  /** Whether other values of Accept-Encoding may select another form; then there is a Vary. */
  readonly varies: boolean;
  /** Headers of this URL's 200, 206 and 304, besides those of its route. */
  readonly headers?: HeaderList | undefined;
}

const VARY: HeaderList = ['Vary', 'Accept-Encoding'];
const NO_HEADERS: HeaderList = [];

/** The least that a download costs, however small or short a range. */
const LEAST_DOWNLOAD_COST = 0.01;

/**
 * A file of `tokenBytes` or more costs one token, a smaller one its share of that, and a range its
 * share of the file's cost. All in bytes.
 */
export function downloadCost(length: number, size: number, tokenBytes: number): number {
  return Math.max(LEAST_DOWNLOAD_COST, length / Math.max(size, tokenBytes));
}

/**
 * 200, or 206 with a part of the content. A 206 repeats all headers even with If-Range, where RFC
 * 9110 §15.3.7 would permit fewer: an intermediate cache may not have them.
 */
function content(
  active: ActiveSnapshot,
  route: Route,
  representation: Representation,
  range?: ByteRange,
): HttpResponse {
  const { file } = representation;
  const { coding, size, bytes } = file;
  const part = range ?? { first: 0, last: size - 1 };
  const length = part.last + 1 - part.first;
  const headers = headersOf(active, route, representation, [
    ...(coding === undefined ? NO_HEADERS : ['Content-Encoding', coding]),
    ...route.contentHeaders,
    ...(range === undefined ? NO_HEADERS : ['Content-Range', `bytes ${part.first}-${part.last}/${size}`]),
    'Content-Length',
    String(length),
  ]);
  return {
    status: range === undefined ? 200 : 206,
    headers,
    body: range === undefined ? bytes : bytes?.subarray(part.first, part.last + 1),
    stream: bytes === undefined ? { file, range: part } : undefined,
    downloadCost: downloadCost(length, size, active.downloadTokenBytes),
  };
}

function headersOf(
  { headers }: ActiveSnapshot,
  { class: cacheClass, bucket }: Route,
  { file: { etag, lastModified }, varies, headers: own = NO_HEADERS }: Representation,
  ofBody: HeaderList,
): string[] {
  return [
    ...headers.content[cacheClass][bucket],
    ...own,
    'ETag',
    etag,
    'Last-Modified',
    lastModified,
    ...(varies ? VARY : NO_HEADERS),
    ...ofBody,
  ];
}

const withoutBody = (status: number, headers: string[]): HttpResponse => ({
  status,
  headers,
  body: undefined,
  downloadCost: 0,
});

/** 308: the method is preserved (RFC 9110 §15.4.9). */
export const redirect = ({ active, bucket }: RequestContext, location: string): HttpResponse =>
  withoutBody(308, [...active.headers.notFound[bucket], 'Location', location, 'Content-Length', '0']);

/** 204 to OPTIONS, for CORS preflights and other clients. */
export const options = ({ active, bucket }: RequestContext): HttpResponse =>
  withoutBody(204, [...active.headers.options[bucket]]);

/** A protocol error without a request: no body, and the connection is closed. */
export const protocolError = (
  { headers }: ActiveSnapshot,
  status: number,
  extra = NO_HEADERS,
): HttpResponse =>
  withoutBody(status, [...headers.error.api, ...extra, 'Content-Length', '0', 'Connection', 'close']);

const PROBLEM_HEADERS: HeaderList = ['Content-Type', 'application/problem+json'];
/** On both forms of an error that also has a page. */
const VARY_ACCEPT: HeaderList = ['Vary', 'Accept'];

/** Longer paths from clients are cut in `instance`. */
const INSTANCE_MAX_LENGTH = 256;

/**
 * An error as problem details (RFC 9457): six keys in this order, with the extension `error`. Where
 * people open pages, a client that prefers HTML gets the page of the error, if there is one.
 *
 * @param detail what was requested (the value in quotes) and what was expected; no final period. If
 * undefined, the detail of all errors with this code
 * @param extra headers of this error only
 */
export function problem(
  { active, bucket, match, limit, accept }: RequestContext,
  code: ErrorCode,
  detail?: string,
  extra = NO_HEADERS,
): HttpResponse {
  // Before the first snapshot, all errors are this one.
  const error = active.snapshot === undefined ? 'no_snapshot' : code;
  const { status, title, detail: usual = title } = errorOf(active.snapshot, error);
  const page = errorPageOf(active.errorPages, match, error);
  const form = page !== undefined && prefersHtml(accept) ? page : undefined;
  const type = `${active.documentation}#error-${error}`;
  // A split escape is removed, so that it stays a URI reference.
  const instance = uriReference(match.path.slice(0, INSTANCE_MAX_LENGTH).replace(/%.?$/, ''));
  const details = { type, title, status, detail: detail ?? usual, instance, error };
  const body = form?.body ?? Buffer.from(JSON.stringify(details));
  const isStorable = status === 404;
  const table = isStorable ? active.headers.notFound : active.headers.error;
  const headers = [
    ...table[bucket],
    ...extra,
    // Only if the response is not storable: a cache would repeat one client's state to others.
    ...(isStorable || limit === undefined
      ? NO_HEADERS
      : ['RateLimit', `"${limit.bucket}";r=${limit.remaining};t=${limit.nextTokenSeconds}`]),
    ...(page === undefined ? NO_HEADERS : VARY_ACCEPT),
    ...(form?.headers ?? PROBLEM_HEADERS),
    'Content-Length',
    String(body.length),
  ];
  return { status, headers, body, downloadCost: 0 };
}

/** The response with a file: 200, 206, 304, 412 or 416. */
export function respondWith(
  context: RequestContext,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  route: Route,
  representation: Representation,
): HttpResponse {
  const { file } = representation;
  const outcome = evaluatePreconditions(headers, file);
  if (outcome === 'not_modified')
    return withoutBody(304, headersOf(context.active, route, representation, NO_HEADERS));
  if (outcome === 'failed') return problem(context, 'precondition_failed');
  // Range is defined only for GET (RFC 9110 §14.2).
  const isRanged = headers.range !== undefined && method === 'GET' && isRangeCurrent(headers, file);
  const range = isRanged ? parseRange(headers.range ?? '', file.size) : undefined;
  if (range !== 'unsatisfiable') return content(context.active, route, representation, range);
  const asked = headers.range?.slice(0, QUOTED_MAX_LENGTH);
  const detail = `range "${asked}": expected one that starts within the ${file.size} bytes of the file`;
  return problem(context, 'range_not_satisfiable', detail, ['Content-Range', `bytes */${file.size}`]);
}
