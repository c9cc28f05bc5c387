/** Bytes in hex, written into memory that is there: for millions of hashes, of which no text is made. */

/** Each byte in hex: two characters as one number. */
const BYTES = Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16BE(),
);

/** Each two bytes in hex, four characters as one number: half as many steps as byte by byte. */
const PAIRS = new Uint32Array(2 ** 16);
for (const [high, first] of BYTES.entries()) {
  for (const [low, second] of BYTES.entries()) PAIRS[high * 256 + low] = first * 2 ** 16 + second;
}

/** Writes bytes, an even number of them, in hex. */
export function writeHex(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: DataView,
  offset: number,
): void {
  for (let at = start, to = offset; at < end; at += 2, to += 4) {
    target.setUint32(to, PAIRS[(bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)] ?? 0);
  }
}
