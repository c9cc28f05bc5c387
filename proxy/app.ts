import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { MAX_CLIENTS, NO_SNAPSHOT_RETRY_SECONDS, type Config } from './config.js';
import { Contents } from './contents.js';
import { createEdition, type Edition } from './edition.js';
import { errorCode } from './files.js';
import type { Effects, SnapshotFollower } from './follower.js';
import { ALLOW, type HeaderList } from './headers.js';
import { createLimiter, standingOf } from './limiter/limiter.js';
import type { ProblemCode } from './problems.js';
import { resolve, type ResolvedFile } from './resolve.js';
import { contentReply, optionsReply, problemReply, redirectReply, type Asked } from './respond.js';
import { send, sendFile } from './send.js';
import { NOTHING_HERE } from './target.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by this app before Express sees the request. */
    asked?: Asked;
  }
}

/** What the proxy does with requests. */
export interface App {
  readonly listener: RequestListener;
  /** The edition in service, for answers given without a request, such as to malformed ones. */
  readonly edition: () => Edition;
}

/**
 * A file replaced between hashing and streaming is read again, once; the generator publishes less often than
 * that.
 */
const STREAM_ATTEMPTS = 2;

/**
 * The proxy as a request listener.
 *
 * @param config the tree and the limits set by hand
 * @param follower what is in service; started by the caller, asked for news with each request
 */
export function createApp(config: Config, follower: SnapshotFollower, { clock, log }: Effects): App {
  const contents = new Contents(config.dist, clock);
  let edition = createEdition(follower.snapshot, follower.generation, config.quotas);

  const problem = (
    request: IncomingMessage,
    response: ServerResponse,
    code: ProblemCode,
    detail: string,
    extra?: HeaderList,
  ): void => {
    send(request, response, problemReply(askedOf(request), code, detail, standingOf(request, clock), extra));
  };

  /** GET and HEAD go on. Neither OPTIONS nor what is refused here costs a token. */
  const allowMethods: RequestHandler = (request, response, next) => {
    const { method } = request;
    if (method === 'GET' || method === 'HEAD') {
      next();
    } else if (method === 'OPTIONS') {
      send(request, response, optionsReply(askedOf(request)));
    } else {
      const detail = `method "${method}": expected GET, HEAD or OPTIONS`;
      problem(request, response, 'method_not_allowed', detail, ALLOW);
    }
  };

  const limiter = createLimiter({
    quotas: edition.quotas,
    clock,
    maximumClients: MAX_CLIENTS,
    isDownload: (request) => {
      const { resolution } = askedOf(request);
      return resolution.kind !== 'redirect' && resolution.route?.class === 'download';
    },
    refuse: (request, response) => {
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
    if (resolution.kind === 'redirect') send(request, response, redirectReply(asked, resolution.location));
    else problem(request, response, resolution.code, resolution.detail);
    return undefined;
  };

  const serveFile = async (
    request: IncomingMessage,
    response: ServerResponse,
    { generation, headers }: Edition,
    { file, route }: ResolvedFile,
  ): Promise<void> => {
    for (let attempt = 1; attempt <= STREAM_ATTEMPTS; attempt += 1) {
      const content = contents.fresh(file, generation) ?? (await contents.read(file, generation));
      if (content === undefined) {
        problem(request, response, 'not_found', NOTHING_HERE);
        return;
      }
      const reply = contentReply(headers, route, content, request.headers);
      if (reply.status !== 200 || reply.body !== undefined || request.method === 'HEAD') {
        send(request, response, reply);
        return;
      }
      const opened = await contents.open(file, content);
      if (opened !== undefined) {
        await sendFile(response, reply, opened);
        return;
      }
    }
    throw new Error('the file was replaced each time it was read');
  };

  /** A failing disk, or a mistake of ours: the operator reads what, the client only that. */
  const answerFailure: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const { resolution } = askedOf(request);
    const reason = errorCode(error) ?? String(error);
    log(`can't answer ${resolution.kind === 'file' ? resolution.file : resolution.path}: ${reason}`);
    problem(request, response, 'internal', 'the answer could not be made; the request is not at fault');
    // Too late for an answer, so let it look incomplete.
    if (!response.writableEnded) response.destroy();
  };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  // Whatever Express should ever answer by itself, it answers without a stack trace.
  app.set('env', 'production');

  app.use(allowMethods);
  app.use(...limiter.middleware);
  app.use(serveTree);
  app.use(answerFailure);

  const answer: RequestListener = (request, response) => {
    if (follower.generation !== edition.generation) {
      edition = createEdition(follower.snapshot, follower.generation, config.quotas);
      limiter.follow(edition.quotas);
    }
    const target = request.url ?? '';
    request.asked = { edition, resolution: resolve(target, edition.routes) };
    // Express takes request.url apart before its first middleware, and answers by itself if that throws, as
    // it does for "http://[/".
    if (!target.startsWith('/')) request.url = '/';
    app(request, response);
  };

  const listener: RequestListener = (request, response) => {
    const looking = follower.refresh();
    if (looking === undefined) answer(request, response);
    else void looking.then(() => answer(request, response));
  };

  return { listener, edition: () => edition };
}

function askedOf({ asked }: IncomingMessage): Asked {
  if (asked === undefined) throw new Error('a request reached Express without having been taken apart');
  return asked;
}
