import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/**
 * Connections, and the bound on their requests that have no finished response.
 *
 * Node parses all requests of a packet before it does anything else, and each of them takes some
 * kilobytes until its response is written. Its only way to stop within a packet is an upgrade: the
 * parser ends with that request, and hands over what follows it. So a request beyond the bound is
 * made to look like one (see messages.ts), and is put back with what follows, to be read again when
 * the responses before it are finished.
 */

/**
 * Requests of a connection without a finished response. A smaller number costs no more processor
 * time, and other clients wait for that many of each connection.
 */
const MAX_UNFINISHED = 4;

/** What is known of a client's connection. */
export interface Connection {
  /** Responses that are not finished. */
  unfinished: number;
  /** The response to the last request; undefined before the first. */
  last: ServerResponse | undefined;
  /** It ends with the last response or with a refusal: nothing further is answered. */
  isEnding: boolean;
  /** Further requests wait for the responses before them. */
  isHeld: boolean;
  /** It has been held, so while the server stops, requests that were sent before may be unread. */
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

/** Whether a request that begins now must not be answered yet, or not at all. */
export function mustWait(socket: Socket): boolean {
  const { unfinished, isEnding, isHeld } = connectionOf(socket);
  return isEnding || isHeld || unfinished >= MAX_UNFINISHED;
}

/** Counts a response until it is finished. */
export function follow(socket: Socket, response: ServerResponse): Connection {
  const connection = connectionOf(socket);
  connection.unfinished += 1;
  connection.last = response;
  response.once('close', () => {
    connection.unfinished -= 1;
    if (connection.unfinished > 0) return;
    const { onFinished } = connection;
    connection.onFinished = undefined;
    onFinished?.();
  });
  return connection;
}

/** Calls back when all responses of a connection are finished, at once if they are. */
export function whenFinished(connection: Connection, act: () => void): void {
  if (connection.unfinished === 0) act();
  else connection.onFinished = act;
}

/**
 * Goes on with a connection whose parser has ended with a request: one that must wait, or one for
 * an upgrade, which a server may ignore (RFC 9110 §7.8). Of an ending connection, what follows is
 * dropped.
 *
 * @param rest what follows the head of the request
 * @param stallTimeoutMs the connection's timeout while it is read
 */
export function resumeAfter(
  request: IncomingMessage,
  {
    server,
    socket,
    rest,
    stallTimeoutMs,
  }: Readonly<{ server: Server; socket: Socket; rest: Buffer; stallTimeoutMs: number }>,
): void {
  const connection = connectionOf(socket);
  if (connection.isEnding) {
    server.emit('connection', socket);
    return;
  }
  // The parser has read past the stream, which believes since the first packet that it is reading.
  socket.push('');
  if (rest.length > 0) socket.unshift(rest);
  socket.unshift(headOf(request));
  server.emit('connection', socket);
  // Node's listener reads on whenever a connection resumes, however much is waiting.
  socket.removeAllListeners('resume');
  if (connection.unfinished === 0) return;
  connection.isHeld = true;
  connection.hasBacklog = true;
  socket.pause();
  whenFinished(connection, () => {
    connection.isHeld = false;
    // Node has set that of an idle connection.
    socket.setTimeout(stallTimeoutMs);
    socket.resume();
  });
}

/** The head of a request as it was received, without Upgrade. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  return Buffer.from([...lines, '', ''].join('\r\n'), 'latin1');
}
