/** A gzip file (RFC 1952) whose bytes depend on its content alone. */
import { crc32 } from 'node:zlib';
import { Deflate } from 'fflate';

/**
 * Measured on 5 MB of each export of a million records: level 1 compresses 53 MB/s to 32.9 %, 2 48
 * MB/s to 31.2 %, 3 39 MB/s to 30.0 %, 6 24 MB/s to 28.5 %.
 */
const LEVEL = 2;

/** A hash table of 64 KiB, which stays in the CPU cache; the default, 2 MiB, is slower by half. */
const MEMORY = 3;

/** Size of the compressed pieces: 256 KiB take a tenth less time than 64. */
const PIECE_BYTES = 256 * 1024;

/** Section 2.3: magic number, DEFLATE, no flags, no time, no extra flags, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/**
 * Compresses fixed-size pieces. DEFLATE is done in JavaScript, since zlib's output differs between
 * Node versions and processors. Only the checksum comes from zlib.
 */
export class GzipEncoder {
  readonly #deflate: Deflate;
  readonly #put: (bytes: Uint8Array) => void;
  /** Bytes not compressed yet: pieces have one size, however they are written. */
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #filled = 0;
  #checkSum = 0;
  #bytes = 0;

  /** @param put called with each part of the file */
  constructor(put: (bytes: Uint8Array) => void) {
    this.#put = put;
    this.#deflate = new Deflate({ level: LEVEL, mem: MEMORY }, (chunk) => put(chunk));
    put(HEADER);
  }

  write(bytes: Uint8Array): void {
    this.#checkSum = crc32(bytes, this.#checkSum);
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + PIECE_BYTES - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === PIECE_BYTES) this.#compress(false);
    }
  }

  #compress(isLast: boolean): void {
    this.#deflate.push(this.#piece.subarray(0, this.#filled), isLast);
    this.#filled = 0;
  }

  finish(): void {
    this.#compress(true);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#checkSum, 0);
    // Modulo 2^32, as specified.
    trailer.writeUInt32LE(this.#bytes % 2 ** 32, 4);
    this.#put(trailer);
  }
}
