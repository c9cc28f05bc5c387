import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { errorCode, readChunks, type OpenFile } from './files.js';
import type { Reply } from './respond.js';

/** Writes an answer, in one piece. Does nothing for a client that has gone or has been answered. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Reply,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * Writes an answer whose body is an open file, and closes that. If the file turns out shorter than
 * Content-Length says, the connection is cut: the client sees an incomplete body instead of waiting for the
 * rest of it.
 */
export async function sendFile(
  response: ServerResponse,
  { status, headers }: Reply,
  file: OpenFile,
): Promise<void> {
  try {
    if (response.destroyed || response.headersSent) return;
    response.writeHead(status, headers);
    await pipeline(readChunks(file), response);
  } catch (error) {
    // A client that went away in the middle is not our failure.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await file.handle.close();
  }
}
