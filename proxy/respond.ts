import type { Edition } from './edition.js';
import {
  ALLOW,
  policyOf,
  PREFLIGHT,
  type AnswerClass,
  type HeaderList,
  type HeaderTable,
} from './headers.js';
import { PROBLEM_TYPE, problemBody, PROBLEMS, type ProblemCode } from './problems.js';
import type { ByteRange } from './ranges.js';
import type { Representation } from './representation.js';
import type { Resolution } from './resolve.js';
import type { Route } from './routes.js';

/** Answers as values: what is said is decided here, and nothing is written. */

/** An answer. HEAD gets the same without the body. */
export interface Reply {
  readonly status: number;
  /** Flat name, value, name, value …; Node adds Date and the connection's own. */
  readonly headers: string[];
  /** Undefined for 204, 304 and 308, and where the file is too large to hold and is streamed. */
  readonly body: Buffer | undefined;
  /** Of an answer that has content, which part of the file that is. */
  readonly part?: ByteRange;
}

/** What a request has come to so far, as far as answers depend on it. */
export interface Asked {
  readonly edition: Edition;
  readonly resolution: Resolution;
}

/** A client's bucket after this request, as RateLimit tells it. */
export interface Standing {
  readonly remaining: number;
  /** Whole seconds until the next token. */
  readonly nextTokenSeconds: number;
}

/** 304: what the client has is this representation. */
export function notModifiedReply(table: HeaderTable, route: Route, representation: Representation): Reply {
  return { status: 304, headers: headersOf(table, route, representation), body: undefined };
}

/**
 * 200, or 206 with a part of it. A 206 repeats all headers also beside If-Range, where a client has them
 * already (RFC 9110 §15.3.7 lets it go without): a cache on the way may not.
 */
export function contentReply(
  table: HeaderTable,
  route: Route,
  representation: Representation,
  range?: ByteRange,
): Reply {
  const { coding, size, bytes } = representation.content;
  const encoding = coding === undefined ? NO_HEADERS : ['Content-Encoding', coding];
  if (range === undefined) {
    const headers = headersOf(table, route, representation, [
      ...encoding,
      ...route.contentHeaders,
      'Content-Length',
      String(size),
    ]);
    return { status: 200, headers, body: bytes, part: { first: 0, last: size - 1 } };
  }
  const { first, last } = range;
  const headers = headersOf(table, route, representation, [
    ...encoding,
    ...route.contentHeaders,
    'Content-Range',
    `bytes ${first}-${last}/${size}`,
    'Content-Length',
    String(last + 1 - first),
  ]);
  return { status: 206, headers, body: bytes?.subarray(first, last + 1), part: range };
}

const NO_HEADERS: HeaderList = [];
const VARY: HeaderList = ['Vary', 'Accept-Encoding'];

function headersOf(
  table: HeaderTable,
  { class: cacheClass }: Route,
  { content: { etag, lastModified }, varies }: Representation,
  ofBody = NO_HEADERS,
): string[] {
  return [
    ...table.content[cacheClass],
    'ETag',
    etag,
    'Last-Modified',
    lastModified,
    ...(varies ? VARY : NO_HEADERS),
    ...ofBody,
  ];
}

/** 308: method and query stay (RFC 9110 §15.4.9). */
export function redirectReply({ edition, resolution }: Asked, location: string): Reply {
  const headers = [
    ...edition.headers.brief[classOf(resolution)],
    'Location',
    location,
    'Content-Length',
    '0',
  ];
  return { status: 308, headers, body: undefined };
}

/** 204 to OPTIONS, for CORS preflights and for whoever asks what is allowed. */
export function optionsReply({ edition, resolution }: Asked): Reply {
  const headers = [...edition.headers.uncached[classOf(resolution)], ...ALLOW, ...PREFLIGHT];
  return { status: 204, headers, body: undefined };
}

/**
 * An error.
 *
 * @param standing the client's bucket, if this request met the limiter. Told only where nobody may store the
 *   answer: a cache would replay one client's count to the others.
 * @param extra headers of this error alone
 */
export function problemReply(
  { edition, resolution }: Asked,
  code: ProblemCode,
  detail: string,
  standing?: Standing,
  extra: HeaderList = [],
): Reply {
  const { status } = PROBLEMS[code];
  const answerClass = classOf(resolution);
  const body = problemBody(code, edition.documentation, detail, resolution.path);
  const isBrief = status === 404;
  const headers = [
    ...(isBrief ? edition.headers.brief : edition.headers.uncached)[answerClass],
    ...extra,
    ...(isBrief || standing === undefined ? [] : rateLimit(answerClass, standing)),
    'Content-Type',
    PROBLEM_TYPE,
    'Content-Length',
    String(body.length),
  ];
  return { status, headers, body };
}

/** RateLimit (draft-ietf-httpapi-ratelimit-headers §4): r tokens left, t seconds until there is one more. */
function rateLimit(answerClass: AnswerClass, { remaining, nextTokenSeconds }: Standing): HeaderList {
  return ['RateLimit', `"${policyOf(answerClass)}";r=${remaining};t=${nextTokenSeconds}`];
}

/** What an answer is counted and cached as. */
export function classOf(resolution: Resolution): AnswerClass {
  return ('route' in resolution ? resolution.route?.class : undefined) ?? 'unrouted';
}
