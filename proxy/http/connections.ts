import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections, and the bound on their requests that have no finished response.
 *
 * Node parses all requests of a packet before it does anything else, and each of them takes some
 * kilobytes until its response is written: a client that pipelines could take all memory, and the
 * time of others. So the parser gets one head after the other, and none beyond the bound.
 */

/**
 * Requests of a connection without a finished response. A smaller number costs no more processor
 * time, and other clients wait for that many of each connection.
 */
const MAX_UNFINISHED = 4;

/** Node's parser takes no other end of a head. */
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** What is known of a client's connection. */
export interface Connection {
  /** Responses that are not finished. */
  unfinished: number;
  /** The response to the last request; undefined before the first. */
  last: ServerResponse | undefined;
  /** It ends with the last response or with a refusal: what follows is dropped. */
  isEnding: boolean;
  /** Further requests wait for a response. */
  isHeld: boolean;
  /** It was held once, so while the server stops, requests that were sent before may be unread. */
  hasBacklog: boolean;
  /** Whether the body of the last request is incomplete. */
  hasUnreadBody: boolean;
  /** Called once, when all responses are finished. */
  onFinished: (() => void) | undefined;
}

const connections = new WeakMap<Socket, Connection>();

export function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = {
    unfinished: 0,
    last: undefined,
    isEnding: false,
    isHeld: false,
    hasBacklog: false,
    hasUnreadBody: false,
    onFinished: undefined,
  };
  connections.set(socket, connection);
  return connection;
}

/**
 * Puts the bound between a connection and its parser.
 *
 * @param socket on which node:http listens
 */
export function boundRequests(socket: Socket): void {
  const connection = connectionOf(socket);
  const [parse] = socket.listeners('data');
  if (parse === undefined) return;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length && !connection.isEnding;) {
      // Node pauses as well while too much waits to be sent, and then resumes by itself.
      if (!socket.isPaused() && connection.unfinished >= MAX_UNFINISHED) {
        connection.isHeld = true;
        connection.hasBacklog = true;
        socket.pause();
      }
      if (socket.isPaused()) {
        socket.unshift(chunk.subarray(at));
        return;
      }
      const found = chunk.indexOf(END_OF_HEAD, at);
      const end = found < 0 ? chunk.length : found + END_OF_HEAD.length;
      Reflect.apply(parse, socket, [chunk.subarray(at, end)]);
      at = end;
    }
  });
}

/** Counts a response until it is finished. */
export function follow(socket: Socket, response: ServerResponse): Connection {
  const connection = connectionOf(socket);
  connection.unfinished += 1;
  connection.last = response;
  response.on('close', finished);
  return connection;
}

function finished(this: ServerResponse): void {
  const { socket } = this.req;
  const connection = connectionOf(socket);
  connection.unfinished -= 1;
  if (connection.isHeld) {
    connection.isHeld = false;
    socket.resume();
  }
  if (connection.unfinished > 0) return;
  const { onFinished } = connection;
  connection.onFinished = undefined;
  onFinished?.();
}

/** Calls back when all responses of a connection are finished, at once if they are. */
export function whenFinished(connection: Connection, act: () => void): void {
  if (connection.unfinished === 0) act();
  else connection.onFinished = act;
}
