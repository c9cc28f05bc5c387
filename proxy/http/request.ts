import type { Express } from 'express';
import type { RateLimitInfo } from 'express-rate-limit';
import { IncomingMessage, ServerResponse } from 'node:http';

import type { LimitedRequest } from '../limiter/buckets.js';
import { clientKey } from '../limiter/clients.js';
import type { RouteMatch } from '../tree/router.js';
import type { CacheClass, RequestError } from '../tree/schema.js';
import type { ActiveSnapshot } from '../tree/snapshot.js';

/** The state of a request, and the rules that every request must meet. */

declare module 'http' {
  interface IncomingMessage {
    /** The client's address in canonical form; undefined if the client left before it was read. */
    clientAddress?: string | undefined;
    /** request.url as received: Express gets another one. */
    originalUrl: string;
    /** Set before Express sees the request. */
    context?: RequestContext | undefined;
    /** Set by express-rate-limit. */
    rateLimit?: RateLimitInfo | undefined;
  }
  interface ServerResponse {
    /** The status that was handed to the connection; undefined if the client left before. */
    sentStatus?: number | undefined;
    /** Bytes of the body handed to the connection so far. */
    sentBytes?: number;
  }
}

/** The state of a request. */
export interface RequestContext extends LimitedRequest {
  /** The snapshot that serves the request. */
  readonly active: ActiveSnapshot;
  readonly match: RouteMatch;
  /** The protocol violation of the request, if any. */
  readonly violation: RequestError | undefined;
  /** The class of the route, by which responses are counted; `unrouted` if no route matched. */
  readonly class: CacheClass | 'unrouted';
  readonly accept: string | undefined;
  /** Whether the file was in memory; undefined if no file was looked up. */
  cache: 'hit' | 'miss' | undefined;
}

/** Properties are listed, since spreading objects costs a tenth of a request's time. */
export function createContext(
  active: ActiveSnapshot,
  { clientAddress, headers, originalUrl: target }: IncomingMessage,
  violation?: RequestError,
): RequestContext {
  const match: RouteMatch =
    violation === undefined
      ? active.router.match(target)
      : { kind: 'refusal', path: target.replace(/\?.*/s, ''), ...violation };
  const route = 'route' in match ? match.route?.declaration : undefined;
  return {
    active,
    match,
    violation,
    class: route?.class ?? 'unrouted',
    accept: headers.accept,
    clientKey: clientKey(clientAddress),
    bucket: route?.bucket ?? 'api',
    downloadCost: 0,
    allowance: undefined,
    cache: undefined,
  };
}

/**
 * The classes of requests and responses for the server, with the prototypes that Express assigns.
 *
 * Express changes the prototype of each request and response (lib/application.js, handle). V8
 * discards optimized code for an object whose prototype changed, so all code after that, including
 * Node's own, is five times slower. With these classes the assignment changes nothing, and
 * properties that are set later exist from the start, so that the hidden class stays the same.
 */
export function createMessageClasses(app: Express): {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>;
} {
  class Request extends IncomingMessage {
    override clientAddress: string | undefined = undefined;
    override context: RequestContext | undefined = undefined;
    override rateLimit: RateLimitInfo | undefined = undefined;
    res = undefined;
    override originalUrl = '';
    baseUrl = '';
    params = undefined;
    next = undefined;
    /** express-rate-limit reads this for its log; Express would parse the headers again. */
    get ip(): string | undefined {
      return this.clientAddress;
    }
  }
  class Response extends ServerResponse {
    override sentStatus: number | undefined = undefined;
    override sentBytes = 0;
    /** Never used; Express would create an object for each response. */
    locals = app.locals;
  }
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request, ServerResponse: Response };
}

/** uri-host and port (RFC 9110 §7.2); a client without an authority sends an empty one. */
const HOST =
  /^(?:(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\])(?::\d*)?$/i;

/** A protocol violation that Node's parser accepts; undefined if there is none. */
export function findViolation(request: IncomingMessage): RequestError | undefined {
  const { httpVersionMajor, httpVersion, headers } = request;
  if (httpVersionMajor !== 1)
    return { code: 'version_not_supported', detail: `HTTP/${httpVersion}: expected HTTP/1.1` };
  if (!hasValidHost(request)) {
    const detail = 'Host header: expected exactly one, with a host and an optional port';
    return { code: 'invalid_request', detail };
  }
  // If chunked is not the last coding, the end of the body is unknown (RFC 9112 §6.3). No other coding
  // is supported (§6.1).
  const coding = headers['transfer-encoding'];
  return coding === undefined || /^chunked\s*$/i.test(coding)
    ? undefined
    : { code: 'invalid_request', detail: 'Transfer-Encoding header: expected "chunked"' };
}

/** Whether there is one valid Host, or none in HTTP/1.0 (RFC 9112 §3.2). Node keeps the first of several. */
function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion === '1.0';
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 && HOST.test(headers.host);
}

/** A longer request body, which is never read, closes the connection. 64 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Whether the connection must end with the response. A request body has no meaning here (RFC 9110
 * §9.3.1): a short one is discarded, and the connection stays open; one that is long, of unknown
 * length or awaits a 100 (Continue) is not read. An upgrade is ignored, but Node's parser drops what
 * comes with it.
 */
export function endsConnection({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  const hasBody = length !== undefined && (Number(length) > MAX_BODY_BYTES || headers.expect !== undefined);
  return hasBody || headers['transfer-encoding'] !== undefined || headers.upgrade !== undefined;
}
