import { describe, expect, it } from 'vitest';
import { newTurns, performed } from '../../generator/threads/turns.js';

describe('work that is shared out', () => {
  it('leaves to others what one has not come to yet', () => {
    const pieces = ['a', 'b', 'c', 'd'];
    const turns = newTurns();
    let others: readonly string[] = [];
    const own = performed(turns, pieces, (piece) => {
      if (piece === 'b') others = performed(turns, pieces, (theirs) => theirs);
      return piece;
    });
    expect(own).toEqual(['a', 'b']);
    expect(others).toEqual(['c', 'd']);
  });
});
