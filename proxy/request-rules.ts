import type { IncomingMessage, ServerResponse } from 'node:http';

import { MAX_BODY_BYTES } from './config.js';

/** What every request has to meet before anybody looks at what it asks for. */

/** uri-host and port (RFC 9110 §7.2); a client without an authority sends it empty. */
const HOST =
  /^(?:(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\])(?::\d*)?$/i;

/**
 * Whether there is one Host that can be one (RFC 9112 §3.2 demands 400 otherwise). HTTP/1.0 may go without.
 * Node checks only that there is any, and keeps the first of several.
 */
export function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion === '1.0';
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 && HOST.test(headers.host);
}

const CHUNKED_LAST = /(?:^|,)[ \t]*chunked[ \t]*$/i;

/**
 * Whether it can be told where the body ends: not if chunked is not the last of its transfer codings, which
 * has to be answered by 400 (RFC 9112 §6.3). Node's parser finds that out after it has handed over the
 * request.
 */
export function hasKnownLength({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean {
  return coding === undefined || CHUNKED_LAST.test(coding);
}

/**
 * Settles what becomes of a body, which means nothing in any request here (RFC 9110 §9.3.1). A short one is
 * let pass, and the connection lives on. One that is long, of unknown length or still to be asked for is not
 * read: the connection ends with the answer.
 *
 * @returns whether the rest of a body may still be to come when the request has been answered
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
