import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { RequestListener } from 'node:http';

import { contextOf, createLimits, type Allowance, type SharedBuckets } from '../limiter/buckets.js';
import { createClientAddress, type RangeMatcher } from '../limiter/clients.js';
import { errorCode, rateLimitedLog, type Dependencies } from '../log.js';
import type { Metrics } from '../operations.js';
import { Files } from '../tree/files.js';
import type { Snapshots } from '../tree/snapshot.js';
import { NOTHING_HERE } from '../tree/target.js';
import { ALLOW, content, options, problem, redirect, RETRY, unpublished, type Answer } from './answer.js';
import { createContext, createMessageClasses, findViolation, type RequestContext } from './request.js';
import { write, writeStream } from './send.js';

export type App = ReturnType<typeof createApp>;

export interface AppOptions extends Dependencies {
  /** Started by the caller. */
  readonly snapshots: Snapshots;
  readonly metrics: Metrics | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly isTrusted: RangeMatcher;
  /** Buckets that several proxies share. */
  readonly shared?: SharedBuckets | undefined;
}

/** Lines caused by requests, such as a failing disk, are logged once per 1000 ms (= 1 second). */
const FAILURE_LOG_MS = 1_000;

/** Creates the proxy as a request listener. What happens to a request is told in order of time. */
export function createApp({ snapshots, metrics, isTrusted, shared, clock, log }: AppOptions) {
  const app = express();
  const clientAddress = createClientAddress(isTrusted, { clock, log });
  const logFailure = rateLimitedLog({ clock, log }, FAILURE_LOG_MS);
  const files = new Files({ clock, log });
  const limits = createLimits(clock, shared);

  /** Before the first snapshot, a 503 that is not counted. Everything after this has a snapshot. */
  const listener: RequestListener = (request, response) => {
    const { current } = snapshots;
    const violation = findViolation(request);
    // After a violation, the next request's start on this connection is not reliable.
    if (violation !== undefined) response.shouldKeepAlive = false;
    // Read while the socket is certain to be open.
    request.clientAddress = clientAddress(request);
    if (current === undefined) return write(request, response, unpublished(request));
    limits.setQuotas(current.snapshot.limits);
    // Express parses request.url before its first middleware, and responds by itself if it can't.
    // It routes only one path here.
    request.originalUrl = request.url ?? '';
    request.url = '/';
    request.context = createContext(current, request, violation);
    app(request, response);
  };

  const serve: RequestHandler = async (request, response) => {
    const free = answerWithoutToken(contextOf(request), request.method);
    if (free !== undefined) return write(request, response, free);
    // The API's token comes before the cost of a download, so that what it refuses looks at no file.
    const refused = await limits.take(request, response);
    if (refused !== undefined) return write(request, response, refuse(request, refused));
    let answer = respond(request);
    // The context is a new one if a snapshot was published meanwhile.
    const context = contextOf(request);
    // HEAD, 304 and errors cost no download.
    const isCounted = context.bucket === 'download' && request.method === 'GET';
    if (isCounted && answer.downloadCost !== undefined) {
      context.downloadCost = answer.downloadCost;
      const refusedDownload = await limits.takeDownload(request, response);
      if (refusedDownload !== undefined) return write(request, response, refuse(request, refusedDownload));
    }
    // A file that is streamed may have been replaced since it was described. HAZARD: its cost stays
    // taken, even if the new file has another size, or the response is now a 304, 412 or 416.
    while (answer.stream !== undefined && request.method !== 'HEAD') {
      if (await writeStream(response, answer, answer.stream)) return;
      answer = respond(request);
    }
    write(request, response, answer);
  };

  const refuse = (request: express.Request, { bucket, nextTokenSeconds }: Allowance): Answer => {
    metrics?.refusals.inc({ limiter: bucket });
    const detail = `rate limit "${bucket}" exceeded: the next request is allowed in ${nextTokenSeconds} s`;
    return problem(contextOf(request), 'rate_limited', detail, ['Retry-After', String(nextTokenSeconds)]);
  };

  /** The response to a GET or HEAD that may be answered, with the status and headers of a GET. */
  const respond = (request: express.Request): Answer => {
    const context = contextOf(request);
    const { active, match } = context;
    if (match.kind === 'redirect') return redirect(context, match.location);
    if (match.kind === 'refusal') return problem(context, match.code, match.detail);
    const answer = content(context, request, match, files);
    if (context.cache !== undefined) metrics?.lookups[context.cache].inc();
    if (answer !== undefined) return answer;
    // Copies delete records on a 404, so only a tree that exists may return it.
    snapshots.look();
    if (!snapshots.isCurrent)
      return problem(context, 'no_snapshot', 'the published tree is not there at present', RETRY);
    if (snapshots.current === undefined || snapshots.current === active) {
      const { required, absent } = match;
      // The page of a record that does exist.
      const isPageMissing = required !== undefined && files.get(required.file, active) !== undefined;
      return problem(context, 'not_found', isPageMissing ? NOTHING_HERE : absent);
    }
    // A snapshot was just published.
    request.context = createContext(snapshots.current, request);
    request.context.allowance = context.allowance;
    return respond(request);
  };

  /** Disk errors and defects: details go to the operator's log, not to the client. */
  const handleError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const context = contextOf(request);
    const { match } = context;
    const reason = errorCode(error) ?? String(error);
    logFailure(`can't serve ${match.kind === 'file' ? match.file : match.path}: ${reason}`);
    // Too late for another response: this one must look incomplete.
    if (response.headersSent) response.destroy();
    else write(request, response, problem(context, 'internal'));
  };

  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // Without stack traces, should Express ever respond by itself.
  app.set('env', 'production');
  const messages = createMessageClasses(app);
  app.use(serve, handleError);

  return { listener, messages, files, limits };
}

/** The response that takes no token: to OPTIONS, to refused methods, and from single known paths to others. */
function answerWithoutToken(context: RequestContext, method: string): Answer | undefined {
  const { match, violation } = context;
  if (violation !== undefined) return undefined;
  if (method === 'OPTIONS') return options(context);
  if (method !== 'GET' && method !== 'HEAD') {
    const detail = `method "${method}": expected GET, HEAD or OPTIONS`;
    return problem(context, 'method_not_allowed', detail, ALLOW);
  }
  return match.kind === 'redirect' && !match.takesToken ? redirect(context, match.location) : undefined;
}
