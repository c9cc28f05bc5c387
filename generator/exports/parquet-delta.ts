/**
 * Integers as their differences (Parquet's DELTA_BINARY_PACKED): a block of 128 holds its least difference, and by how
 * much the others exceed it in as few bits as each quarter needs. What is ordered, or of one time, becomes small.
 */
import { Bytes } from './bytes.js';

const BLOCK_VALUES = 128;
const QUARTERS = 4;
const QUARTER_VALUES = BLOCK_VALUES / QUARTERS;

/**
 * Whether all arithmetic on integers between two is exact in JavaScript: differences exceed each other by at most twice
 * the range, and the first integer, whose sign becomes its lowest bit, takes one bit more than it has.
 */
export const areNear = (least: number, most: number): boolean =>
  most - least <= 2 ** 51 && least >= -(2 ** 51);

/** @param values that are near each other */
export function deltas(values: Float64Array): Uint8Array {
  const bytes = new Bytes();
  bytes.varint(BLOCK_VALUES);
  bytes.varint(QUARTERS);
  bytes.varint(values.length);
  bytes.zigzag(values[0] ?? 0);
  const excesses = new Float64Array(BLOCK_VALUES);
  for (let start = 1; start < values.length; start += BLOCK_VALUES) {
    const count = Math.min(BLOCK_VALUES, values.length - start);
    let least = Infinity;
    for (let index = 0; index < count; index += 1) {
      const difference = (values[start + index] ?? 0) - (values[start + index - 1] ?? 0);
      excesses[index] = difference;
      if (difference < least) least = difference;
    }
    for (let index = 0; index < count; index += 1) excesses[index] = (excesses[index] ?? 0) - least;
    // The last block is filled up with nothing.
    excesses.fill(0, count);
    bytes.zigzag(least);
    const widths = quarters(excesses).map(widthOf);
    for (const width of widths) bytes.byte(width);
    for (const [index, quarter] of quarters(excesses).entries()) pack(bytes, quarter, widths[index] ?? 0);
  }
  return bytes.gathered();
}

const quarters = (excesses: Float64Array): Float64Array[] =>
  Array.from({ length: QUARTERS }, (_, index) =>
    excesses.subarray(index * QUARTER_VALUES, (index + 1) * QUARTER_VALUES),
  );

const UINT32 = 2 ** 32;

/** The bits that the greatest takes. */
function widthOf(numbers: Float64Array): number {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  const high = Math.floor(most / UINT32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(most);
}

/** So many bits, beside up to 7 that wait for a whole byte, fit arithmetic of 32 bits. */
const CHUNK_BITS = 24;
const CHUNK = 2 ** CHUNK_BITS;

/** Numbers of so many bits each, the lowest first; 32 numbers fill whole bytes. */
function pack(bytes: Bytes, numbers: Float64Array, width: number): void {
  if (width === 0) return;
  let waiting = 0;
  let bits = 0;
  for (const number of numbers) {
    let rest = number;
    for (let left = width; left > 0; left -= CHUNK_BITS) {
      const above = Math.floor(rest / CHUNK);
      waiting |= (rest - above * CHUNK) << bits;
      bits += Math.min(left, CHUNK_BITS);
      rest = above;
      for (; bits >= 8; bits -= 8) {
        bytes.byte(waiting & 255);
        waiting >>>= 8;
      }
    }
  }
}
