import type { IncomingMessage } from 'node:http';

import { canonicalAddress, coverage, forwardedAddress, type AddressRange } from './addresses.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by the proxy as soon as a request arrives. */
    clientAddress?: string | undefined;
  }
}

/**
 * The address of the client a request came from, for its limit and the access log, and nothing else.
 * Undefined if it had gone before anybody looked.
 */
export function clientAddress({ clientAddress: address }: IncomingMessage): string | undefined {
  return address;
}

/** So many peers' addresses are kept in their canonical form. */
const MAX_PEERS = 1_000;

/** Finds out a request's client address and notes it on the request, where clientAddress reads it. */
export type NoteClientAddress = (request: IncomingMessage) => void;

/**
 * X-Forwarded-For is a list that each proxy on the way appends its peer's address to. So it is read from the
 * right, and as far as trusted proxies vouch for it: the client is the first address that is none of theirs,
 * and what stands further left, anybody can have written. Where the walk meets something that is no address,
 * the header is not believed at all.
 *
 * @param trusted the proxies that are believed; with none, the client is the socket's peer
 * @param log told once, in case the header comes from elsewhere: a proxy that is not trusted makes all its
 *   clients share one limit
 */
export function createClientAddress(
  trusted: readonly AddressRange[],
  log: (line: string) => void,
): NoteClientAddress {
  const isTrusted = coverage(trusted);
  const peers = new Map<string, string>();
  let hasWarned = false;

  const warn = (peer: string, header: string): void => {
    const claimed = forwardedAddress(header.slice(header.lastIndexOf(',') + 1).trim());
    // Only an address, and another one, would have made a difference.
    if (claimed === undefined || claimed === peer) return;
    hasWarned = true;
    log(
      `X-Forwarded-For comes from ${peer}, which --trust-proxy does not cover, and is not believed: ` +
        `if that is a proxy of yours, all its clients share one limit (said once)`,
    );
  };

  /** Of a connection it is the same with each request, and most come in a row from few. */
  const canonicalPeer = (remoteAddress: string): string => {
    const known = peers.get(remoteAddress);
    if (known !== undefined) return known;
    const canonical = canonicalAddress(remoteAddress) ?? remoteAddress;
    if (peers.size >= MAX_PEERS) peers.clear();
    peers.set(remoteAddress, canonical);
    return canonical;
  };

  return (request) => {
    const { remoteAddress } = request.socket;
    const peer = remoteAddress === undefined ? undefined : canonicalPeer(remoteAddress);
    request.clientAddress = peer;
    // Node joins repeated lines of this field by commas, in their order.
    const header = request.headers['x-forwarded-for'];
    if (peer === undefined || header === undefined || header.length === 0) return;
    const text = String(header);
    if (isTrusted(peer)) request.clientAddress = firstUntrusted(text, isTrusted) ?? peer;
    else if (!hasWarned) warn(peer, text);
  };
}

/**
 * From the right, the first address that is not trusted, or the last one if all are. Undefined if an element
 * on the way is no address, or if there is none.
 */
function firstUntrusted(header: string, isTrusted: (address: string) => boolean): string | undefined {
  let address: string | undefined;
  for (let end = header.length; end >= 0;) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const element = header.slice(comma + 1, end).trim();
    end = comma;
    // An empty element of a list counts for nothing (RFC 9110 §5.6.1.2).
    if (element === '') continue;
    address = forwardedAddress(element);
    if (address === undefined || !isTrusted(address)) return address;
  }
  return address;
}
