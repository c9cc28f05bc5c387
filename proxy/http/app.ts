import express, { type ErrorRequestHandler, type NextFunction, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener } from 'node:http';

import { createClientAddress, type RangeMatcher } from '../limiter/client-ip.js';
import { createLimiter, type Limiter } from '../limiter/middleware.js';
import type { RedisBuckets } from '../limiter/redis-store.js';
import { errorCode, rateLimitedLog, type Dependencies } from '../log.js';
import type { Metrics } from '../ops/metrics.js';
import { CHECKPOINT_REVALIDATE_MS, FileCache, type CachedFile } from '../tree/file-cache.js';
import { TimeoutError } from '../timeout.js';
import type { Disk } from '../tree/disk.js';
import { SNAPSHOT_FILE } from '../snapshot/snapshot.js';
import type { ActiveSnapshot, SnapshotWatcher } from '../snapshot/watcher.js';
import { contextOf, createContext, type RequestContext } from './context.js';
import { ALLOW, UNCOMPRESSED } from '../snapshot/headers.js';
import { createMessageClasses, type MessageClasses } from './messages.js';
import { acceptedCodings } from './negotiation.js';
import { NOTHING_HERE } from '../snapshot/request-target.js';
import { findViolation } from './request-rules.js';
import {
  options,
  problem,
  redirect,
  respondWith,
  type HttpResponse,
  type Representation,
} from './responses.js';
import type { FileMatch, Route } from '../snapshot/router.js';
import { write, writeFile } from './writer.js';

/** The proxy's request handling. */
export interface App {
  readonly listener: RequestListener;
  /** The classes from which the server creates requests and responses. */
  readonly messages: MessageClasses;
  readonly files: FileCache;
  readonly limiter: Limiter;
}

export interface AppOptions extends Dependencies {
  /** Started by the caller. */
  readonly watcher: SnapshotWatcher;
  readonly disk: Disk;
  /** Undefined if nobody can read them. */
  readonly metrics: Metrics | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly isTrusted: RangeMatcher;
  /** Shares the limits with other proxies; started and closed by the caller. */
  readonly redis?: RedisBuckets | undefined;
}

/** Number of clients in this process's limits; an evicted client starts with a full bucket. */
const MAX_CLIENTS = 100_000;
/** Retry-After of the 503 before the first snapshot. */
const NO_SNAPSHOT_RETRY_SECONDS = 10;
/** The detail of that 503. */
const NOT_YET = 'nothing has been published yet';
/** The detail of a 503 while the disk takes too long. */
const HANGING = 'the published tree does not respond at present';
/** Lines caused by requests, such as a failing disk, are logged once per 1000 ms (= 1 second). */
const FAILURE_LOG_MS = 1_000;
/**
 * A file too large for memory may be replaced between its digest and its streaming. The generator
 * does not publish that often in a row.
 */
const STREAM_ATTEMPTS = 4;

/** Creates the proxy as a request listener. */
export function createApp({ watcher, disk, metrics, isTrusted, redis, clock, log }: AppOptions): App {
  const clientAddress = createClientAddress(isTrusted, { clock, log });
  const files = new FileCache(disk, clock);
  const logFailure = rateLimitedLog({ clock, log }, FAILURE_LOG_MS);
  let quotas = watcher.active.quotas;

  const limiter = createLimiter({
    quotas,
    clock,
    maxClients: MAX_CLIENTS,
    redis,
    onRefused: (request, response, bucket) => {
      metrics?.refused(bucket);
      const context = contextOf(request);
      const seconds = String(context.limit?.nextTokenSeconds ?? 1);
      const detail = `rate limit "${bucket}" exceeded: the next request is allowed in ${seconds} s`;
      write(request, response, problem(context, 'rate_limited', detail, ['Retry-After', seconds]));
    },
  });

  /** A request meets the limit of pages or of the API; redirects of single known paths are free. */
  const limit: RequestHandler = (request, response, next) => {
    const { match } = contextOf(request);
    if (match.kind !== 'redirect' || !match.isFree) return limiter.limit(request, response, next);
    next();
    return undefined;
  };

  /**
   * The cost of a download depends on its response: HEAD, 304 and errors take nothing. The API's
   * token comes first, so that a request that it refuses looks at no file.
   */
  const weighDownload: RequestHandler = (request, _response, next) => {
    if (contextOf(request).bucket === 'download') return weigh(request, next);
    next();
    return undefined;
  };

  const weigh = async (request: IncomingMessage, next: NextFunction): Promise<void> => {
    const reply = await respond(request);
    // The context is a new one if a snapshot was published meanwhile.
    const context = contextOf(request);
    context.response = reply;
    context.downloadCost = request.method === 'GET' ? reply.downloadCost : 0;
    next();
  };

  const limitDownload: RequestHandler = (request, response, next) => {
    if (contextOf(request).downloadCost > 0) return limiter.limitDownload(request, response, next);
    next();
    return undefined;
  };

  const serve: RequestHandler = async (request, response) => {
    let reply = contextOf(request).response ?? (await respond(request));
    for (let attempt = 1; attempt <= STREAM_ATTEMPTS; attempt += 1) {
      const context = contextOf(request);
      const { stream } = reply;
      if (stream === undefined || request.method === 'HEAD') {
        write(request, response, reply);
        return;
      }
      const opened = await files.open(stream.file, context.active);
      if (opened !== undefined) {
        await writeFile(context, response, reply, opened, stream.range);
        return;
      }
      reply = await respond(request);
    }
    throw new Error('the file was replaced each time it was read');
  };

  /** The response to a GET or HEAD, with the status and headers of a GET. */
  const respond = async (request: IncomingMessage): Promise<HttpResponse> => {
    const context = contextOf(request);
    const { active, match } = context;
    if (active.snapshot === undefined) return noSnapshot(context, NOT_YET);
    if (match.kind === 'redirect') return redirect(context, match.location);
    if (match.kind === 'refusal') return problem(context, match.code, match.detail);

    const { required, route, values } = match;
    const isRequired = required === undefined || (await find(required.file, active)) !== undefined;
    const representation = isRequired
      ? await represent(context, match, request.headers['accept-encoding'])
      : undefined;
    if (representation !== undefined) return respondWith(context, request, route, representation);
    // Mirrors delete records on a 404, so only a tree that exists may return it.
    await watcher.confirm();
    if (!watcher.isPresent) return noSnapshot(context, 'the published tree is not there at present');
    if (watcher.active.epoch === active.epoch) {
      const isPage = required !== undefined && isRequired;
      return problem(context, 'not_found', isPage ? NOTHING_HERE : route.absent(values));
    }
    // A snapshot was published, or the tree switched, during the lookup.
    request.context = { ...createContext(watcher.active, context), limit: context.limit };
    return respond(request);
  };

  /** The file; undefined if it does not exist. */
  const find = (
    path: string,
    active: ActiveSnapshot,
  ): CachedFile | undefined | Promise<CachedFile | undefined> =>
    files.get(path, active) ?? files.read(path, active);

  /** The file in the client's preferred coding; undefined if it does not exist. */
  const represent = async (
    context: RequestContext,
    { file: path, route, required }: FileMatch,
    acceptEncoding: string | undefined,
  ): Promise<Representation | undefined> => {
    const { active } = context;
    const currentMs = route.class === 'checkpoint' ? CHECKPOINT_REVALIDATE_MS : undefined;
    const known = path === SNAPSHOT_FILE ? active.document : files.get(path, active, currentMs);
    const file = known ?? (await files.read(path, active));
    if (file === undefined) return undefined;
    let chosen = file;
    const varies = hasSiblings(file, route, active);
    if (varies) {
      for (const coding of acceptedCodings(acceptEncoding)) {
        chosen = files.getSibling(file, coding, active) ?? (await files.readSibling(file, coding, active));
        if (chosen !== file) break;
      }
    }
    context.cache = known !== undefined && chosen.bytes !== undefined ? 'hit' : 'miss';
    if (context.cache === 'hit') metrics?.cacheHit();
    else metrics?.cacheMiss();
    return { file: chosen, varies, headers: required?.headers };
  };

  /** Handles disk errors and defects: details go to the operator's log, not to the client. */
  const handleError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const context = contextOf(request);
    const { match } = context;
    const isHanging = error instanceof TimeoutError;
    const reason = isHanging ? error.message : (errorCode(error) ?? String(error));
    logFailure(`can't serve ${match.kind === 'file' ? match.file : match.path}: ${reason}`);
    // It is too late for another response, so this one must look incomplete.
    if (response.headersSent) response.destroy();
    else write(request, response, isHanging ? noSnapshot(context, HANGING) : problem(context, 'internal'));
  };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // Without stack traces, should Express ever respond by itself.
  app.set('env', 'production');
  const messages = createMessageClasses(app);

  app.use(allowMethods, limit, weighDownload, limitDownload, serve, handleError);

  const listener: RequestListener = (request, response) => {
    const { active } = watcher;
    if (active.quotas !== quotas) {
      quotas = active.quotas;
      limiter.setQuotas(quotas);
    }
    const { url: target = '' } = request;
    const violation = findViolation(request);
    // After a violation, the next request's start on this connection is not reliable.
    if (violation !== undefined) response.shouldKeepAlive = false;
    // Read while the socket is certain to be open.
    const { accept } = request.headers;
    request.context = createContext(active, { target, violation, client: clientAddress(request), accept });
    // Express parses request.url before its first middleware, and responds by itself if it can't.
    // It routes only one path here; the real target is in the context.
    request.url = '/';
    app(request, response);
  };

  return { listener, messages, files, limiter };
}

/** OPTIONS and refused methods cost nothing; GET and HEAD continue, and what breaks the protocol. */
const allowMethods: RequestHandler = (request, response, next) => {
  const { method } = request;
  const context = contextOf(request);
  if (method === 'GET' || method === 'HEAD' || context.violation !== undefined) {
    next();
  } else if (method === 'OPTIONS') {
    write(request, response, options(context));
  } else if (context.active.snapshot === undefined) {
    write(request, response, noSnapshot(context, NOT_YET));
  } else {
    const detail = `method "${method}": expected GET, HEAD or OPTIONS`;
    write(request, response, problem(context, 'method_not_allowed', detail, ALLOW));
  }
};

function noSnapshot(context: RequestContext, detail: string): HttpResponse {
  return problem(context, 'no_snapshot', detail, ['Retry-After', String(NO_SNAPSHOT_RETRY_SECONDS)]);
}

/** The generator compresses large files. */
function hasSiblings({ size }: CachedFile, route: Route, { snapshot }: ActiveSnapshot): boolean {
  const compressedFrom = snapshot?.compressed_from;
  return compressedFrom !== undefined && size >= compressedFrom && !UNCOMPRESSED.has(route.class);
}
