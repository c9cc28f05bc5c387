import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { COMPRESSED_FROM_BYTES } from '../../generator/publish/codings.js';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { isOfTheBuild, isSibling, readTree } from '../support/tree.js';

const path = temporary();

/** Enough for a CSV of more than 4 KiB, too. */
const READINGS = 180;

/** A group with a long history, and one with a short one. */
const registerOf = (file: string): string =>
  writeRegister(file, {
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
    const out = path('dist');
    await published({ register: registerOf(path('register.sqlite')), out });
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

  it('follow their document when it changes, and go when it gets small', async () => {
    const register = registerOf(path('register.sqlite'));
    const out = path('dist');
    await published({ register, out });
    const gz = join(out, 'group/1/history.json.gz');
    changeRegister(register, `UPDATE groups SET name = 'renamed' WHERE id = 1`);
    await published({ register, out });
    expect(gunzipSync(readFileSync(gz)).toString()).toContain('"renamed"');
    changeRegister(register, `DELETE FROM group_member_readings WHERE measured_at > '2026-11-02T05:00:00Z'`);
    await published({ register, out });
    expect(SUFFIXES.map((suffix) => existsSync(join(out, `group/1/history.json${suffix}`)))).toEqual([
      false,
      false,
    ]);
    expect(existsSync(join(out, 'group/1/history.json'))).toBe(true);
  });
});
