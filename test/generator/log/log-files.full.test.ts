/** A bit of each byte of a log of two levels. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../../../generator/log/log-files.js';
import { temporary } from '../../support/folder.js';
import { Comparisons, filesOf, flips, makeLog } from './support.js';

const path = temporary();

describe('a log of 257 entries', () => {
  const size = 257;
  const folder = path('log');
  const root = makeLog(
    folder,
    Array.from({ length: size }, (_, index) => `entry ${index}`),
  )[size]!;

  it.each(filesOf(folder))('is found to be damaged with a bit of any byte of %s flipped', (file) => {
    const bytes = readFileSync(join(folder, file));
    const comparisons = new Comparisons();
    for (const { at, bit, flipped } of flips(bytes, (each) => [(each * 5) % 8])) {
      writeFileSync(join(folder, file), flipped);
      const found = [...checkLog(folder, { size, root })];
      comparisons.add(found.length === 1 && found[0]?.file === file, `byte ${at}, bit ${bit}`);
    }
    expect(comparisons.wrong).toEqual([]);
    writeFileSync(join(folder, file), bytes);
    expect([...checkLog(folder, { size, root })]).toEqual([]);
  });
});
