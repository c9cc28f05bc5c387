import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections: one request of each at a time, and bounds on how long one may be quiet.
 *
 * Node parses all requests of a packet before it does anything else, and queues their responses: a
 * client that pipelines could take all memory and the time of others, and on Node 20 and 22 queued
 * responses never hear that their connection has ended. So, as in nginx, the parser gets one head
 * after the other, each after the response to the one before. Every response then has the
 * connection from the start, and a connection has at most one open file.
 */

/** Node's parser takes no other end of a head. */
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** How often `sweep` must be called. A sweep counts as this long, also if it is late. 1 s. */
export const SWEEP_MS = 1_000;
/**
 * Longer than the idle timeout of load balancers and CDNs (commonly 60 s), so that they close
 * connections first and no request is lost. 75 s.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * A response of which the client takes nothing for this long is cut. The system's send buffer takes
 * bytes again when a third of it is free, so a client that reads 150 kB/s is safe with one of 6 MB,
 * which is larger than usual. 30 s.
 */
const STALL_TIMEOUT_MS = 30_000;
/** How long a refused client has to read the response and close the connection. 1 s. */
const LINGER_MS = 1_000;

/** What is known of a client's connection. */
export interface Connection {
  readonly socket: Socket;
  /** The response that is under way. */
  response: ServerResponse | undefined;
  /** It ends with that response or with a refusal: what follows is dropped. */
  isEnding: boolean;
  /** A request had to wait once, so while the server stops, there may be others that are unread. */
  hasBacklog: boolean;
  /** Whether the body of the last request is incomplete. */
  hasUnreadBody: boolean;
  /** See {@link measureProgress}; as it was at the last sweep. */
  progress: number;
  /** For how long no request has begun, no response has ended, and no byte of one was taken. */
  quietMs: number;
}

/**
 * Has the parser wait while a response is under way.
 *
 * @param socket on which node:http listens
 */
export function trackConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    response: undefined,
    isEnding: false,
    hasBacklog: false,
    hasUnreadBody: false,
    progress: 0,
    quietMs: 0,
  };
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new Error('node:http does not listen on the connection');
  socket.removeAllListeners('data');
  // The end of a head may be in two chunks; the parser then gets the rest of it byte by byte.
  const most = END_OF_HEAD.length - 1;
  let isPartial = false;
  socket.on('data', (chunk: Buffer) => {
    const seam = isPartial ? most : 0;
    for (let at = 0; at < chunk.length && !connection.isEnding;) {
      if (connection.response !== undefined) {
        connection.hasBacklog = true;
        socket.pause();
        socket.unshift(chunk.subarray(at));
        return;
      }
      const head = chunk.indexOf(END_OF_HEAD, Math.max(0, at - most));
      isPartial = at < seam || head < 0;
      const end = at < seam ? at + 1 : head < 0 ? chunk.length : head + END_OF_HEAD.length;
      Reflect.apply(parse, socket, [chunk.subarray(at, end)]);
      at = end;
    }
  });
  return connection;
}

/** A request has begun: its head is complete. A part of one and empty lines don't end the silence. */
export function begin(connection: Connection, response: ServerResponse): void {
  connection.response = response;
  connection.quietMs = 0;
}

/** The response has ended, or its connection has. */
export function finish(connection: Connection): void {
  connection.response = undefined;
  connection.quietMs = 0;
  if (connection.isEnding) linger(connection);
  else if (!connection.socket.destroyed) connection.socket.resume();
}

/** Ends a connection gracefully. Closing it with unread input would discard the response (RST). */
export function linger(connection: Connection): void {
  connection.isEnding = true;
  connection.quietMs = 0;
  connection.socket.end();
  connection.socket.resume();
}

/** Closes the connections that have been quiet for too long. */
export function sweep(connections: Iterable<Connection>): void {
  for (const connection of connections) {
    const { socket, response, isEnding, progress } = connection;
    connection.progress = measureProgress(socket);
    connection.quietMs += SWEEP_MS;
    if (response === undefined) {
      if (connection.quietMs > (isEnding ? LINGER_MS : KEEP_ALIVE_TIMEOUT_MS)) socket.destroy();
    } else if (connection.progress !== progress) {
      connection.quietMs = 0;
    } else if (connection.quietMs > STALL_TIMEOUT_MS) {
      // After an ordinary end, the system would keep what was not taken for minutes.
      socket.resetAndDestroy();
    }
  }
}

/**
 * A number that changes whenever the system takes bytes of a response. Of a long write it takes one
 * part after the other, which Node tells only by its handle; Node's own time-out reads that as well
 * (lib/net.js, _onTimeout).
 */
function measureProgress(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const queued: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0;
  return socket.bytesWritten - socket.writableLength - Number(queued);
}
