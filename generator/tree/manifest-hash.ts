/**
 * What identifies a snapshot.json: the SHA-256 of its bytes with the value of `built_at` replaced by
 * the empty string, in hex. Two with the same hash differ in nothing but the time of the build.
 */
import { hash } from 'node:crypto';

/** The first in the file. A time has no quotes or escapes, so no other text can stand in its place. */
const BUILT_AT = /"built_at":"[0-9TZ:.+-]*"/;

/** @param content as it is published: bytes that are no UTF-8 count as what they are */
export function manifestHash(content: Uint8Array | string): string {
  const text = Buffer.from(content).toString('latin1').replace(BUILT_AT, '"built_at":""');
  return hash('sha256', Buffer.from(text, 'latin1'));
}
