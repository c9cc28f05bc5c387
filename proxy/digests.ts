import { createHash, hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

import type { Coding } from './codings.js';
import { readChunks, type OpenFile } from './files.js';

/** What content is told apart by. */

/** Half of SHA-256: 128 bits tell any number of files apart, and the header stays short. */
const DIGEST_DIGITS = 32;

const DECOMPRESSORS = { br: createBrotliDecompress, gzip: createGunzip } as const;

export function digestOfBytes(bytes: Buffer): string {
  return hash('sha256', bytes).slice(0, DIGEST_DIGITS);
}

/** Of an open file; of its bytes if they have been read already. */
export async function digestOf(opened: OpenFile, bytes: Buffer | undefined): Promise<string> {
  if (bytes !== undefined) return digestOfBytes(bytes);
  const digest = createHash('sha256');
  for await (const chunk of readChunks(opened)) digest.update(chunk);
  return digest.digest('hex').slice(0, DIGEST_DIGITS);
}

/**
 * Of what a compressed file decompresses to, piece by piece, so that memory does not depend on how much that
 * is.
 *
 * @param maximumBytes more than this is no use to the caller
 * @throws if it can't be decompressed, or is more than that
 */
export async function digestOfDecompressed(
  opened: OpenFile,
  bytes: Buffer | undefined,
  coding: Coding,
  maximumBytes: number,
): Promise<string> {
  const digest = createHash('sha256');
  let length = 0;
  await pipeline(
    bytes === undefined ? readChunks(opened) : [bytes],
    DECOMPRESSORS[coding](),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        length += chunk.length;
        if (length > maximumBytes) throw new Error(`more than ${maximumBytes} bytes`);
        digest.update(chunk);
      }
    },
  );
  return digest.digest('hex').slice(0, DIGEST_DIGITS);
}
