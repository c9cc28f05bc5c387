import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { COMPRESSED_FROM_BYTES } from '../../generator/publish/codings.js';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { changeRegister, writeRegister } from '../support/register.js';

const path = temporary();

const READINGS = 90;

/** A group with a long history, and one with a short one. */
const registerOf = (file: string): string =>
  writeRegister(file, {
    groups: [
      { id: 1, measurements: READINGS },
      { id: 2, name: 'short' },
    ],
    group_member_readings: Array.from({ length: READINGS }, (_, index) => ({
      group_id: 1,
      measured_at: `2026-11-${String(10 + Math.floor(index / 10)).padStart(2, '0')}T0${index % 10}:00:00Z`,
      member_count: index,
    })),
  });

const SUFFIXES = ['.gz', '.br'] as const;
const DECODE = { '.gz': gunzipSync, '.br': brotliDecompressSync } as const;

describe('compressed siblings', () => {
  it('stand beside every document from 4 KiB on and hold the same, and beside no smaller one', async () => {
    const out = path('dist');
    await published({ register: registerOf(path('register.sqlite')), out });
    const documents = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.json') && !/^(\.snapshot|changes|snapshot\.json)/.test(file),
    );
    const large = documents.filter((file) => statSync(join(out, file)).size >= COMPRESSED_FROM_BYTES);
    expect(large.toSorted()).toEqual(['api/v1/openapi.json', 'group/1/history.json']);
    for (const file of documents) {
      for (const suffix of SUFFIXES) {
        const sibling = join(out, file + suffix);
        expect(existsSync(sibling), file + suffix).toBe(large.includes(file));
        if (!large.includes(file)) continue;
        expect(DECODE[suffix](readFileSync(sibling)).equals(readFileSync(join(out, file)))).toBe(true);
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
    changeRegister(register, `DELETE FROM group_member_readings WHERE measured_at > '2026-11-10T05:00:00Z'`);
    await published({ register, out });
    expect(SUFFIXES.map((suffix) => existsSync(join(out, `group/1/history.json${suffix}`)))).toEqual([
      false,
      false,
    ]);
    expect(existsSync(join(out, 'group/1/history.json'))).toBe(true);
  });
});
