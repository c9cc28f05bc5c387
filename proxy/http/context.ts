import type { BucketName, RateLimitState } from '../limiter/middleware.js';
import type { ActiveSnapshot } from '../tree/watcher.js';
import type { ResponseClass } from './headers.js';
import type { HttpResponse } from './responses.js';
import type { Violation } from './request-rules.js';
import { matchRoute, type Route, type RouteMatch } from './router.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by the app before Express sees the request. */
    context?: RequestContext | undefined;
  }
}

/** What a request has come to so far. One object, so that a request keeps its shape on the way. */
export interface RequestContext {
  /** The snapshot that it is served from. */
  readonly active: ActiveSnapshot;
  readonly match: RouteMatch;
  /** request.url as received. */
  readonly target: string;
  /** What the request breaks of the protocol. */
  readonly violation: Violation | undefined;
  /** The client's address in canonical form; undefined if the client left before it was read. */
  readonly client: string | undefined;
  /** The limit that the request counts against. */
  readonly bucket: BucketName;
  /** What it takes from the bucket of downloads, in tokens. */
  downloadCost: number;
  /** A response that was computed to know that cost. */
  response: HttpResponse | undefined;
  /** What the limiter said; undefined for a request that did not meet it. */
  limit: RateLimitState | undefined;
  /** Whether the file was in memory; undefined if no file was looked for. */
  cache: 'hit' | 'miss' | undefined;
  /** Of the body, handed to the connection so far. */
  bytes: number;
  /** By performance.now(). */
  readonly startedMs: number;
}

/** Its properties are named one by one: spreading objects costs a tenth of a request. */
export function createContext(
  active: ActiveSnapshot,
  { target, violation, client }: Pick<RequestContext, 'target' | 'violation' | 'client'>,
): RequestContext {
  const match = violation === undefined ? matchRoute(target, active.router) : refusal(target, violation);
  const bucket = routeOf(match)?.bucket ?? 'api';
  return {
    active,
    match,
    target,
    violation,
    client,
    bucket,
    downloadCost: bucket === 'download' ? 1 : 0,
    response: undefined,
    limit: undefined,
    cache: undefined,
    bytes: 0,
    startedMs: performance.now(),
  };
}

/** What a response is counted as. */
export function classOf(match: RouteMatch): ResponseClass {
  return routeOf(match)?.class ?? 'unrouted';
}

function routeOf(match: RouteMatch): Route | undefined {
  return 'route' in match ? match.route : undefined;
}

function refusal(target: string, violation: Violation): RouteMatch {
  const [path = ''] = target.split('?', 1);
  return { kind: 'refusal', path, ...violation };
}
