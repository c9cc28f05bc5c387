import { close } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { errorCode } from '../log.js';
import { readChunks, type ByteRange } from '../tree/read.js';
import type { HttpResponse } from './request.js';

/**
 * Writes responses. Those of one turn of the event loop are written together at its end, which
 * costs half: a separate write wakes up the client, which then sleeps again before the next one (9
 * instead of 21 us each, with the client on the same machine).
 */

/** Responses whose headers are set, but which are not written yet. */
let pending: { readonly response: ServerResponse; readonly body: Buffer | undefined }[] = [];

/** Longer bodies are not joined with the headers. 8 KiB. */
const JOINED_MAX_BYTES = 8 * 1024;

/** Writes a response at the end of this turn, unless the client has gone or has its response. */
export function write(
  { method }: Pick<IncomingMessage, 'method'>,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, headers);
  if (pending.length === 0) setImmediate(flush);
  pending.push({ response, body: method === 'HEAD' ? undefined : body });
}

/** Writes the pending responses. */
function flush(): void {
  const all = pending;
  pending = [];
  for (const { response, body } of all) {
    if (response.destroyed) continue;
    response.sentStatus = response.statusCode;
    response.sentBytes = body?.length ?? 0;
    end(response, body);
  }
}

/**
 * Writes headers and a short body in a single write: Node joins strings, but would pass two buffers
 * to the kernel, and end() needs no third write.
 */
function end(response: ServerResponse, body: Buffer | undefined): void {
  const { socket } = response;
  if (body === undefined || body.length > JOINED_MAX_BYTES || socket === null) {
    response.end(body);
    return;
  }
  socket.cork();
  response.write(body.toString('latin1'), 'latin1');
  socket.uncork();
  response.end();
}

/**
 * Streams a file or a range of it. If the file is shorter than Content-Length, the connection is
 * cut, so that the client sees an incomplete body instead of waiting.
 *
 * @param open opens the file; undefined if it was replaced
 * @returns whether the response is done: otherwise nothing was written
 */
export async function writeFile(
  response: ServerResponse,
  { status, headers }: HttpResponse,
  range: ByteRange,
  open: () => Promise<number | undefined>,
): Promise<boolean> {
  // A response behind others opens no file before its turn: a connection has one at most.
  if (response.socket === null && !response.destroyed) {
    await new Promise((turn) => response.once('socket', turn).once('close', turn));
  }
  if (response.destroyed) return true;
  const descriptor = await open();
  if (descriptor === undefined) return false;
  if (response.destroyed || response.headersSent) {
    close(descriptor);
    return true;
  }
  response.writeHead(status, headers);
  try {
    await pipeline(counted(readChunks(descriptor, range), response, status), response);
  } catch (error) {
    // A client that left early is not a failure.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
  return true;
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  response: ServerResponse,
  status: number,
): AsyncGenerator<Buffer> {
  response.sentBytes = 0;
  for await (const chunk of chunks) {
    response.sentStatus = status;
    response.sentBytes += chunk.length;
    yield chunk;
  }
}
