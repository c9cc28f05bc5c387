import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ErrorCode } from './headers.js';

/** What every request has to meet before its target is looked at. */

/** Of a request's body, which nobody reads, so much is let pass before its connection is closed. 64 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

/** uri-host and port (RFC 9110 §7.2); a client without an authority sends it empty. */
const HOST =
  /^(?:(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\])(?::\d*)?$/i;

const CHUNKED_LAST = /(?:^|,)[ \t]*chunked[ \t]*$/i;

export interface Violation {
  readonly code: ErrorCode;
  readonly detail: string;
}

/** What a request breaks of the protocol, where Node's parser lets it pass; undefined if nothing. */
export function findViolation(request: IncomingMessage): Violation | undefined {
  const { httpVersionMajor, httpVersion, headers } = request;
  if (httpVersionMajor !== 1) {
    return { code: 'version_not_supported', detail: `HTTP/${httpVersion}: expected HTTP/1.1` };
  }
  if (!hasValidHost(request)) {
    return {
      code: 'invalid_request',
      detail: 'the Host field: expected one, with a host and an optional port',
    };
  }
  const coding = headers['transfer-encoding'];
  // Where chunked is not the last coding, nobody can tell where the body ends (RFC 9112 §6.3).
  if (coding !== undefined && !CHUNKED_LAST.test(coding)) {
    return {
      code: 'invalid_request',
      detail: 'the Transfer-Encoding field: expected "chunked" as the last coding',
    };
  }
  return undefined;
}

/**
 * Whether there is one Host that can be one (RFC 9112 §3.2 demands 400 otherwise). HTTP/1.0 may go without. Node
 * checks only that there is any, and keeps the first of several.
 */
function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion === '1.0';
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 && HOST.test(headers.host);
}

/**
 * Settles what becomes of a body, which means nothing in any request here (RFC 9110 §9.3.1). A short one is let pass,
 * and the connection lives on. One that is long, of unknown length or still to be asked for is not read: the
 * connection ends with the response.
 *
 * @returns whether the rest of a body may still be to come when the request has its response
 */
export function settleBody({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (length === undefined && coding === undefined) return false;
  if (coding !== undefined || Number(length) > MAX_BODY_BYTES || headers.expect !== undefined) {
    response.shouldKeepAlive = false;
  }
  return true;
}
