import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { isNotModified, isRangeCurrent } from './conditions.js';
import { MAX_CLIENTS, NO_SNAPSHOT_RETRY_SECONDS, type Config } from './config.js';
import { Contents } from './contents.js';
import { createEdition, type Edition } from './edition.js';
import { createFailureLog } from './failure-log.js';
import { errorCode } from './files.js';
import type { Effects, SnapshotFollower } from './follower.js';
import { ALLOW, policyOf, type HeaderList } from './headers.js';
import { createClientAddress } from './limiter/client-address.js';
import { createLimiter, standingOf, type Limiter } from './limiter/limiter.js';
import type { RedisBuckets } from './limiter/redis-buckets.js';
import { createMessageClasses, type MessageClasses } from './messages.js';
import type { ProblemCode } from './problems.js';
import { guardPrototypes, type PrototypeGuard } from './prototype-guard.js';
import { parseRange } from './ranges.js';
import { select, selectNow, type Representation } from './representation.js';
import { QUOTED_MAX_LENGTH, type ResolvedFile } from './resolve.js';
import {
  classOf,
  contentReply,
  notModifiedReply,
  optionsReply,
  problemReply,
  redirectReply,
  type Asked,
  type Reply,
} from './respond.js';
import type { Route } from './routes.js';
import { send, sendFile } from './send.js';
import { Tally } from './tally.js';
import { NOTHING_HERE } from './target.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by this app before Express sees the request. */
    asked?: Asked | undefined;
  }
}

/** What the proxy does with requests. */
export interface App {
  readonly listener: RequestListener;
  /** What the server has to make requests and responses of. */
  readonly messages: MessageClasses;
  /** Whether those took effect; undefined before the first request. */
  readonly keepsPrototypes: PrototypeGuard['isKept'];
  /** The edition in service, for answers given without a request, such as to malformed ones. */
  readonly edition: () => Edition;
  /** For metrics. */
  readonly tally: Tally;
  readonly contents: Contents;
  readonly limits: Limiter['local'];
}

/**
 * A file too large to hold may be replaced between hashing and streaming, and its compressed form and itself
 * are noticed one after the other. The generator publishes less often than that.
 */
const STREAM_ATTEMPTS = 4;

/**
 * The proxy as a request listener.
 *
 * @param config the tree and the limits set by hand
 * @param follower what is in service; started by the caller, asked for news with each request
 * @param shared where the limits are shared with other proxies; started and closed by the caller
 */
export function createApp(
  config: Config,
  follower: SnapshotFollower,
  { clock, log }: Effects,
  shared?: RedisBuckets,
): App {
  const noteClientAddress = createClientAddress(config.trustProxy, log);
  const contents = new Contents(config.dist, clock);
  const tally = new Tally();
  const logFailure = createFailureLog({ clock, log });
  let edition = createEdition(follower.snapshot, follower.generation, config.quotas);

  const answerBy = (request: IncomingMessage, response: ServerResponse, reply: Reply): void => {
    if (!response.headersSent) tally.answered(classOf(askedOf(request).resolution), reply.status);
    send(request, response, reply);
  };

  const problemOf = (
    request: IncomingMessage,
    code: ProblemCode,
    detail: string,
    extra?: HeaderList,
  ): Reply => problemReply(askedOf(request), code, detail, standingOf(request, clock), extra);

  const problem = (
    request: IncomingMessage,
    response: ServerResponse,
    code: ProblemCode,
    detail: string,
    extra?: HeaderList,
  ): void => {
    answerBy(request, response, problemOf(request, code, detail, extra));
  };

  /** GET and HEAD go on. Neither OPTIONS nor what is refused here costs a token. */
  const allowMethods: RequestHandler = (request, response, next) => {
    const { method } = request;
    if (method === 'GET' || method === 'HEAD') {
      next();
    } else if (method === 'OPTIONS') {
      answerBy(request, response, optionsReply(askedOf(request)));
    } else {
      const detail = `method "${method}": expected GET, HEAD or OPTIONS`;
      problem(request, response, 'method_not_allowed', detail, ALLOW);
    }
  };

  const limiter = createLimiter({
    quotas: edition.quotas,
    clock,
    maximumClients: MAX_CLIENTS,
    shared,
    isDownload: (request) => classOf(askedOf(request).resolution) === 'download',
    refuse: (request, response) => {
      tally.refusals[policyOf(classOf(askedOf(request).resolution))] += 1;
      const seconds = String(standingOf(request, clock)?.nextTokenSeconds ?? 1);
      const detail = `more requests than the limit allows: the next one passes in ${seconds} s`;
      problem(request, response, 'rate_limited', detail, ['Retry-After', seconds]);
    },
  });

  const serveTree: RequestHandler = (request, response) => {
    const asked = askedOf(request);
    const { resolution } = asked;
    if (asked.edition.snapshot === undefined) {
      const retryAfter = ['Retry-After', String(NO_SNAPSHOT_RETRY_SECONDS)];
      problem(request, response, 'no_snapshot', 'nothing has been published yet', retryAfter);
      return undefined;
    }
    if (resolution.kind === 'file') return serveFile(request, response, asked.edition, resolution);
    if (resolution.kind === 'redirect')
      answerBy(request, response, redirectReply(asked, resolution.location));
    else problem(request, response, resolution.code, resolution.detail);
    return undefined;
  };

  /** What can be had at once is answered at once: to wait for a promise would cost more than the answer. */
  const serveFile = (
    request: IncomingMessage,
    response: ServerResponse,
    edition: Edition,
    resolution: ResolvedFile,
  ): Promise<void> | undefined => {
    const known = selectNow(contents, edition, resolution, request.headers['accept-encoding']);
    if (known?.content.bytes === undefined) {
      return serveFromDisk(request, response, edition, resolution, known);
    }
    answerBy(request, response, replyFrom(request, edition, resolution.route, known));
    return undefined;
  };

  const serveFromDisk = async (
    request: IncomingMessage,
    response: ServerResponse,
    edition: Edition,
    resolution: ResolvedFile,
    known: Representation | undefined,
  ): Promise<void> => {
    const acceptEncoding = request.headers['accept-encoding'];
    for (let attempt = 1; attempt <= STREAM_ATTEMPTS; attempt += 1) {
      const representation =
        (attempt === 1 ? known : selectNow(contents, edition, resolution, acceptEncoding)) ??
        (await select(contents, edition, resolution, acceptEncoding));
      if (representation === undefined) {
        problem(request, response, 'not_found', NOTHING_HERE);
        return;
      }
      const reply = replyFrom(request, edition, resolution.route, representation);
      if (reply.part === undefined || reply.body !== undefined || request.method === 'HEAD') {
        answerBy(request, response, reply);
        return;
      }
      const opened = await contents.open(representation.content);
      if (opened !== undefined) {
        tally.answered(resolution.route.class, reply.status);
        await sendFile(request, response, reply, opened);
        return;
      }
    }
    throw new Error('the file was replaced each time it was read');
  };

  /** 200, 206, 304 or 416, the first two without a body if the file is too large to hold. */
  const replyFrom = (
    request: IncomingMessage,
    { headers: table }: Edition,
    route: Route,
    representation: Representation,
  ): Reply => {
    const { method, headers, trace } = request;
    const { content, isHit } = representation;
    if (trace !== undefined) trace.isHit = isHit;
    if (isHit) tally.cache.hits += 1;
    else tally.cache.misses += 1;
    if (isNotModified(headers, content)) return notModifiedReply(table, route, representation);
    // Range has a meaning for GET alone (RFC 9110 §14.2).
    const isRanged = headers.range !== undefined && method === 'GET' && isRangeCurrent(headers, content);
    const range = isRanged ? parseRange(headers.range ?? '', content.size) : undefined;
    if (range !== 'unsatisfiable') return contentReply(table, route, representation, range);
    const asked = headers.range?.slice(0, QUOTED_MAX_LENGTH);
    const detail = `range "${asked}": expected one that begins within ${content.size} bytes`;
    return problemOf(request, 'range_not_satisfiable', detail, ['Content-Range', `bytes */${content.size}`]);
  };

  /** A failing disk, or a mistake of ours: the operator reads what, the client only that. */
  const answerFailure: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const { resolution } = askedOf(request);
    const reason = errorCode(error) ?? String(error);
    logFailure(`can't answer ${resolution.kind === 'file' ? resolution.file : resolution.path}: ${reason}`);
    // Too late for an answer, so let it look incomplete.
    if (response.headersSent) response.destroy();
    else problem(request, response, 'internal', 'the answer could not be made; the request is not at fault');
  };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // Whatever Express should ever answer by itself, it answers without a stack trace.
  app.set('env', 'production');
  const messages = createMessageClasses(app);

  app.use(allowMethods);
  app.use(limiter.middleware);
  app.use(serveTree);
  app.use(answerFailure);

  const { listener: handle, isKept: keepsPrototypes } = guardPrototypes(app, log);

  const answer: RequestListener = (request, response) => {
    if (follower.generation !== edition.generation) {
      edition = createEdition(follower.snapshot, follower.generation, config.quotas);
      limiter.follow(edition.quotas);
    }
    const target = request.url ?? '';
    request.asked = { edition, resolution: edition.resolutions.of(target) };
    // Express takes request.url apart before its first middleware, and answers by itself if that throws, as
    // it does for "http://[/".
    if (!target.startsWith('/')) request.url = '/';
    handle(request, response);
  };

  const listener: RequestListener = (request, response) => {
    // Now, while the socket is sure to be open.
    noteClientAddress(request);
    const looking = follower.refresh();
    if (looking === undefined) answer(request, response);
    else void looking.then(() => answer(request, response));
  };

  return {
    listener,
    messages,
    keepsPrototypes,
    edition: () => edition,
    tally,
    contents,
    limits: limiter.local,
  };
}

function askedOf({ asked }: IncomingMessage): Asked {
  if (asked === undefined) throw new Error('a request reached Express without having been taken apart');
  return asked;
}
