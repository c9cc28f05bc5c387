/** Compressed siblings of larger documents: `history.json.gz` and `history.json.br` beside `history.json`. */
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import type { PublishedRoute } from './snapshot-json.js';

/**
 * Documents from this size on have siblings: 4 KiB. Smaller ones fill no more than one block of the disk, and an
 * answer is out in the first few packets either way; two more files each would cost more than they save.
 */
export const COMPRESSED_FROM_BYTES = 4096;

export interface Coding {
  readonly suffix: '.gz' | '.br';
  readonly encode: (content: Uint8Array) => Buffer;
  /** @param most bytes that it may hold @throws if it holds more, as a planted file may */
  readonly decode: (content: Uint8Array, most: number) => Buffer;
}

/**
 * Measured on lists and archives: brotli at 5 is smaller than gzip at 9 in less time; at 6 it takes a fifth longer for
 * 0.4 % fewer bytes, at 9 thirty times as long.
 */
const BROTLI_QUALITY = 5;
/**
 * A window of 64 KiB, as a power of 2, instead of 4 MiB: brotli then takes a quarter of the time for small documents,
 * and no megabytes of tables in each of Node's threads. Lists and archives of any length come out 0.5 % larger.
 */
const BROTLI_WINDOW = 16;
/** At 9 it takes half as long again, lists twice as long, for 1 % fewer bytes. */
const GZIP_LEVEL = 6;

export const CODINGS: readonly Coding[] = [
  {
    suffix: '.gz',
    encode: (content) => gzipSync(content, { level: GZIP_LEVEL }),
    decode: (content, most) => gunzipSync(content, { maxOutputLength: Math.max(most, 1) }),
  },
  {
    suffix: '.br',
    encode: (content) =>
      brotliCompressSync(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
        },
      }),
    decode: (content, most) => brotliDecompressSync(content, { maxOutputLength: Math.max(most, 1) }),
  },
];

/**
 * The size from which documents of a route have siblings: downloads are large, and have compressed twins of their own.
 * @param bytes what holds for all others
 */
export const siblingsFrom = (
  { class: cacheClass }: Pick<PublishedRoute, 'class'>,
  bytes = COMPRESSED_FROM_BYTES,
): number => (cacheClass === 'download' ? Number.POSITIVE_INFINITY : bytes);

/** The names a document of this size has in the tree: its own, and those of its siblings. */
export const namesOf = (
  file: string,
  bytes: number,
  compressedFrom: number,
): readonly [string, ...string[]] =>
  bytes < compressedFrom ? [file] : [file, ...CODINGS.map(({ suffix }) => file + suffix)];

/** The coding of one of the names of a document; undefined for its own. */
export const codingOf = (name: string, file: string): Coding | undefined =>
  CODINGS.find(({ suffix }) => name === file + suffix);
