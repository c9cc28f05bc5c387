import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';

import { canonicalAddress, clientKey } from '../limiter/client-ip.js';
import { errorCode } from '../log.js';
import type { AccessLog } from '../ops/access-log.js';
import type { Metrics } from '../ops/metrics.js';
import type { ActiveSnapshot } from '../tree/watcher.js';
import type { App } from './app.js';
import { ALLOW } from './headers.js';
import { settleBody } from './request-rules.js';
import { MAX_PATH_BYTES } from './request-target.js';
import { protocolError, type HttpResponse } from './responses.js';
import { flush } from './writer.js';

/** The HTTP server around the app: its bounds, and its responses to what never becomes a request. */

/** Request line and header fields together; Node answers 431 beyond. 16 KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** From the first byte of a request to the end of its headers. 10 s. Must not exceed REQUEST_TIMEOUT_MS. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The same to the end of its body, which nobody reads. 30 s. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two above are checked; Node's own 30 s would let a slow client stay three times as long. 5 s. */
const TIMEOUT_CHECK_MS = 5_000;
/**
 * Longer than load balancers and CDNs keep an idle connection (60 s is common), so that they close it and no request
 * is lost. 75 s.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * A connection on which nothing moves for so long is closed, such as one whose client takes nothing of a download.
 * While nothing is asked on it, KEEP_ALIVE_TIMEOUT_MS counts instead. 30 s.
 */
const STALL_TIMEOUT_MS = 30_000;
/** A refused connection that its client does not close is closed after this time: enough to read the response. 1 s. */
const LINGER_MS = 1_000;
/** How often connections that have become idle are looked for while stopping. */
const STOP_SWEEP_MS = 50;

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
  /** Further connections are closed without a response: that would cost what the bound is there to save. */
  readonly maxConnections: number;
  /** The same for one client (an IPv4 address, or the /56 of an IPv6 address). */
  readonly maxConnectionsPerClient: number;
  /** The peers that the bound for one client is not for: proxies that bring the connections of many. */
  readonly isTrusted: (address: string) => boolean;
  readonly active: () => ActiveSnapshot;
  readonly metrics: Metrics;
  readonly accessLog?: AccessLog | undefined;
}

export function createHttpServer(
  app: Pick<App, 'listener' | 'messages'>,
  options: ServerOptions,
): HttpServer {
  const { maxConnections, metrics, accessLog, active } = options;
  let isStopping = false;
  /** The last response begun on a connection. */
  const lastResponse = new WeakMap<Socket, ServerResponse>();
  /** Connections on which nothing is read any more: they end with the response under way, or with a refusal. */
  const ending = new WeakSet<Socket>();
  /** Connections on which the rest of a body may be to come. */
  const unreadBody = new WeakSet<Socket>();

  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    lastResponse.set(socket, response);
    if (isStopping) response.shouldKeepAlive = false;
    accessLog?.follow(request, response);
    if (settleBody(request, response)) {
      unreadBody.add(socket);
      request.once('end', () => unreadBody.delete(socket));
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
      // Checked by the app: Node's response would lack what every response of this service has.
      requireHostHeader: false,
    },
    listener,
  );
  server.timeout = STALL_TIMEOUT_MS;
  // A client that has sent all it wants to may end its side (nc -N): by default Node would then end the connection
  // without the response. The property is in lib/_http_server.js of every Node, and in no type.
  Object.assign(server, { httpAllowHalfOpen: true });
  // By default Node drops what is beyond 1,000; MAX_HEADER_BYTES bounds their number.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  server.on('drop', () => metrics.connectionDropped('total'));
  // A server may ignore an expectation that it does not know (RFC 9110 §10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', listener);
  // The body that it waits to send is not wanted: the response comes at once instead of asking for it.
  server.on('checkContinue', listener);
  // There is no listener for CONNECT: Node then closes the connection. With one, it would hand over the socket with
  // no timeout on it.
  server.on('clientError', (error, stream) => {
    // Each further packet is an error of its own.
    if (stream instanceof Socket && ending.has(stream)) return;
    flush();
    if (!(stream instanceof Socket) || !stream.writable || stream.bytesRead === 0) {
      stream.destroy();
      return;
    }
    const response = lastResponse.get(stream);
    if (response !== undefined && !response.writableFinished) {
      // A request before this one is still to have its response; another status line would be taken for its body.
      ending.add(stream);
      response.shouldKeepAlive = false;
      response.once('close', () => linger(stream));
      return;
    }
    if (unreadBody.has(stream)) {
      // What is wrong is in the body of a request that has its response.
      stream.destroy();
      return;
    }
    ending.add(stream);
    const reply = parserError(error, active());
    metrics.responded('unrouted', reply.status, 0, 0);
    accessLog?.refused(stream, reply.status);
    refuse(stream, reply);
  });

  const sockets = trackConnections(server, options);
  return {
    server,
    connections: () => sockets.size,
    stop: (boundMs) => {
      isStopping = true;
      return stopServer(server, sockets, boundMs);
    },
  };
}

/** All connections of a server, none of them beyond what one client may have. */
function trackConnections(
  server: Server,
  { maxConnectionsPerClient, isTrusted, metrics }: ServerOptions,
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !isTrusted(remoteAddress)) {
      const client = clientKey(canonicalAddress(remoteAddress) ?? remoteAddress);
      const count = counts.get(client) ?? 0;
      if (count >= maxConnectionsPerClient) {
        metrics.connectionDropped('client');
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
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** What Node's parser and timers object to, other than 400. */
const PARSER_STATUS = new Map([
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);
/** The beginning of a request line, as far as it is one. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\/[^ ?]*|\*)/;

/**
 * The response to what Node's parser refuses: it never became a request, so it has no body that could name one. The
 * parser hands out the last packet alone, so that of a request line in several packets nothing can be said.
 */
function parserError(error: Error, active: ActiveSnapshot): HttpResponse {
  const code = errorCode(error) ?? '';
  const packet: unknown = Reflect.get(error, 'rawPacket');
  const text = packet instanceof Uint8Array ? Buffer.from(packet).toString('latin1') : '';
  const path = REQUEST_LINE.exec(text)?.[1];
  if (code === 'HPE_INVALID_METHOD' && path !== undefined) return protocolError(active, 405, ALLOW);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return protocolError(active, path !== undefined && path.length > MAX_PATH_BYTES ? 414 : 431);
  }
  return protocolError(active, PARSER_STATUS.get(code) ?? 400);
}

/** Writes a response to the connection itself, after which nothing can be made of that. */
function refuse(socket: Socket, { status, headers }: HttpResponse): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, `Date: ${new Date().toUTCString()}`];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  }
  socket.write([...lines, '', ''].join('\r\n'), 'latin1');
  linger(socket);
}

/** Ends a connection. Closing it with input unread would take back what the client has not read yet. */
function linger(socket: Socket): void {
  if (socket.destroyed) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

async function stopServer(server: Server, sockets: ReadonlySet<Socket>, boundMs: number): Promise<boolean> {
  let isClean = true;
  const bound = setTimeout(() => {
    isClean = false;
    // Not closeAllConnections(): it knows only those that are HTTP at present.
    for (const socket of sockets) socket.destroy();
  }, boundMs);
  // close() closes what is idle now. A connection that has a request becomes idle, and would live on, afterwards; and
  // one that a client opened in advance and never used counts as busy.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, STOP_SWEEP_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearTimeout(bound);
  clearInterval(sweep);
  return isClean;
}
