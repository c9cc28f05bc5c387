/**
 * Content-defined chunks, as in rsync and restic: a pure function of a key decides whether a chunk
 * begins there. So no layout is stored, and inserting or deleting a key affects at most two chunks.
 */

/** The largest prime below 2^26: products of two smaller numbers are exact in doubles. */
const PRIME = 67_108_859;
/** Spread neighbouring keys over all residues. Below 2^26 and 2^25, so the sum stays below 2^53. */
const LOW_FACTOR = 41_475_557;
const HIGH_FACTOR = 25_214_903;

/**
 * Whether a chunk begins at this key. Cubing decouples chunks from patterns in the keys; a linear
 * function gives very long chunks for some strides. (A permutation: 3 does not divide PRIME - 1.)
 *
 * @param key 0 to 2^53-1
 * @param average average keys per chunk; every start of a chunk of 256 is also one of 32
 */
export function beginsChunk(key: number, average: number): boolean {
  const mixed = ((key % PRIME) * LOW_FACTOR + Math.floor(key / PRIME) * HIGH_FACTOR) % PRIME;
  return ((((mixed * mixed) % PRIME) * mixed) % PRIME) % average === 0;
}

/** The same as an SQL condition. @param key an SQL expression, 0 to 2^53-1 */
export function beginsChunkSql(key: string, average: number): string {
  const mixed = `(${key} % ${PRIME} * ${LOW_FACTOR} + ${key} / ${PRIME} * ${HIGH_FACTOR}) % ${PRIME}`;
  return `(SELECT m * m % ${PRIME} * m % ${PRIME} % ${average} = 0 FROM (SELECT ${mixed} AS m))`;
}
