import type { IncomingHttpHeaders } from 'node:http';

import { isNotModified } from './conditions.js';
import type { Content } from './contents.js';
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
import type { Resolution } from './resolve.js';
import type { Route } from './routes.js';

/** Answers as values: what is said is decided here, and nothing is written. */

/** An answer. HEAD gets the same without the body. */
export interface Reply {
  readonly status: number;
  /** Flat name, value, name, value …; Node adds Date and the connection's own. */
  readonly headers: string[];
  /** Undefined for 204, 304, 308, and for a 200 whose file is too large to hold and is streamed. */
  readonly body: Buffer | undefined;
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

/** 200, or 304 if the client's copy is this one. */
export function contentReply(
  table: HeaderTable,
  route: Route,
  content: Content,
  request: IncomingHttpHeaders,
): Reply {
  const headers = [
    ...table.content[route.class],
    'ETag',
    content.etag,
    'Last-Modified',
    content.lastModified,
  ];
  if (isNotModified(request, content)) return { status: 304, headers, body: undefined };
  headers.push('Content-Type', route.type, 'Content-Length', String(content.size));
  return { status: 200, headers, body: content.bytes };
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

function classOf(resolution: Resolution): AnswerClass {
  return ('route' in resolution ? resolution.route?.class : undefined) ?? 'unrouted';
}
