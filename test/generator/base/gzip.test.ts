/** Gzip files that are written piece by piece. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { GzipFile } from '../../../generator/base/gzip.js';
import { CODINGS } from '../../../generator/tree/codings.js';
import { temporary } from '../../support/folder.js';

const path = temporary();

/** The file that is written in these pieces. */
function compressed(pieces: readonly Uint8Array[]): Buffer {
  const file = path('file.gz');
  const gzip = new GzipFile(file);
  for (const piece of pieces) gzip.write(piece);
  const { bytes } = gzip.finish();
  const content = readFileSync(file);
  expect([bytes, gzip.raw]).toEqual([content.length, Buffer.concat(pieces).length]);
  return content;
}

it('pieces of any size are what gunzip makes whole again, and always the same bytes', () => {
  const pieces = fc.array(fc.tuple(fc.nat({ max: 150_000 }), fc.nat({ max: 255 })), { maxLength: 6 });
  // Exactly what is compressed at once, and nothing.
  const examples: [[number, number][]][] = [[[[256 * 1024, 3]]], [[]]];
  fc.assert(
    fc.property(pieces, (sizes) => {
      const written = sizes.map(([size, step]) =>
        Buffer.from(Array.from({ length: size }, (_, at) => (at * step) % 251)),
      );
      const whole = Buffer.concat(written);
      expect(gunzipSync(compressed(written)).equals(whole)).toBe(true);
      expect(compressed([whole]).equals(compressed(written))).toBe(true);
    }),
    { numRuns: 25, examples },
  );
});

it('a file has one member, whose header says neither when nor on which system it was made', () => {
  const text = Buffer.from(
    Array.from({ length: 40_000 }, (_, row) => `${row},name ${row % 97}\r\n`).join(''),
  );
  const file = compressed([text]);
  expect(file.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
  // It refuses whatever is not exactly one stream.
  const gz = CODINGS.find(({ suffix }) => suffix === '.gz');
  expect(gz?.decode(file, text.length).equals(text)).toBe(true);
});
