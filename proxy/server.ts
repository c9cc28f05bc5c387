import { createServer, ServerResponse, type RequestListener, type Server } from 'node:http';
import { Socket } from 'node:net';

import type { AccessLog } from './access-log.js';
import type { App } from './app.js';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  STALL_TIMEOUT_MS,
  TIMEOUT_CHECK_MS,
} from './config.js';
import { ALLOW } from './headers.js';
import { parserErrorReply, protocolReply, refusalReply, refuse } from './refuse.js';
import { hasKnownLength, hasValidHost, settleBody } from './request-rules.js';
import type { Reply } from './respond.js';
import { endAnswers, send } from './send.js';
import { stopServer } from './stop.js';

/** The HTTP server around the app: its limits, and its answers to what never reaches the app. */

export interface HttpServer {
  /** Not listening yet. */
  readonly server: Server;
  /** Connections open at present. */
  readonly connections: () => number;
  /**
   * Stops accepting, closes what is idle, and lets what is in flight finish.
   *
   * @param boundMs how long that may take; connections still open then are cut
   * @returns whether everything finished by itself
   */
  readonly stop: (boundMs: number) => Promise<boolean>;
}

export interface ServerOptions {
  /** Further connections are closed unanswered: an answer would cost what the limit is there to save. */
  readonly maxConnections?: number;
  readonly accessLog?: AccessLog | undefined;
}

export function createHttpServer(app: App, { maxConnections, accessLog }: ServerOptions = {}): HttpServer {
  /** Connections on which the rest of a body may be to come. */
  const owing = new WeakSet<Socket>();

  const listener: RequestListener = (request, response) => {
    accessLog?.follow(request, response);
    if (!hasValidHost(request) || !hasKnownLength(request)) {
      const reply = protocolReply(400, app.edition());
      app.tally.answered('unrouted', reply.status);
      send(request, response, { ...reply, headers: [...reply.headers, 'Connection', 'close'] });
      return;
    }
    if (settleBody(request, response)) {
      const { socket } = request;
      owing.add(socket);
      request.once('end', () => owing.delete(socket));
    }
    app.listener(request, response);
  };

  const server = createServer(
    {
      ...app.messages,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Checked here: Node's answer would lack what every answer of this service carries.
      requireHostHeader: false,
    },
    listener,
  );
  server.timeout = STALL_TIMEOUT_MS;
  // By default Node drops what is beyond 1,000; MAX_HEADER_BYTES bounds their number.
  server.maxHeadersCount = 0;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on('drop', () => {
    app.tally.droppedConnections += 1;
  });
  // A server may ignore an expectation it does not know (RFC 9110 §10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', listener);
  // The body it waits to send is not wanted: answered at once instead of asking for it.
  server.on('checkContinue', listener);

  const refuseBy = (socket: Socket, reply: Reply): void => {
    app.tally.answered('unrouted', reply.status);
    accessLog?.refused(socket, reply.status);
    refuse(socket, reply);
  };
  server.on('clientError', (error, socket) => {
    // Mid-answer another status line would be taken for its body. Node keeps the answer in this field, and
    // asks it in its own handler, too. Nor is there anything to say on a connection that never said anything,
    // or to a request that has its answer and only fails to end.
    endAnswers();
    const answering: unknown = Reflect.get(socket, '_httpMessage');
    const isOpen = socket instanceof Socket && socket.writable;
    if (!isOpen || socket.bytesRead === 0 || owing.has(socket)) socket.destroy();
    else if (answering instanceof ServerResponse && answering.writableEnded) socket.destroySoon();
    else if (answering) socket.destroy();
    else refuseBy(socket, parserErrorReply(error, app.edition()));
  });
  // CONNECT never becomes a request, and without a listener Node just hangs up.
  server.on('connect', ({ url = '' }, socket) => {
    socket.on('error', () => socket.destroy());
    const detail = 'method "CONNECT": expected GET, HEAD or OPTIONS';
    const reply = refusalReply('method_not_allowed', url, detail, app.edition(), ALLOW);
    if (socket instanceof Socket) refuseBy(socket, reply);
  });

  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    server,
    connections: () => sockets.size,
    stop: (boundMs) => stopServer(server, sockets, boundMs),
  };
}
