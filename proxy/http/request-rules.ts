import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ErrorCode } from '../snapshot/headers.js';

/** Rules that every request must meet before its target is parsed. */

/** A longer request body, which is never read, closes the connection. 64 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

/** uri-host and port (RFC 9110 §7.2); a client without an authority sends an empty one. */
const HOST =
  /^(?:(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\])(?::\d*)?$/i;

const CHUNKED_LAST = /(?:^|,)[ \t]*chunked[ \t]*$/i;

export interface Violation {
  readonly code: ErrorCode;
  readonly detail: string;
}

/** A protocol violation that Node's parser accepts; undefined if there is none. */
export function findViolation(request: IncomingMessage): Violation | undefined {
  const { httpVersionMajor, httpVersion, headers } = request;
  if (httpVersionMajor !== 1) {
    return { code: 'version_not_supported', detail: `HTTP/${httpVersion}: expected HTTP/1.1` };
  }
  if (!hasValidHost(request)) {
    return {
      code: 'invalid_request',
      detail: 'Host header: expected exactly one, with a host and an optional port',
    };
  }
  const coding = headers['transfer-encoding'];
  // If chunked is not the last coding, the end of the body is unknown (RFC 9112 §6.3).
  if (coding !== undefined && !CHUNKED_LAST.test(coding)) {
    return {
      code: 'invalid_request',
      detail: 'Transfer-Encoding header: expected "chunked" as the last coding',
    };
  }
  return undefined;
}

/**
 * Whether there is exactly one valid Host; otherwise RFC 9112 §3.2 requires a 400. HTTP/1.0 may
 * omit it. Node checks only that there is one, and keeps the first of several.
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
 * Handles a request body, which has no meaning here (RFC 9110 §9.3.1). A short body is discarded,
 * and the connection stays open. If the body is long, of unknown length, awaits a 100 (Continue) or
 * belongs to an upgrade, it is not read, and the connection ends with the response.
 *
 * @returns whether the body may still be incomplete when the response is sent
 */
export function settleBody({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (length === undefined && coding === undefined) return false;
  // After an upgrade that is ignored, Node's parser stops at the end of the body.
  const isLost = headers.expect !== undefined || headers.upgrade !== undefined;
  if (coding !== undefined || Number(length) > MAX_BODY_BYTES || isLost) response.shouldKeepAlive = false;
  return true;
}
