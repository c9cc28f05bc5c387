import { ipKeyGenerator } from 'express-rate-limit';

/**
 * One customer of an access provider commonly holds a whole /56, so single IPv6 addresses would be limits for
 * free.
 */
const IPV6_PREFIX_BITS = 56;

/**
 * The name a client's bucket goes by: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address as clientAddress tells it; undefined, when the peer has gone already, shares one bucket
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  return address.includes(':') ? ipKeyGenerator(address, IPV6_PREFIX_BITS) : address;
}
