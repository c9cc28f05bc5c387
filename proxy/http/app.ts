import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import type { RequestListener } from 'node:http';

import { createClientAddress, type RangeMatcher } from '../clients.js';
import { DEFAULT_QUOTAS } from '../limiter/gcra.js';
import { createLimits, type BucketState, type Limits } from '../limiter/limits.js';
import type { RedisBuckets } from '../limiter/redis-store.js';
import { errorCode, rateLimitedLog, type Dependencies } from '../log.js';
import type { Metrics } from '../ops/metrics.js';
import type { SnapshotWatcher } from '../snapshot/watcher.js';
import { FileCache } from '../tree/cache.js';
import { type Disk } from '../tree/read.js';
import { TimeoutError } from '../timeout.js';
import {
  requireContext,
  createContext,
  createMessageClasses,
  findViolation,
  type HttpResponse,
  type MessageClasses,
  type RequestContext,
} from './request.js';
import { createRespond } from './respond.js';
import { ALLOW, noSnapshot, options, problem, redirect, unpublished } from './responses.js';
import { write, writeFile } from './send.js';

/** The proxy's request handling. */
export interface App {
  readonly listener: RequestListener;
  /** The classes from which the server creates requests and responses. */
  readonly messages: MessageClasses;
  readonly files: FileCache;
  readonly limits: Limits;
}

export interface AppOptions extends Dependencies {
  /** Started by the caller. */
  readonly watcher: SnapshotWatcher;
  readonly disk: Disk;
  /** Undefined if nobody can read them. */
  readonly metrics: Metrics | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly isTrusted: RangeMatcher;
  /** Shares the buckets with other proxies; started and closed by the caller. */
  readonly redis?: RedisBuckets | undefined;
}

/** Number of clients in this process's buckets; an evicted client starts with a full one. */
const MAX_CLIENTS = 100_000;
/** Lines caused by requests, such as a failing disk, are logged once per 1000 ms (= 1 second). */
const FAILURE_LOG_MS = 1_000;
/**
 * A file too large for memory may be replaced between its description and its streaming. The
 * generator does not publish that often in a row.
 */
const STREAM_ATTEMPTS = 4;

/** Creates the proxy as a request listener. What happens to a request is told in order of time. */
export function createApp({ watcher, disk, metrics, isTrusted, redis, clock, log }: AppOptions): App {
  const clientAddress = createClientAddress(isTrusted, { clock, log });
  const logFailure = rateLimitedLog({ clock, log }, FAILURE_LOG_MS);
  const files = new FileCache(disk, clock);
  const respond = createRespond(watcher, files, metrics);
  let quotas = watcher.active?.quotas ?? DEFAULT_QUOTAS;
  const limits = createLimits({ quotas, clock, maxClients: MAX_CLIENTS, redis });

  /** Before the first snapshot, a 503 that is not counted. Everything after this has a snapshot. */
  const listener: RequestListener = (request, response) => {
    const { active } = watcher;
    const { url: target = '' } = request;
    const violation = findViolation(request);
    // After a violation, the next request's start on this connection is not reliable.
    if (violation !== undefined) response.shouldKeepAlive = false;
    // Read while the socket is certain to be open.
    request.clientAddress = clientAddress(request);
    if (active === undefined) {
      write(request, response, unpublished(request));
      return;
    }
    if (active.quotas !== quotas) {
      quotas = active.quotas;
      limits.setQuotas(quotas);
    }
    request.context = createContext(active, request, target, violation);
    // Express parses request.url before its first middleware, and responds by itself if it can't.
    // It routes only one path here; the real target is in the context.
    request.url = '/';
    app(request, response);
  };

  const handle: RequestHandler = async (request, response) => {
    const free = respondFree(requireContext(request), request.method);
    if (free !== undefined) {
      write(request, response, free);
      return;
    }
    const tokens = await limits.take(request, response);
    if (tokens.refused) {
      refuse(request, response, tokens);
      return;
    }
    let reply = await respond(request);
    // The context is a new one if a snapshot was published meanwhile.
    const context = requireContext(request);
    // The cost of a download depends on its response: HEAD, 304 and errors take nothing. The API's
    // token comes first, so that what it refuses looks at no file.
    const isCounted = context.bucket === 'download' && request.method === 'GET';
    context.downloadCost = isCounted ? reply.downloadCost : 0;
    if (context.downloadCost > 0) {
      const left = await limits.takeDownload(request, response);
      if (left.refused) {
        refuse(request, response, left);
        return;
      }
    }
    for (let attempt = 1; attempt <= STREAM_ATTEMPTS; attempt += 1) {
      const { active } = requireContext(request);
      const { stream } = reply;
      if (stream === undefined || request.method === 'HEAD') {
        write(request, response, reply);
        return;
      }
      if (await writeFile(response, reply, stream.range, () => files.open(stream.file, active))) return;
      reply = await respond(request);
    }
    throw new Error('the file was replaced each time it was read');
  };

  const refuse = (request: Request, response: Response, { bucket, nextTokenSeconds }: BucketState): void => {
    metrics?.refused(bucket);
    const seconds = String(nextTokenSeconds);
    const detail = `rate limit "${bucket}" exceeded: the next request is allowed in ${seconds} s`;
    write(
      request,
      response,
      problem(requireContext(request), 'rate_limited', detail, ['Retry-After', seconds]),
    );
  };

  /** Disk errors and defects: details go to the operator's log, not to the client. */
  const handleError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const context = requireContext(request);
    const { match } = context;
    const isLate = error instanceof TimeoutError;
    const reason = isLate ? error.message : (errorCode(error) ?? String(error));
    logFailure(`can't serve ${match.kind === 'file' ? match.file : match.path}: ${reason}`);
    // It is too late for another response, so this one must look incomplete.
    if (response.headersSent) response.destroy();
    else if (isLate)
      write(request, response, noSnapshot(context, 'the published tree does not respond at present'));
    else write(request, response, problem(context, 'internal'));
  };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // Without stack traces, should Express ever respond by itself.
  app.set('env', 'production');
  const messages = createMessageClasses(app);
  app.use(handle, handleError);

  return { listener, messages, files, limits };
}

/** What takes no token: OPTIONS, refused methods and redirects of single known paths. */
function respondFree(context: RequestContext, method: string): HttpResponse | undefined {
  const { match, violation } = context;
  if (violation !== undefined) return undefined;
  if (method === 'OPTIONS') return options(context);
  if (method !== 'GET' && method !== 'HEAD') {
    const detail = `method "${method}": expected GET, HEAD or OPTIONS`;
    return problem(context, 'method_not_allowed', detail, ALLOW);
  }
  return match.kind === 'redirect' && match.isFree ? redirect(context, match.location) : undefined;
}
