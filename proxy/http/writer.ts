import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { errorCode } from '../log.js';
import { readChunks, type OpenFile } from '../tree/files.js';
import type { RequestContext } from './context.js';
import type { ByteRange } from './ranges.js';
import type { HttpResponse } from './responses.js';

/**
 * Writes responses. Those of one turn of the event loop are written at its end, one after the other, which costs half:
 * each write on its own wakes up the client, and lets it fall asleep again before the next (9 instead of 21 us for
 * each, where the client is on the same machine).
 */

/** Responses whose headers are decided and whose end is not yet written. */
let pending: { readonly response: ServerResponse; readonly body: Buffer | undefined }[] = [];

/** A longer body is handed over as it is. 8 KiB. */
const JOINED_MAX_BYTES = 8 * 1024;

/** Writes a response at the end of this turn. Does nothing if the client has gone or has its response. */
export function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, headers);
  const sent = request.method === 'HEAD' ? undefined : body;
  if (request.context !== undefined) request.context.bytes = sent?.length ?? 0;
  if (pending.length === 0) setImmediate(flush);
  pending.push({ response, body: sent });
}

/** Writes those that wait for the end of this turn now. */
export function flush(): void {
  const all = pending;
  pending = [];
  for (const { response, body } of all) if (!response.destroyed) end(response, body);
}

/**
 * Headers and a short body in one piece and one plain write: as a string Node joins them, where it would hand two
 * buffers to the kernel, and its end makes no third write.
 */
function end(response: ServerResponse, body: Buffer | undefined): void {
  const { socket } = response;
  // Without a socket it waits for the response to an earlier request on its connection.
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
 * Writes a response whose body is an open file or a part of it, and closes the file. If the file turns out to be
 * shorter than Content-Length says, the connection is cut: the client sees an incomplete body instead of waiting for
 * the rest of it.
 */
export async function writeFile(
  context: RequestContext,
  response: ServerResponse,
  { status, headers }: HttpResponse,
  file: OpenFile,
  range: ByteRange,
): Promise<void> {
  try {
    if (response.destroyed || response.headersSent) return;
    response.writeHead(status, headers);
    await pipeline(counted(readChunks(file, range), context), response);
  } catch (error) {
    // A client that left in the middle is no failure of ours.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await file.handle.close();
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, context: RequestContext): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    context.bytes += chunk.length;
  }
}
