/** Lists of lines are written in batches, whose size does not depend on how long the lines are. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LineWriter } from '../../../generator/files.js';
import { temporary } from './support.js';

const path = temporary();

describe('a writer of lines', () => {
  it('keeps a few short lines, and no long ones', () => {
    const file = path('lines');
    const writer = new LineWriter(file);
    writer.write('short');
    expect(existsSync(file)).toBe(false);
    const line = 'x'.repeat(300_000);
    let written = 'short'.length;
    for (let count = 1; count <= 20; count += 1) {
      writer.write(line);
      written += 1 + line.length;
      // Less than 1 MiB and the last line.
      expect(written - (existsSync(file) ? statSync(file).size : 0)).toBeLessThan(1_048_576 + line.length);
    }
    writer.finish();
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      'short',
      ...Array.from({ length: 20 }, () => line),
    ]);
  });
});
