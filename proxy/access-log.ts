import { ipKeyGenerator } from 'express-rate-limit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { pino, stdTimeFunctions, type DestinationStream } from 'pino';

import { canonicalAddress } from './limiter/addresses.js';
import { clientAddress } from './limiter/client-address.js';
import { classOf } from './respond.js';

declare module 'http' {
  interface IncomingMessage {
    /** What the access log wants to know of the answer; only there if there is an access log. */
    trace?: Trace | undefined;
  }
}

/** Filled in while the answer is made. */
export interface Trace {
  /** Bytes of content handed to the connection so far. */
  bytes: number;
  /** Whether the file asked for was in memory; undefined if it did not come to that. */
  isHit: boolean | undefined;
}

/** One JSON line for each answer, and for each request that went without one. */

export interface AccessLog {
  /** Has the line written when the answer has ended, or the client has gone. */
  readonly follow: (request: IncomingMessage, response: ServerResponse) => void;
  /** Writes the line of what never became a request. */
  readonly refused: (socket: Socket, status: number) => void;
}

/** Of a path so many characters are logged. */
const PATH_MAX_LENGTH = 256;

/**
 * The query is left out: the files of the tree tell its one meaning (`limit`) apart no better than the status
 * does, and whatever else a client writes into it is its own. So is a part of its address, unless asked for:
 * what is left still tells networks apart.
 */
export function createAccessLog(destination: DestinationStream, hasFullAddresses: boolean): AccessLog {
  const log = pino(
    { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
    destination,
  );
  const addressOf = (address: string | undefined): string | null =>
    address === undefined ? null : hasFullAddresses ? address : shortenAddress(address);

  return {
    follow(request, response) {
      const startedMs = performance.now();
      // While the socket is sure to be open; for a request that is refused before anybody asks who it is from.
      const peer = request.socket.remoteAddress;
      const trace: Trace = { bytes: 0, isHit: undefined };
      request.trace = trace;
      response.once('close', () => {
        const { asked, method = null } = request;
        const target = request.asked?.resolution.path ?? request.url ?? '';
        const [path = ''] = target.split('?', 1);
        log.info({
          method,
          path: path.slice(0, PATH_MAX_LENGTH),
          // Nothing was answered to a client that left before.
          status: response.headersSent ? response.statusCode : null,
          bytes: trace.bytes,
          duration_ms: Math.round((performance.now() - startedMs) * 1000) / 1000,
          class: asked === undefined ? 'unrouted' : classOf(asked.resolution),
          cache: trace.isHit === undefined ? null : trace.isHit ? 'hit' : 'miss',
          address: addressOf(clientAddress(request) ?? peer),
          aborted: !response.writableFinished,
        });
      });
    },
    refused({ remoteAddress }, status) {
      log.info({
        method: null,
        path: null,
        status,
        bytes: 0,
        duration_ms: null,
        class: 'unrouted',
        cache: null,
        address: addressOf(remoteAddress),
        aborted: false,
      });
    },
  };
}

/** The network an address is in: /24 of IPv4, /48 of IPv6, which is what a site commonly has (RFC 6177). */
export function shortenAddress(address: string): string {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return 'unknown';
  if (isIPv4(canonical)) return `${canonical.slice(0, canonical.lastIndexOf('.'))}.0/24`;
  return ipKeyGenerator(canonical, 48);
}
