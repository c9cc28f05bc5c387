import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Edition } from './edition.js';
import { errorCode } from './files.js';
import type { HeaderList } from './headers.js';
import type { ProblemCode } from './problems.js';
import { problemReply, type Reply } from './respond.js';
import { MAX_PATH_BYTES } from './target.js';

/** Answers to what never becomes a request, written by hand; after them nothing can be made of a connection. */

/** What Node's parser and timers object to, other than 400. */
const PARSER_STATUS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/**
 * What clientError is answered by. Of the statuses only 414 is an error of the service with a code; the
 * others (400, 408, 413, 431) are of the protocol and go without a body.
 */
export function parserErrorReply(error: Error, edition: Edition): Reply {
  const status = PARSER_STATUS.get(errorCode(error) ?? '') ?? 400;
  const [method = '', path = ''] = status === 431 ? requestLineOf(error) : [];
  if (!/^[A-Z]+$/.test(method) || !path.startsWith('/') || path.length <= MAX_PATH_BYTES) {
    return protocolReply(status, edition);
  }
  const detail = `the path is at least ${path.length} bytes long: expected at most ${MAX_PATH_BYTES}`;
  const reply = refusalReply('uri_too_long', path, detail, edition);
  return method === 'HEAD' ? { ...reply, body: undefined } : reply;
}

/** An error of the protocol that no code of the service names. */
export function protocolReply(status: number, { headers }: Edition): Reply {
  return { status, headers: [...headers.uncached.unrouted, 'Content-Length', '0'], body: undefined };
}

/** An error of the service, for what no app gets to see. */
export function refusalReply(
  code: ProblemCode,
  path: string,
  detail: string,
  edition: Edition,
  extra?: HeaderList,
): Reply {
  const asked = { edition, resolution: { kind: 'refusal', path, code, detail } } as const;
  return problemReply(asked, code, detail, undefined, extra);
}

/** Writes an answer to the connection itself and closes that. */
export function refuse(socket: Duplex, { status, headers, body }: Reply): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, `Date: ${new Date().toUTCString()}`];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  }
  const head = Buffer.from([...lines, 'Connection: close', '', ''].join('\r\n'), 'latin1');
  socket.end(body === undefined ? head : Buffer.concat([head, body]));
}

/**
 * The beginning of what the parser choked on, if it came in one packet: the parser hands out no more than the
 * last one. A longer path than MAX_HEADER_BYTES in several packets is therefore answered by 431.
 */
function requestLineOf(error: Error): string[] {
  const packet: unknown = Reflect.get(error, 'rawPacket');
  return packet instanceof Uint8Array ? Buffer.from(packet).toString('latin1').split(' ', 2) : [];
}
