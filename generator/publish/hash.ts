/** The hashes of many small things. */
import { hash } from 'node:crypto';

/** Of a SHA-256. */
export const HASH_BYTES = 32;

/** Writes the SHA-256 of some bytes to where it is wanted: a buffer of its own for each would cost as much again. */
export function writeHash(bytes: Uint8Array, target: Buffer, offset: number): void {
  target.write(hash('sha256', bytes, 'binary'), offset, HASH_BYTES, 'latin1');
}
