import { closeSync, createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { errorCode } from '../log.js';
import { identityOf, openFile } from '../tree/files.js';
import type { Answer, Stream } from './answer.js';

/**
 * Writes responses. Those of one turn of the event loop are written together at its end, which
 * costs half: a separate write wakes up the client, which then sleeps again before the next one (9
 * instead of 21 us each, with the client on the same machine).
 */

/** Responses whose headers are set, but which are not written yet. */
let pending: { readonly response: ServerResponse; readonly body: Buffer | undefined }[] = [];

/** Longer bodies are not joined with the headers. 8 KiB. */
const JOINED_MAX_BYTES = 8 * 1024;
/** What is read ahead of a client: one or two chunks stay in memory if it does not read. 64 KiB. */
const CHUNK_BYTES = 64 * 1024;
/** A client has 30 s for its response, and the time in which it would be read at 50 kB/s. */
const DEADLINE_MS = 30_000;
const LEAST_BYTES_PER_MS = 50;

/** Cuts the connection of a client that has not taken its response in time. */
function setDeadline(response: ServerResponse, bytes: number): void {
  const { socket } = response;
  // In whole seconds, since Node has one list for all timers of a duration.
  const seconds = Math.ceil((DEADLINE_MS + bytes / LEAST_BYTES_PER_MS) / 1000);
  // After an ordinary end, the system would keep what was not taken for minutes.
  const timer = setTimeout(() => socket?.resetAndDestroy(), seconds * 1000);
  response.once('close', () => clearTimeout(timer));
}

/** Writes a response at the end of this turn, unless the client has gone or has its response. */
export function write(
  { method }: Pick<IncomingMessage, 'method'>,
  response: ServerResponse,
  { status, headers, body }: Answer,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, headers);
  if (pending.length === 0) setImmediate(flush);
  pending.push({ response, body: method === 'HEAD' ? undefined : body });
}

function flush(): void {
  const all = pending;
  pending = [];
  for (const { response, body } of all) {
    const { socket, destroyed } = response;
    if (destroyed) continue;
    response.sentStatus = response.statusCode;
    response.sentBytes = body?.length ?? 0;
    // A single write: Node joins strings, but would pass two buffers to the kernel.
    if (body !== undefined && body.length <= JOINED_MAX_BYTES && socket !== null) {
      socket.cork();
      response.write(body.toString('latin1'), 'latin1');
      socket.uncork();
      response.end();
    } else response.end(body);
    // The rest waits until the client reads.
    if (socket !== null && socket.writableLength > 0) setDeadline(response, response.sentBytes);
  }
}

/**
 * Streams a file or a part of it.
 *
 * @returns whether the response is done: otherwise the file was replaced, and nothing was written
 * @throws errors of the file system; Error if the file is shorter than Content-Length, so that the
 *   connection must be cut: the client would wait for the rest
 */
export async function writeStream(
  response: ServerResponse,
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  { root, file, first, last }: Stream,
): Promise<boolean> {
  if (response.destroyed || response.headersSent) return true;
  const opened = openFile(root, file.path);
  if (opened === undefined) return false;
  if (identityOf(opened.stats) !== file.identity) {
    closeSync(opened.descriptor);
    return false;
  }
  response.writeHead(status, headers);
  const length = last + 1 - first;
  setDeadline(response, length);
  const chunks = createReadStream('', {
    fd: opened.descriptor,
    start: first,
    end: last,
    highWaterMark: CHUNK_BYTES,
  });
  response.sentBytes = 0;
  chunks.on('data', (chunk) => {
    response.sentStatus = status;
    response.sentBytes = (response.sentBytes ?? 0) + chunk.length;
  });
  try {
    await pipeline(chunks, response, { end: false });
  } catch (error) {
    // A client that left early is not a failure.
    if (errorCode(error) === 'ERR_STREAM_PREMATURE_CLOSE') return true;
    throw error;
  }
  if (chunks.bytesRead < length)
    throw new Error(`the file has become ${length - chunks.bytesRead} bytes shorter`);
  response.end();
  return true;
}
