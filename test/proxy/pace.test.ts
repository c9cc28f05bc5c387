import { describe, expect, it } from 'vitest';

import { Pace } from '../../proxy/pace.js';

function withClock(): { pace: Pace; advance: (ms: number) => void } {
  let nowMs = 0;
  return { pace: new Pace(() => nowMs), advance: (ms) => void (nowMs += ms) };
}

describe('Pace', () => {
  it('goes on as long as the disk is quick', () => {
    const { pace, advance } = withClock();
    for (let count = 0; count < 10; count += 1) {
      expect(pace.attempt(() => (advance(2), count))).toBe(count);
    }
  });

  it('leaves a disk alone for a second that was slow once, whose outcome still counts', () => {
    const { pace, advance } = withClock();
    expect(pace.attempt(() => (advance(3), 'late'))).toBe('late');
    let attempts = 0;
    const attempt = (): number | undefined => pace.attempt(() => (attempts += 1));
    expect(attempt()).toBeUndefined();
    advance(999);
    expect(attempt()).toBeUndefined();
    expect(attempts).toBe(0);
    advance(1);
    expect(attempt()).toBe(1);
  });
});
