/** Compressed siblings: beside which documents they stand, and that they hold one stream of the same. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../generator/base/errors.js';
import { CODINGS, COMPRESSED_FROM_BYTES } from '../../../generator/tree/codings.js';
import { temporary } from '../../support/folder.js';
import { sites } from '../../support/site.js';
import { isOfTheBuild, isSibling, readTree } from '../../support/tree.js';

const path = temporary();

/** Enough for a CSV of more than 4 KiB, too. */
const READINGS = 180;

/** A group with a long history, and one with a short one. */
const site = sites(path, {
  groups: [
    { id: 1, measurements: READINGS },
    { id: 2, name: 'short' },
  ],
  group_member_readings: Array.from({ length: READINGS }, (_, index) => ({
    group_id: 1,
    measured_at: `2026-11-${String(2 + Math.floor(index / 10)).padStart(2, '0')}T0${index % 10}:00:00Z`,
    member_count: index,
  })),
});

const LARGE_DOWNLOADS = ['downloads/datapackage.json', 'downloads/group_member_readings.csv'];

const SUFFIXES = ['.gz', '.br'] as const;
const DECODE = { '.gz': gunzipSync, '.br': brotliDecompressSync } as const;

describe('compressed siblings', () => {
  it('stand beside every document from 4 KiB on and hold the same, and beside no smaller one', async () => {
    const { out } = await site();
    const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
    const large = [...readTree(out)]
      .filter(([file, { bytes }]) => bytes >= COMPRESSED_FROM_BYTES && !isOfTheBuild(file))
      .map(([file]) => file);
    expect(large).toEqual(expect.arrayContaining(['group/1/history.json', ...LARGE_DOWNLOADS]));
    expect(large.filter((file) => /group\/(2|1\.json)/.test(file))).toEqual([]);
    // Downloads are large, and have compressed twins of their own; what describes them goes with them.
    const served = large.filter((file) => !file.startsWith('downloads/'));
    expect(files.filter((file) => isSibling(file)).toSorted()).toEqual(
      served.flatMap((file) => SUFFIXES.map((suffix) => file + suffix)).toSorted(),
    );
    for (const file of served) {
      for (const suffix of SUFFIXES) {
        const decoded = DECODE[suffix](readFileSync(join(out, file + suffix)));
        expect(decoded.equals(readFileSync(join(out, file))), file + suffix).toBe(true);
      }
    }
  });

  it.each(CODINGS)('with anything but one stream in it is not decoded: %o', ({ encode, decode }) => {
    const content = Buffer.alloc(5_000, 'content ');
    const stream = encode(content);
    const nothing = encode(Buffer.alloc(0));
    const outcome = (most: number, ...parts: readonly Uint8Array[]): string => {
      try {
        return decode(Buffer.concat(parts), most).equals(content) ? 'the content' : 'something else';
      } catch (error) {
        return codeOf(error) === undefined ? 'a defect' : 'refused';
      }
    };
    expect(outcome(content.length, stream)).toBe('the content');
    for (const parts of [
      [stream, Buffer.from('garbage')],
      [stream, Buffer.alloc(9)],
      [stream, nothing],
      [stream.subarray(0, -1)],
      [],
    ])
      expect(outcome(content.length, ...parts)).toBe('refused');
    // Some clients read the first one only.
    expect(outcome(content.length, nothing, stream)).not.toBe('the content');
    expect(outcome(content.length - 1, stream)).toBe('refused');
  });
});
