/** Compressed siblings of larger documents: `history.json.gz` and `.br` next to `history.json`. */
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { isCompressed, type SIBLING_SUFFIXES } from '../routes/route.js';
import type { PublishedRoute } from './published-routes.js';

/**
 * Documents of at least this size, 4 KiB, have siblings. A smaller one fits in one disk block, and
 * its response in the first few packets; two more files would cost more than they save.
 */
export const COMPRESSED_FROM_BYTES = 4096;

export interface Coding {
  readonly suffix: (typeof SIBLING_SUFFIXES)[number];
  readonly encode: (content: Uint8Array) => Buffer;
  /**
   * @throws with a `code`, if anything follows the compressed stream, since clients differ on that. Also if the
   * content is larger than `most` bytes: it may be a decompression bomb
   */
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
/** For clients without brotli. Level 6 takes nearly twice as long for 3 % fewer bytes. */
const GZIP_LEVEL = 4;

export const CODINGS: readonly Coding[] = [
  {
    suffix: '.gz',
    encode: (content) => gzipSync(content, { level: GZIP_LEVEL }),
    decode: (content, most) => decompressed(gunzipSync, content, most),
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
    decode: (content, most) => decompressed(brotliDecompressSync, content, most),
  },
];

/** The result of a decompression with the option `info`, which the types leave out. */
const withInfo = z.object({ buffer: z.instanceof(Buffer), engine: z.object({ bytesWritten: z.int() }) });

function decompressed(
  decompress: typeof gunzipSync | typeof brotliDecompressSync,
  content: Uint8Array,
  most: number,
): Buffer {
  const options = { maxOutputLength: Math.max(most, 1), info: true };
  const { buffer, engine } = withInfo.parse(decompress(content, options));
  if (engine.bytesWritten === content.length) return buffer;
  throw Object.assign(new Error('expected one compressed stream'), { code: 'ERR_NOT_ONE_STREAM' });
}

/**
 * The size from which the document of a key has siblings. Downloads have compressed variants instead. A query
 * parameter has a document for each value; only that of the default has siblings.
 */
export const siblingsFrom = (
  { class: cacheClass, parameters = [] }: Pick<PublishedRoute, 'class' | 'parameters'>,
  key: number,
): number => {
  const isUsual = parameters.every((parameter) => parameter.in === 'path' || parameter.default === key);
  return isCompressed(cacheClass) && isUsual ? COMPRESSED_FROM_BYTES : Number.POSITIVE_INFINITY;
};

/** The file names of a document of this size: its own and those of its siblings, in the order of `CODINGS`. */
export const namesOf = (
  file: string,
  bytes: number,
  compressedFrom: number,
): readonly [string, ...string[]] =>
  bytes < compressedFrom ? [file] : [file, ...CODINGS.map(({ suffix }) => file + suffix)];
