/** The hashes of many small things. */
import { hash } from 'node:crypto';

/** Of a SHA-256. */
export const HASH_BYTES = 32;

/** Puts the SHA-256 of some bytes where it is wanted: a buffer of its own for each would cost as much again. */
export function hashInto(target: Buffer, offset: number, bytes: Uint8Array): void {
  target.write(hash('sha256', bytes, 'binary'), offset, HASH_BYTES, 'latin1');
}
