/** Gzip files that are written piece by piece. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { GzipFile } from '../../../generator/base/gzip.js';
import { temporary } from '../../support/folder.js';

const path = temporary();

/** The file that is written in these pieces. */
function compressed(pieces: readonly Uint8Array[]): Buffer {
  const file = path('file.gz');
  const gzip = new GzipFile(file);
  for (const piece of pieces) gzip.write(piece);
  gzip.finish();
  return readFileSync(file);
}

// Exactly what is compressed at once, nothing, and less and more of it.
it.each([[256 * 1024], [], [1, 150_000, 0, 300_000, 7]])(
  'pieces of %i, … bytes are what gunzip makes whole again, and always the same bytes, without a time',
  (...sizes) => {
    const written = sizes.map((size) => Buffer.from(Array.from({ length: size }, (_, at) => (at * 3) % 251)));
    const [whole, file] = [Buffer.concat(written), compressed(written)];
    expect(gunzipSync(file).equals(whole)).toBe(true);
    expect(compressed([whole]).equals(file)).toBe(true);
    expect(file.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
  },
);
