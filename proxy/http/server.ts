import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';

import { canonicalAddress, clientKey, type RangeMatcher } from '../clients.js';
import { errorCode } from '../log.js';
import type { Metrics } from '../ops/metrics.js';
import type { AccessLog } from './access-log.js';
import type { App } from './app.js';
import {
  begin,
  endConnection,
  KEEP_ALIVE_TIMEOUT_MS,
  sweep,
  SWEEP_MS,
  trackConnection,
  type Connection,
} from './connections.js';
import { endsConnection, responseClass } from './request.js';

/** The HTTP server around the app: its bounds, what the parser refuses, and how it stops. */

/** Request line and header fields together; beyond, a 431. 16 KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** From a request's first byte to the end of its headers. 10 s. At most REQUEST_TIMEOUT_MS. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The same to the end of its body, which is never read. 30 s. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often both are checked; with Node's 30 s, a client could stay three times as long. 5 s. */
const TIMEOUT_CHECK_MS = 5_000;
/**
 * While stopping, how long a connection may idle: a request may be on its way, which would find the
 * connection closed. Longer than most round trips. 500 ms.
 */
const STOP_IDLE_MS = 500;

export interface HttpServer {
  /** Not listening yet. */
  readonly server: Server;
  /** Number of open connections. */
  readonly connections: () => number;
  /**
   * Stops accepting, lets requests in flight finish, those on their way included, and closes
   * connections that stay idle.
   *
   * @param boundMs the maximum duration; remaining connections are then cut
   * @returns whether everything finished by itself
   */
  readonly stop: (boundMs: number) => Promise<boolean>;
}

export interface ServerOptions {
  /** Further connections are closed without a response, which would cost what the bound saves. */
  readonly maxConnections: number;
  /** The same for one client (an IPv4 address, or the /56 of an IPv6 address). */
  readonly maxConnectionsPerClient: number;
  /** Peers exempt from the bound per client: proxies with the connections of many clients. */
  readonly isTrusted: RangeMatcher;
  /** Undefined if nobody can read them. */
  readonly metrics: Metrics | undefined;
  readonly accessLog?: AccessLog | undefined;
}

export function createHttpServer(
  app: Pick<App, 'listener' | 'messages'>,
  options: ServerOptions,
): HttpServer {
  const { maxConnections, metrics, accessLog } = options;
  let isStopping = false;

  const listener: RequestListener = (request, response) => {
    const connection = connections.get(request.socket);
    // The parser may have had more than the connection is for.
    if (connection === undefined || connection.isEnding) return;
    const startedMs = performance.now();
    begin(connection, request, response);
    if (isStopping || endsConnection(request)) response.shouldKeepAlive = false;
    accessLog?.follow(request, response);
    if (metrics !== undefined) {
      response.once('close', () => {
        const seconds = (performance.now() - startedMs) / 1000;
        metrics.responded(responseClass(request), response.sentStatus, seconds, response.sentBytes ?? 0);
      });
    }
    app.listener(request, response);
    if (!response.shouldKeepAlive) connection.isEnding = true;
  };

  const server = createServer(
    {
      ...app.messages,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // The app checks this: Node's response would lack the common headers.
      requireHostHeader: false,
    },
    listener,
  );
  // A client may half-close its side after its last request (nc -N); by default Node would then
  // drop the response. The property is in lib/_http_server.js of every Node, but in no type.
  Object.assign(server, { httpAllowHalfOpen: true });
  // By default Node drops fields beyond 1,000; MAX_HEADER_BYTES bounds their number.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  server.on('drop', () => metrics?.connectionDropped('total'));
  // A server may ignore unknown expectations (RFC 9110 §10.1.1); Node would respond with 417.
  server.on('checkExpectation', listener);
  // The body is not wanted: the response is sent at once, without a 100 (Continue).
  server.on('checkContinue', listener);
  server.on('connect', (_request, stream) => {
    const connection = connections.get(stream);
    // Node no longer listens: neither for errors nor for what a response that is under way waits for.
    stream.on('error', () => undefined);
    stream.on('drain', () => [...(connection?.responses ?? [])][0]?.emit('drain'));
    if (connection === undefined) stream.destroy();
    else endConnection(connection);
  });
  server.on('clientError', (error, stream) => {
    const connection = connections.get(stream);
    if (connection === undefined || !stream.writable || connection.socket.bytesRead === 0) {
      stream.destroy();
      return;
    }
    const { isEnding, responses, request, socket } = connection;
    if (isEnding) return;
    // The error is in the body of a request that already has its response.
    if (responses.size === 0 && request?.complete === false) {
      stream.destroy();
      return;
    }
    if (responses.size === 0) {
      const status = PARSER_STATUS.get(errorCode(error) ?? '') ?? 400;
      metrics?.responded('unrouted', status, 0, 0);
      accessLog?.refused(socket, status);
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
    }
    endConnection(connection);
  });

  const connections = trackConnections(server, options);
  const timer = setInterval(() => sweep(connections.values()), SWEEP_MS).unref();
  server.once('close', () => clearInterval(timer));
  return {
    server,
    connections: () => connections.size,
    stop: (boundMs) => {
      isStopping = true;
      return stopServer(server, connections, boundMs);
    },
  };
}

/** Statuses other than 400 for errors of Node's parser and timers, as in lib/_http_server.js. */
const PARSER_STATUS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Tracks a server's connections, and drops those beyond the bound per client. */
function trackConnections(
  server: Server,
  { maxConnectionsPerClient, isTrusted, metrics }: ServerOptions,
): ReadonlyMap<Duplex, Connection> {
  const connections = new Map<Duplex, Connection>();
  const counts = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !isTrusted(remoteAddress)) {
      const client = clientKey(canonicalAddress(remoteAddress) ?? remoteAddress);
      const count = counts.get(client) ?? 0;
      if (count >= maxConnectionsPerClient) {
        metrics?.connectionDropped('client');
        socket.destroy();
        return;
      }
      counts.set(client, count + 1);
      socket.once('close', () => {
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
      });
    }
    connections.set(socket, trackConnection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

async function stopServer(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  boundMs: number,
): Promise<boolean> {
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
    for (const { socket, responses } of connections.values())
      if (responses.size === 0 && socket.bytesRead === bytesRead.get(socket)) socket.destroy();
  }, STOP_IDLE_MS);
  await new Promise<void>((resolve) => {
    // Not close() of node:http, which calls closeIdleConnections() at once.
    NetServer.prototype.close.call(server, () => resolve());
  });
  // The server is closed once its connections are destroyed. Their responses end a moment later, and
  // with them come the last lines of the access log.
  await Promise.all(
    [...connections.values()].map(
      ({ socket }) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    ),
  );
  clearTimeout(bound);
  clearTimeout(idle);
  return isClean;
}
