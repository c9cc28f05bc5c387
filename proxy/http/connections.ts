import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections: how many requests of one are under way, how it ends, and how long it may be quiet. */

/**
 * The most requests of a client that are answered at once: the last response says `Connection: close`,
 * and what follows is dropped, since a client that pipelines could take all memory. None needs more.
 */
const MAX_PIPELINED = 16;
/**
 * The parser takes all requests of a chunk, so it gets so much at a time, and no more when the
 * connection is ending: that is one head, but 37 of the shortest. 1 KiB.
 */
const PARSED_BYTES = 1_024;

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
/** How long a client has to read its last response and close the connection. 1 s. */
const LINGER_MS = 1_000;

/** What is known of a client's connection. */
export interface Connection {
  readonly socket: Socket;
  /** The responses that are under way, in their order. */
  readonly responses: Set<ServerResponse>;
  /** The last request. */
  request: IncomingMessage | undefined;
  /** It ends with the last of its responses, or with a refusal: what follows is dropped. */
  isEnding: boolean;
  /** See {@link measureProgress}; as it was at the last sweep. */
  progress: number;
  /** For how long no request has begun, no response has ended, and no byte of one was taken. */
  quietMs: number;
}

/** @param socket on which node:http listens */
export function trackConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    responses: new Set(),
    request: undefined,
    isEnding: false,
    progress: 0,
    quietMs: 0,
  };
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new Error('node:http does not listen on the connection');
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length && !connection.isEnding; at += PARSED_BYTES) {
      // A request pauses the socket while the client takes nothing: node:http asserts that it gets no
      // more until it resumes. On Node 26, a socket that is destroyed is never paused.
      if (socket.destroyed) return;
      if (socket.isPaused()) {
        socket.unshift(chunk.subarray(at));
        return;
      }
      Reflect.apply(parse, socket, [chunk.subarray(at, at + PARSED_BYTES)]);
    }
  });
  // By this, node:http ends a connection after its last response.
  socket.destroySoon = () => linger(connection);
  socket.once('close', () => {
    // On Node 20 and 22, responses that wait behind another one don't hear of it.
    for (const response of connection.responses) {
      if (response.socket !== null || response.destroyed) continue;
      response.destroy();
      response.emit('close');
    }
  });
  return connection;
}

/** A request has begun: its head is complete. A part of one and empty lines don't end the silence. */
export function begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
  const { responses, socket } = connection;
  connection.request = request;
  // Further requests don't end the silence of a client that takes nothing.
  if (responses.size === 0) connection.quietMs = 0;
  responses.add(response);
  response.once('close', () => {
    responses.delete(response);
    connection.quietMs = 0;
    if (connection.isEnding && responses.size === 0) linger(connection);
  });
  if (responses.size < MAX_PIPELINED) return;
  response.shouldKeepAlive = false;
  // The client is not read before it has taken its responses.
  socket.pause();
}

/** Ends a connection after the responses that are under way. */
export function endConnection(connection: Connection): void {
  const { responses } = connection;
  connection.isEnding = true;
  const last = [...responses].at(-1);
  if (last === undefined) linger(connection);
  else last.shouldKeepAlive = false;
}

/** Ends a connection gracefully: closing it with unread input would discard the response (RST). */
function linger(connection: Connection): void {
  connection.isEnding = true;
  connection.quietMs = 0;
  connection.socket.end();
  connection.socket.resume();
}

/** Closes the connections that have been quiet for too long. */
export function sweep(connections: Iterable<Connection>): void {
  for (const connection of connections) {
    const { socket, responses, isEnding, progress } = connection;
    connection.progress = measureProgress(socket);
    connection.quietMs += SWEEP_MS;
    if (responses.size === 0) {
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
