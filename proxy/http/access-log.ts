import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pino, stdTimeFunctions, type DestinationStream } from 'pino';

import { anonymize } from '../clients.js';
import { responseClass, type ResponseClass } from './request.js';

/** Writes a JSON line for each response, and for each request without one. */

export interface AccessLogConfig {
  /** If not, addresses are shortened. */
  readonly hasFullAddresses: boolean;
  /** Whether lines have user agent, referer, request id and the limiter's decision. */
  readonly hasDetails: boolean;
}

export interface AccessLog {
  /** Writes the line when the response has ended, or the client has gone. */
  readonly follow: (request: IncomingMessage, response: ServerResponse) => void;
  /** Writes the line for an error before there was a request. */
  readonly refused: (socket: Socket, status: number) => void;
}

/** Longer texts from clients are cut. */
const TEXT_MAX_LENGTH = 256;
/** Printable ASCII. Other values of X-Request-Id do not come from a balancer. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;

/**
 * Lines omit the query, which is meaningless for the tree but may contain private data, and part of
 * the address unless `hasFullAddresses`.
 */
export function createAccessLog(
  destination: DestinationStream,
  { hasFullAddresses, hasDetails }: AccessLogConfig,
): AccessLog {
  const log = pino(
    { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
    destination,
  );
  const shownAddress = (address: string | undefined): string | null =>
    address === undefined ? null : hasFullAddresses ? address : anonymize(address);

  return {
    follow(request, response) {
      const startedMs = performance.now();
      // Read while the socket is certain to be open.
      const peer = request.socket.remoteAddress;
      response.once('close', () => {
        const { context, method = null, url = '' } = request;
        const [path = ''] = (context?.match.path ?? url).split('?', 1);
        log.info({
          method,
          path: path.slice(0, TEXT_MAX_LENGTH),
          status: response.sentStatus ?? null,
          bytes: response.sentBytes ?? 0,
          duration_ms: Math.round((performance.now() - startedMs) * 1000) / 1000,
          class: responseClass(request),
          cache: context?.cache ?? null,
          address: shownAddress(request.clientAddress ?? peer),
          aborted: !response.writableFinished,
          ...(hasDetails && readDetails(request)),
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
        class: UNROUTED,
        cache: null,
        address: shownAddress(remoteAddress),
        aborted: false,
      });
    },
  };
}

const UNROUTED: ResponseClass = 'unrouted';

/** The additions of --access-log-details. Missing fields are omitted. */
function readDetails({ headers, context }: IncomingMessage): object {
  const id = headers['x-request-id'];
  const { bucket, remaining, refused } = context?.tokens ?? {};
  return {
    user_agent: headers['user-agent']?.slice(0, TEXT_MAX_LENGTH),
    referer: headers.referer?.slice(0, TEXT_MAX_LENGTH),
    request_id: typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined,
    limit: bucket === undefined ? undefined : { bucket, remaining, refused },
  };
}
