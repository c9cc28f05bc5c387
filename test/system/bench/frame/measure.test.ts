import { describe, expect, it } from 'vitest';

import { interleave, resultOf, spread } from './measure.js';
import type { Figure } from './suite.js';
import { table } from './table.js';

const FIGURE: Figure = {
  name: 'requests',
  unit: 'req/s',
  ours: 'a/rps',
  peer: 'b/rps',
  target: 0.5,
  better: 'higher',
};
const VALUES = new Map([
  ['a/rps', [60, 30, 5]],
  ['b/rps', [100, 60, 20]],
]);

describe('interleave', () => {
  it('has the contenders take turns, and keeps the values of each in their order', async () => {
    const turns: string[] = [];
    const contender = (name: string) => ({
      name,
      run: async () => ({ turn: turns.push(name) }),
    });
    const values = await interleave([contender('a'), contender('b')], 3, () => undefined);
    expect(turns.join('')).toBe('ababab');
    expect([...values]).toEqual([
      ['a/turn', [1, 3, 5]],
      ['b/turn', [2, 4, 6]],
    ]);
  });
});

describe('resultOf', () => {
  it('divides run by run, and takes the median of that', () => {
    const { ratio, holds } = resultOf(FIGURE, VALUES);
    expect(ratio).toEqual({ median: 0.5, min: 0.25, max: 0.6 });
    expect(holds).toBe(true);
  });

  it('holds a target from the right side', () => {
    expect(resultOf({ ...FIGURE, target: 0.51 }, VALUES).holds).toBe(false);
    expect(resultOf({ ...FIGURE, better: 'lower' }, VALUES).holds).toBe(true);
    expect(resultOf({ ...FIGURE, better: 'lower', target: 0.4 }, VALUES).holds).toBe(false);
    const { target: _, ...mark } = FIGURE;
    expect(resultOf(mark, VALUES).holds).toBeUndefined();
  });
});

describe('spread', () => {
  it('takes a value that was measured, also of an even count', () => {
    expect(spread([4, 1, 3, 2])).toEqual({ median: 2, min: 1, max: 4 });
  });
});

describe('table', () => {
  it('has a row for each figure, in Markdown', () => {
    expect(table([resultOf(FIGURE, VALUES)]).split('\n')).toEqual([
      '| What | Ours | Peer | Ratio (min–max) | Target | Holds |',
      '| --- | --- | --- | --- | --- | --- |',
      '| requests | 30 req/s (5–60) | b: 60 req/s (20–100) | 0.5 (0.25–0.6) | ≥ 0.5 | yes |',
    ]);
  });
});
