import { describe, expect, it } from 'vitest';

import { interleave, resultOf, spread } from './measure.js';
import type { Figure } from './suite.js';
import { digits, table } from './table.js';

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

  it('compares with a number as well', () => {
    expect(resultOf({ ...FIGURE, peer: 60 }, VALUES).ratio?.median).toBe(0.5);
  });

  it('names what there is, if a figure is of something else', () => {
    expect(() => resultOf({ ...FIGURE, ours: 'a/p99' }, VALUES)).toThrow(
      'figure of "a/p99": expected one of a/rps, b/rps',
    );
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

  it('shows three digits that count', () => {
    expect([0, 0.12345, 12.345, 123.4, 12_345.6].map(digits)).toEqual([
      '0',
      '0.123',
      '12.3',
      '123',
      '12,346',
    ]);
  });
});
