import { createServer, STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { App } from './app.js';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_MS,
} from './config.js';
import { errorCode } from './files.js';
import { ALLOW, type HeaderList } from './headers.js';
import { MAX_PATH_BYTES } from './target.js';

/**
 * The HTTP server around the app: its limits, its answers to what never becomes a request, and how it stops.
 */
export interface HttpServer {
  /** Not listening yet. */
  readonly server: Server;
  /**
   * Stops accepting, closes what is idle, and lets what is in flight finish.
   *
   * @param boundMs how long that may take; connections still open then are cut
   * @returns whether everything finished by itself
   */
  readonly stop: (boundMs: number) => Promise<boolean>;
}

/** What Node's parser and timers object to, other than 400. */
const PARSER_STATUS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** How often connections that have become idle are looked for while stopping. */
const STOP_SWEEP_MS = 50;

export function createHttpServer(app: App): HttpServer {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    app.listener,
  );
  // A server may ignore an expectation it does not know (RFC 9110 §10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', app.listener);
  server.on('clientError', (error, socket) => {
    // Mid-answer another status line would be taken for its body. Node keeps the answer in this field, and
    // asks it in its own handler, too.
    const isAnswering = Boolean(Reflect.get(socket, '_httpMessage'));
    if (!socket.writable || isAnswering) socket.destroy();
    else refuse(socket, statusOf(error), app.edition().headers.uncached.unrouted);
  });
  // CONNECT never becomes a request, and without a listener Node just hangs up.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    refuse(socket, 405, [...app.edition().headers.uncached.unrouted, ...ALLOW]);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return { server, stop: (boundMs) => stop(server, sockets, boundMs) };
}

/** The smallest whole answer, after which nothing on this connection can be made sense of. */
function refuse(socket: Duplex, status: number, headers: HeaderList): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, `Date: ${new Date().toUTCString()}`];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  }
  socket.end([...lines, 'Content-Length: 0', 'Connection: close', '', ''].join('\r\n'));
}

/** A request line too long for the parser is a path too long for us, as far as the last packet shows it. */
function statusOf(error: Error): number {
  const status = PARSER_STATUS.get(errorCode(error) ?? '') ?? 400;
  const packet: unknown = Reflect.get(error, 'rawPacket');
  if (status !== 431 || !(packet instanceof Uint8Array)) return status;
  const [method = '', path = ''] = Buffer.from(packet).toString('latin1').split(' ', 2);
  return /^[A-Z]+$/.test(method) && path.startsWith('/') && path.length > MAX_PATH_BYTES ? 414 : 431;
}

async function stop(server: Server, sockets: ReadonlySet<Socket>, boundMs: number): Promise<boolean> {
  let isClean = true;
  const bound = setTimeout(() => {
    isClean = false;
    server.closeAllConnections();
  }, boundMs);
  // close() closes what is idle now. A connection that was answering becomes idle, and would live on,
  // afterwards; and one that a client opened in advance and never used counts as busy.
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
