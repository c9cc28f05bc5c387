import { ipKeyGenerator } from 'express-rate-limit';

/**
 * One customer of an access provider commonly holds a whole /56, so single IPv6 addresses would be limits for
 * free.
 */
const IPV6_PREFIX_BITS = 56;
const MAPPED_IPV4 = '::ffff:';

/**
 * The name a client's bucket goes by: its IPv4 address, or the /56 of its IPv6 address.
 *
 * @param address as the socket tells it; an IPv4-mapped IPv6 address (a dual-stack socket's way to write an
 *   IPv4 peer, RFC 4291 §2.5.5.2) counts as the IPv4 address; undefined, when the peer has gone already,
 *   shares one bucket
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'gone';
  if (!address.includes(':')) return address;
  if (address.startsWith(MAPPED_IPV4) && address.includes('.')) return address.slice(MAPPED_IPV4.length);
  // A zone ("fe80::1%eth0") names an interface of this machine, not the client.
  const zone = address.indexOf('%');
  return ipKeyGenerator(zone === -1 ? address : address.slice(0, zone), IPV6_PREFIX_BITS);
}
