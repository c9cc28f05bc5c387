import { describe, expect, it } from 'vitest';

import { Pace } from '../../proxy/pace.js';

/** An operation that takes so long, and how many were attempted in vain of so many. */
function withClock(): {
  advance: (ms: number) => void;
  refusedOf: (count: number, tookMs: number) => number;
} {
  let nowMs = 0;
  const pace = new Pace(() => nowMs);
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  const refusedOf = (count: number, tookMs: number): number => {
    const outcomes = Array.from({ length: count }, (_, index) =>
      pace.attempt(() => {
        advance(tookMs);
        return index;
      }),
    );
    return outcomes.filter((outcome) => outcome === undefined).length;
  };
  return { advance, refusedOf };
}

describe('Pace', () => {
  it('goes on as long as the disk is quick', () => {
    const { refusedOf } = withClock();
    expect(refusedOf(10_000, 1)).toBe(0);
    expect(refusedOf(10_000, 0)).toBe(0);
  });

  it('lets a slow disk hold up everything for 50 ms of a second, and no more', () => {
    const { refusedOf, advance } = withClock();
    expect(refusedOf(100, 10)).toBe(95);
    advance(949);
    expect(refusedOf(1, 0)).toBe(1);
    advance(1);
    expect(refusedOf(100, 10)).toBe(95);
  });

  it('takes one that stands still out of use for the rest of its second', () => {
    const { refusedOf, advance } = withClock();
    expect(refusedOf(2, 900)).toBe(1);
    advance(100);
    expect(refusedOf(1, 0)).toBe(0);
  });
});
