import { once } from 'node:events';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { anonymize, canonicalAddress, clientKey, type RangeMatcher } from '../limiter/clients.js';
import { errorCode, type AccessLog } from '../log.js';
import type { Metrics } from '../operations.js';
import type { App } from './app.js';
import { endsConnection } from './request.js';

/** The HTTP server around the app: its bounds, what the parser refuses, and how it stops. */

/** Longer than load balancers and CDNs wait (60 s), so that they close first and no request is lost. 75 s. */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const BOUNDS = {
  // Request line and header fields together; longer ones get a 431. 16 KiB.
  maxHeaderSize: 16 * 1024,
  // From a request's first byte to the end of its headers, 10 s, and of its body, which is never read, 30 s.
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // How often both are checked; with Node's 30 s, a client could stay three times as long. 5 s.
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  // The app checks this: Node's response is chunked, and lacks the common headers.
  requireHostHeader: false,
};
/** The most requests of a connection that wait for responses: no client needs more. */
const MAX_UNANSWERED = 16;
/** How long a connection is still read after the last response, unless the client closes its side. 1 s. */
const LINGER_MS = 1_000;
/** While stopping, how long a connection may idle, since a request may be on its way. 500 ms. */
const STOP_IDLE_MS = 500;

export interface ServerOptions {
  /** Further connections are closed without a response, which would cost what the bound saves. */
  readonly maxConnections: number;
  /** The same for one client (an IPv4 address, or the /56 of an IPv6 address). */
  readonly maxConnectionsPerClient: number;
  /** Peers exempt from the bound per client: proxies with the connections of many clients. */
  readonly isTrusted: RangeMatcher;
  readonly metrics: Metrics | undefined;
  readonly accessLog?: AccessLog | undefined;
}

/** A client's connection. */
interface Connection {
  readonly socket: Socket;
  /** Requests without a complete response. */
  unanswered: number;
  /** The last request that was answered, or is being answered. */
  request: IncomingMessage | undefined;
  /** Whether the connection ends with the last of its responses, and what follows is dropped. */
  isEnding: boolean;
}

/** The server, not listening yet. */
export function createHttpServer(app: Pick<App, 'listener' | 'messages'>, options: ServerOptions) {
  const { metrics, accessLog } = options;
  const server = createServer({ ...app.messages, ...BOUNDS });
  // A client may half-close its side after its last request (nc -N); by default Node would then
  // drop the response. The property is in lib/_http_server.js of every Node, but in no type.
  Object.assign(server, { httpAllowHalfOpen: true });
  // By default Node drops fields beyond 1,000; their size bounds their number.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections;
  server.on('drop', () => metrics?.drops.inc({ reason: 'total' }));
  const connections = trackConnections(server, options);
  let isStopping = false;

  /** Nothing is done for a request before its turn, so a connection has one response in memory. */
  const onRequest: RequestListener = (request, response) => {
    const connection = connections.get(request.socket);
    // The parser may pass on more requests after the one that ends the connection.
    if (connection === undefined || connection.isEnding || connection.socket.destroyed) return;
    connection.unanswered += 1;
    if (connection.unanswered > MAX_UNANSWERED) {
      stopParser(connection.socket);
      connection.socket.destroy();
      return;
    }
    connection.request = request;
    if (response.socket === null) response.once('socket', () => answer(connection, request, response));
    else answer(connection, request, response);
  };

  const answer = (connection: Connection, request: IncomingMessage, response: ServerResponse): void => {
    const startedMs = performance.now();
    const peer = request.socket.remoteAddress;
    response.once('close', () => {
      connection.unanswered -= 1;
      if (connection.isEnding && connection.unanswered === 0) connection.socket.destroySoon();
      report(request, response, peer, performance.now() - startedMs);
    });
    // While stopping, the last of the requests that have arrived ends the connection.
    const isLast = isStopping && connection.unanswered === 1;
    if (isLast || endsConnection(request)) response.shouldKeepAlive = false;
    app.listener(request, response);
  };

  /** Counts and logs a response. */
  const report = (
    request: IncomingMessage,
    response: ServerResponse,
    peer: string | undefined,
    durationMs: number,
  ): void => {
    const { sentStatus: status = null, sentBytes: bytes = 0 } = response;
    const { context, method = null, clientAddress = peer } = request;
    const { class: routeClass = 'unrouted', cache = null } = context ?? {};
    metrics?.responded(routeClass, status, durationMs / 1000, bytes);
    accessLog?.({
      method,
      path: context?.match.path ?? request.url?.replace(/\?.*/s, '') ?? null,
      status,
      bytes,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      class: routeClass,
      cache,
      address: clientAddress === undefined ? null : anonymize(clientAddress),
      aborted: !response.writableFinished,
    });
  };

  server.on('request', onRequest);
  // A server may ignore unknown expectations (RFC 9110 §10.1.1); Node would respond with 417.
  server.on('checkExpectation', onRequest);
  // The body is not wanted: the response is sent at once, without a 100 (Continue).
  server.on('checkContinue', onRequest);
  server.on('clientError', (error, stream) => {
    const connection = connections.get(stream);
    if (connection?.isEnding === true) return;
    // The error may be in the body of a request that has its response.
    const hasAnswer = connection?.unanswered === 0 && connection.request?.complete === false;
    if (connection === undefined || !stream.writable || hasAnswer || connection.socket.bytesRead === 0) {
      stream.destroy();
      return;
    }
    connection.isEnding = true;
    if (connection.unanswered > 0) return;
    const status = PARSER_STATUS.get(errorCode(error) ?? '') ?? 400;
    metrics?.responded('unrouted', status, 0, 0);
    const { remoteAddress } = connection.socket;
    const address = remoteAddress === undefined ? null : anonymize(remoteAddress);
    accessLog?.({ ...UNPARSED, status, address, aborted: false });
    const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
    connection.socket.write(text);
    connection.socket.destroySoon();
  });

  return {
    server,
    /** The number of open connections. */
    connections: (): number => connections.size,
    /** See stopServer(). */
    stop: (boundMs: number): Promise<boolean> => {
      isStopping = true;
      return stopServer(server, connections, boundMs);
    },
  };
}

/**
 * Has the parser of a connection that ends stop. It would go on to make objects of all requests in its chunk, up to
 * 1,800, and of those that arrive later, which Node keeps until the connection is closed.
 */
function stopParser(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  // What `onIncoming` returns goes to llhttp, which parses nothing after an upgrade (2). The property
  // is in lib/_http_server.js of every Node, but in no type.
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => 2);
}

/** What the access log says of bytes that the parser refuses. */
const UNPARSED = { method: null, path: null, bytes: 0, duration_ms: null, class: 'unrouted', cache: null };

/** Statuses other than 400 for errors of Node's parser and timers, as in lib/_http_server.js. */
const PARSER_STATUS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

type Connections = ReadonlyMap<Duplex, Connection>;

/** Tracks a server's connections, and drops those beyond the bound per client. */
function trackConnections(server: Server, options: ServerOptions): Connections {
  const { maxConnectionsPerClient, isTrusted, metrics } = options;
  const connections = new Map<Duplex, Connection>();
  const counts = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !isTrusted(remoteAddress)) {
      const client = clientKey(canonicalAddress(remoteAddress) ?? remoteAddress);
      const count = counts.get(client) ?? 0;
      if (count >= maxConnectionsPerClient) {
        metrics?.drops.inc({ reason: 'client' });
        socket.destroy();
        return;
      }
      counts.set(client, count + 1);
      socket.once('close', () => {
        counts.set(client, (counts.get(client) ?? 1) - 1);
        if (counts.get(client) === 0) counts.delete(client);
      });
    }
    const connection: Connection = { socket, unanswered: 0, request: undefined, isEnding: false };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    // Node calls this after a last response, too.
    socket.destroySoon = () => closeInStages(connection);
  });
  return connections;
}

/**
 * Closes a connection after what is written, in stages (RFC 9112 §9.6): a closed socket answers further bytes with a
 * reset, and the client loses what it has not read yet. So they are read for a while, and dropped.
 */
function closeInStages(connection: Connection): void {
  const { socket } = connection;
  connection.isEnding = true;
  stopParser(socket);
  if (socket.destroyed || socket.writableEnded) return;
  socket.end(() => {
    const lingering = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(lingering));
  });
}

/**
 * Stops accepting, lets requests in flight finish, those on their way included, and closes connections
 * that stay idle.
 *
 * @param boundMs the maximum duration; remaining connections are then cut
 * @returns whether everything finished by itself
 */
async function stopServer(server: Server, connections: Connections, boundMs: number): Promise<boolean> {
  let isClean = true;
  const bound = setTimeout(() => {
    isClean = false;
    // Not closeAllConnections(), which covers only connections that are HTTP at present.
    for (const { socket } of connections.values()) socket.destroy();
  }, boundMs);
  // Connections that become idle from now on.
  server.keepAliveTimeout = STOP_IDLE_MS;
  // Those that are idle now. Not closeIdleConnections(), which also closes connections with a
  // response that is not flushed yet, and keeps those that were opened in advance but never used.
  const bytesRead = new Map([...connections.values()].map(({ socket }) => [socket, socket.bytesRead]));
  const idle = setTimeout(() => {
    for (const { socket, unanswered } of connections.values())
      if (unanswered === 0 && socket.bytesRead === bytesRead.get(socket)) socket.destroy();
  }, STOP_IDLE_MS);
  // Not close() of node:http, which calls closeIdleConnections() at once.
  const close = (resolve: () => void): void => void NetServer.prototype.close.call(server, resolve);
  await new Promise<void>((resolve) => setImmediate(close, resolve));
  // Responses that were cut end a moment later, and with them come the last lines of the access log.
  await Promise.all([...connections.values()].map(({ socket }) => once(socket, 'close')));
  clearTimeout(bound);
  clearTimeout(idle);
  return isClean;
}
