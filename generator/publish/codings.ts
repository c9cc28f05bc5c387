/** Compressed siblings of larger documents: `history.json.gz` and `.br` next to `history.json`. */
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { isCompressed } from '../routes/index.js';
import type { PublishedRoute } from './snapshot-json.js';

/**
 * Documents of at least this size, 4 KiB, have siblings. A smaller one fits in one disk block, and
 * its response in the first few packets; two more files would cost more than they save.
 */
export const COMPRESSED_FROM_BYTES = 4096;

export interface Coding {
  readonly suffix: '.gz' | '.br';
  readonly encode: (content: Uint8Array) => Buffer;
  /** @throws if the content is larger than `most` bytes: it may be a decompression bomb */
  readonly decode: (content: Uint8Array, most: number) => Buffer;
}

/**
 * Measured on lists and archives: brotli 5 is smaller and faster than gzip 9. Level 6 takes a fifth
 * longer for 0.4 % fewer bytes, level 9 thirty times as long.
 */
const BROTLI_QUALITY = 5;
/**
 * A window of 2^16 bytes (64 KiB) instead of 4 MiB: small documents take a quarter of the time, and
 * no Node thread allocates megabytes of tables. Lists and archives come out 0.5 % larger.
 */
const BROTLI_WINDOW = 16;
/** Level 9 takes half as long again, and twice as long for lists, for 1 % fewer bytes. */
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
 * The size from which documents have siblings. Downloads have compressed variants instead, and the
 * files of the log are small.
 * @param bytes the size for all other routes
 */
export const siblingsFrom = (
  { class: cacheClass }: Pick<PublishedRoute, 'class'>,
  bytes = COMPRESSED_FROM_BYTES,
): number => (isCompressed(cacheClass) ? bytes : Number.POSITIVE_INFINITY);

/** The file names of a document of this size: its own and those of its siblings. */
export const namesOf = (
  file: string,
  bytes: number,
  compressedFrom: number,
): readonly [string, ...string[]] =>
  bytes < compressedFrom ? [file] : [file, ...CODINGS.map(({ suffix }) => file + suffix)];

/** The coding of a file name of a document; undefined if the name is the document's own. */
export const codingOf = (name: string, file: string): Coding | undefined =>
  CODINGS.find(({ suffix }) => name === file + suffix);
