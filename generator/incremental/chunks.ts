/**
 * Content-defined chunks: ascending keys are cut where a pure function of the next key says so, as rsync and restic cut
 * files. So chunks need no stored layout, and an inserted or deleted key changes the chunk that it is in and no other.
 */

/** The largest prime below 2^26: products of two numbers below it are exact in doubles, and in SQLite's integers. */
const PRIME = 67_108_859;
/** Spread neighbouring keys over all residues; below 2^26 and 2^25, so that the sum below stays under 2^53. */
const LOW_FACTOR = 41_475_557;
const HIGH_FACTOR = 25_214_903;

/** Documents in a chunk of the digest, on average. */
export const DIGEST_CHUNK = 256;

/**
 * Whether a chunk ends before this key. The cube makes it independent of the pattern of the keys: a linear function
 * would cut ids of some strides into very long chunks. (It is a permutation, since 3 does not divide the prime less one.)
 *
 * @param key 0 to 2^53-1
 * @param average keys in a chunk, on average; a chunk of 256 ends only where one of 32 does
 */
export function beginsChunk(key: number, average: number): boolean {
  const mixed = ((key % PRIME) * LOW_FACTOR + Math.floor(key / PRIME) * HIGH_FACTOR) % PRIME;
  return ((((mixed * mixed) % PRIME) * mixed) % PRIME) % average === 0;
}

/** The same as an SQL condition. @param key an SQL expression for an integer from 0 to 2^53-1 */
export function beginsChunkSql(key: string, average: number): string {
  const mixed = `(${key} % ${PRIME} * ${LOW_FACTOR} + ${key} / ${PRIME} * ${HIGH_FACTOR}) % ${PRIME}`;
  return `(SELECT m * m % ${PRIME} * m % ${PRIME} % ${average} = 0 FROM (SELECT ${mixed} AS m))`;
}
