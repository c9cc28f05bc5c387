import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { errorCode, readChunks, type OpenFile } from './files.js';
import type { Reply } from './respond.js';

/** Longer bodies are handed over as they are. 8 KiB. */
const JOINED_MAX_BYTES = 8 * 1024;

/** Writes an answer, in one piece. Does nothing for a client that has gone or has been answered. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Reply,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, headers);
  const isHead = request.method === 'HEAD';
  if (!isHead && request.trace !== undefined) request.trace.bytes = body?.length ?? 0;
  if (answered.length === 0) setImmediate(endAll);
  answered.push({ response, body: isHead ? undefined : body });
}

interface Answered {
  readonly response: ServerResponse;
  readonly body: Buffer | undefined;
}

let answered: Answered[] = [];

function endAll(): void {
  const all = answered;
  answered = [];
  for (const { response, body } of all) {
    if (response.destroyed) continue;
    // A short text goes out in one piece with the headers, which costs less than copying it once.
    if (body !== undefined && body.length <= JOINED_MAX_BYTES) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
  }
}

/**
 * Writes an answer whose body is a part of an open file, or all of it, and closes that. If the file turns out
 * shorter than Content-Length says, the connection is cut: the client sees an incomplete body instead of
 * waiting for the rest of it.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, part }: Reply,
  file: OpenFile,
): Promise<void> {
  try {
    if (response.destroyed || response.headersSent) return;
    response.writeHead(status, headers);
    await pipeline(counted(readChunks(file, part), request), response);
  } catch (error) {
    // A client that went away in the middle is not our failure.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await file.handle.close();
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, { trace }: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    if (trace !== undefined) trace.bytes += chunk.length;
  }
}
