import { describe, expect, it } from 'vitest';

import { figure, interleave, resultOf, spread, table } from './suite.js';

const FIGURE = figure('requests', 'req/s', 'a/rps', 'higher', 'b/rps', 0.5);
const VALUES = new Map([
  ['a/rps', [60, 30, 5]],
  ['b/rps', [100, 60, 20]],
]);

describe('the bench', () => {
  it('has the contenders take turns, and keeps the values of each in their order', async () => {
    const turns: string[] = [];
    const contender = (name: string) => ({ name, run: async () => ({ turn: turns.push(name) }) });
    const values = await interleave([contender('a'), contender('b')], 3, () => undefined);
    expect(turns.join('')).toBe('ababab');
    expect(Object.fromEntries(values)).toEqual({ 'a/turn': [1, 3, 5], 'b/turn': [2, 4, 6] });
  });

  it('divides run by run, takes the median of that, and holds a target from the right side', () => {
    const { ratio, holds } = resultOf(FIGURE, VALUES);
    expect([ratio, holds]).toEqual([{ median: 0.5, min: 0.25, max: 0.6 }, true]);
    const holdsWith = (changes: object) => resultOf({ ...FIGURE, ...changes }, VALUES).holds;
    expect(holdsWith({ target: 0.51 })).toBe(false);
    expect(holdsWith({ better: 'lower' })).toBe(true);
    expect(holdsWith({ better: 'lower', target: 0.4 })).toBe(false);
    expect(holdsWith({ target: undefined })).toBeUndefined();
  });

  it('takes a median that was measured, also of an even count', () => {
    expect(spread([4, 1, 3, 2])).toEqual({ median: 2, min: 1, max: 4 });
  });

  it('has a row for each figure, in Markdown', () => {
    expect(table([resultOf(FIGURE, VALUES)]).split('\n')[2]).toBe(
      '| requests | 30 req/s (5–60) | b: 60 req/s (20–100) | 0.5 (0.25–0.6) | ≥ 0.5 | yes |',
    );
  });
});
