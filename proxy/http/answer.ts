import type { IncomingMessage } from 'node:http';

import { SNAPSHOT_FILE, type ErrorCode } from '../tree/schema.js';
import type { Files, PublishedFile } from '../tree/files.js';
import { QUOTED_MAX_LENGTH, type FileMatch, type HeaderList } from '../tree/router.js';
import { findErrorPage } from '../tree/snapshot.js';
import { uriReference } from '../tree/target.js';
import { evaluatePreconditions, isRangeCurrent, parseRange, type ByteRange } from './conditions.js';
import { acceptedCodings, prefersHtml } from './negotiation.js';
import type { RequestContext } from './request.js';

/** Computes responses as values: of a request, the snapshot in service, and the files of its tree. */

/** A body that is a part of a file too large for memory. */
export interface Stream extends ByteRange {
  readonly root: string;
  readonly file: PublishedFile;
}

/** A response as a value. For HEAD, the body is not sent. */
export interface Answer {
  readonly status: number;
  readonly headers: string[];
  readonly body?: Buffer | undefined;
  /** Instead of a body. */
  readonly stream?: Stream | undefined;
  /** The cost if this is the content of a download, in tokens: up to 1. */
  readonly downloadCost?: number;
}

const NO_HEADERS: HeaderList = [];

/**
 * The response with a file: 200, 206, 304, 412 or 416. Sets `context.cache`.
 *
 * @returns undefined if the document of a page, or the file itself, does not exist
 * @throws errors of the file system
 */
export function content(
  context: RequestContext,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  match: FileMatch,
  files: Files,
): Answer | undefined {
  const { active } = context;
  const { reads } = files;
  if (match.required !== undefined && files.get(match.required.file, active) === undefined) return undefined;
  const whole = match.file === SNAPSHOT_FILE ? active.document : files.get(match.file, active);
  if (whole === undefined) return undefined;
  const { compressed_from: compressedFrom = Number.POSITIVE_INFINITY } = active.snapshot;
  const varies = match.isCompressed && whole.size >= compressedFrom;
  let file = whole;
  if (varies) {
    for (const coding of acceptedCodings(headers['accept-encoding'])) {
      file = files.getSibling(whole, coding, active);
      if (file !== whole) break;
    }
  }
  // No file that the response needs was read from the disk.
  context.cache = files.reads === reads && file.bytes !== undefined ? 'hit' : 'miss';

  const outcome = evaluatePreconditions(headers, file);
  if (outcome === 'failed') return problem(context, 'precondition_failed');
  if (outcome === 'not_modified') return { status: 304, headers: describe(match, file, varies) };
  // Range is defined only for GET (RFC 9110 §14.2).
  const isRanged = headers.range !== undefined && method === 'GET' && isRangeCurrent(headers, file);
  const { coding, size, bytes } = file;
  const range = isRanged ? parseRange(headers.range ?? '', size) : undefined;
  if (range === 'unsatisfiable') {
    const asked = headers.range?.slice(0, QUOTED_MAX_LENGTH);
    const detail = `range "${asked}": expected one that starts within the ${size} bytes of the file`;
    return problem(context, 'range_not_satisfiable', detail, ['Content-Range', `bytes */${size}`]);
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const length = last + 1 - first;
  // A 206 repeats all headers even with If-Range, where RFC 9110 §15.3.7 would permit fewer: an
  // intermediate cache may not have them.
  const described = describe(match, file, varies);
  described.push(...match.route.contentHeaders);
  if (coding !== undefined) described.push('Content-Encoding', coding);
  if (range !== undefined) described.push('Content-Range', `bytes ${first}-${last}/${size}`);
  described.push('Content-Length', String(length));
  return {
    status: range === undefined ? 200 : 206,
    headers: described,
    body: range === undefined ? bytes : bytes?.subarray(first, last + 1),
    stream: bytes === undefined ? { root: active.root, file, first, last } : undefined,
    downloadCost: downloadCost(length, size, active.snapshot.limits.download.tokenBytes),
  };
}

/** The headers of a representation, without those of its content. */
function describe({ route, required }: FileMatch, file: PublishedFile, varies: boolean): string[] {
  const headers = [...route.headers, ...(required?.headers ?? NO_HEADERS)];
  headers.push('ETag', file.etag, 'Last-Modified', file.lastModified);
  if (varies) headers.push('Vary', 'Accept-Encoding');
  return headers;
}

/** A file of `tokenBytes` or more costs a token, a smaller one its share, a range its share of that. */
export function downloadCost(length: number, size: number, tokenBytes: number): number {
  // At least a hundredth, however small.
  return Math.max(0.01, length / Math.max(size, tokenBytes));
}

/** 308: the method is preserved (RFC 9110 §15.4.9). */
export const redirect = ({ active, bucket }: RequestContext, location: string): Answer => ({
  status: 308,
  headers: [...active.headers[bucket].notFound, 'Location', location, 'Content-Length', '0'],
});

/** 204 to OPTIONS, for CORS preflights and other clients. */
export const options = ({ active, bucket }: RequestContext): Answer => ({
  status: 204,
  headers: [...active.headers[bucket].options],
});

/** While nothing is published. 10 s. */
export const RETRY: HeaderList = ['Retry-After', '10'];

const PROBLEM_HEADERS: HeaderList = ['Content-Type', 'application/problem+json'];

/**
 * An error as problem details (RFC 9457): six keys in this order, with the extension `error`. Where
 * people open pages, a client that prefers HTML gets the page of the error, if there is one.
 *
 * @param detail what was requested and expected; by default, that of all errors with this code
 */
export function problem(
  { active, bucket, match, allowance, accept }: RequestContext,
  code: ErrorCode,
  detail?: string,
  extra = NO_HEADERS,
): Answer {
  const { status, title, detail: usual } = active.snapshot.errors[code];
  const page = findErrorPage(active, match, code);
  const form = page !== undefined && prefersHtml(accept) ? page : undefined;
  const body =
    form?.body ??
    jsonBody({
      type: `${active.documentation}#error-${code}`,
      title,
      status,
      detail: detail ?? usual ?? title,
      instance: instanceOf(match.path),
      error: code,
    });
  const isStorable = status === 404;
  const headers = [...active.headers[bucket][isStorable ? 'notFound' : 'error'], ...extra];
  // A storable response has no RateLimit: caches would repeat one client's state to others.
  if (!isStorable && allowance !== undefined)
    headers.push(
      'RateLimit',
      `"${allowance.bucket}";r=${allowance.remaining};t=${allowance.nextTokenSeconds}`,
    );
  // The page and the problem document are two forms of one response.
  if (page !== undefined) headers.push('Vary', 'Accept');
  headers.push(...(form?.headers ?? PROBLEM_HEADERS), 'Content-Length', String(body.length));
  return { status, headers, body };
}

/** At most 256 characters of a path, as a URI reference: without an escape that was cut. */
const instanceOf = (path: string): string => uriReference(path.slice(0, 256).replace(/%.?$/, ''));

const jsonBody = (problem: object): Buffer => Buffer.from(JSON.stringify(problem));

/** The headers of every response before the first snapshot: readable by any script, not storable. */
const UNPUBLISHED_HEADERS: HeaderList = Object.entries({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'RateLimit-Policy': '"api";q=60;w=60',
  'Cache-Control': 'no-store',
}).flat();

/** On 405, and on 204 before the first snapshot. */
export const ALLOW: HeaderList = ['Allow', 'GET, HEAD, OPTIONS'];

/** The response to any request before the first snapshot: 204 to OPTIONS, otherwise 503. */
export function unpublished({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): Answer {
  if (method === 'OPTIONS') return { status: 204, headers: [...UNPUBLISHED_HEADERS, ...ALLOW] };
  const body = jsonBody({
    // Relative, as no base URL is known.
    type: '/developers#error-no_snapshot',
    title: 'No snapshot yet',
    status: 503,
    detail: 'nothing has been published yet',
    instance: instanceOf(url.replace(/\?.*/s, '')),
    error: 'no_snapshot',
  });
  const length = ['Content-Length', String(body.length)];
  const headers = [...UNPUBLISHED_HEADERS, ...RETRY, ...PROBLEM_HEADERS, ...length];
  return { status: 503, headers, body };
}
