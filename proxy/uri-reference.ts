/**
 * What a client sent as a URI reference (RFC 3986 §4.2) on this host: what may not stand in one is
 * percent-encoded, also a "%" that starts no escape, and a leading "//" never makes a host of what was a
 * path.
 *
 * @param received a path, or path and query; characters 0 to 255, as node:http hands them over
 */
export function uriReference(received: string): string {
  return received.replace(/%(?![0-9A-Fa-f]{2})|[^!$-;=?-Z_a-z~]/g, escapeCharacter).replace(/^\/\//, '/%2F');
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
