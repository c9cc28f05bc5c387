/** What a build may remove without being told so. Through the real command line: test/generator/build/removal-guard-cli. */
import { describe, expect, it } from 'vitest';
import {
  implausibleAbsence,
  implausibleList,
  implausibleRemovals,
} from '../../../generator/build/removal-guard.js';
import { Measured } from '../../../generator/schema/measured.js';

/** @param removed of 100 groups that were published, `withheld` of them because they are withheld now */
const removing = (removed: number, before = 100, withheld = 0): string | undefined =>
  implausibleRemovals(
    new Map([['group', { added: 1000, changed: 0, removed, unchanged: before - removed }]]),
    new Map([['group', withheld]]),
    new Measured(),
  );

const marks = (count: number) => ({
  records: Array.from({ length: count }, (_, index) => `mark ${index}`),
  names: [],
});

describe('the removal guard', () => {
  it('lets up to 10 % or 10 of a kind go, and anything come', () => {
    expect(removing(0)).toBeUndefined();
    expect(removing(10)).toBeUndefined();
    expect(removing(10, 11)).toBeUndefined();
    expect(removing(20, 200)).toBeUndefined();
    expect(removing(0, 0)).toBeUndefined();
  });

  it('refuses more than both, and all of a kind even if that is one', () => {
    expect(removing(11)).toBe(
      '11 of 100 groups would be removed, expected to keep 90 % (--accept-removals publishes anyway)',
    );
    expect(removing(11, 12)).toContain('11 of 12 groups');
    expect(removing(21, 200)).toContain('21 of 200 groups');
    expect(removing(1, 1)).toContain('1 of 1 groups');
  });

  it('does not count what is withheld', () => {
    expect(removing(60, 100, 60)).toBeUndefined();
    // Of the 60 that are left, 11 are more than 10 %.
    expect(removing(51, 100, 40)).toContain('11 of 60 groups');
  });

  it('does not count a kind that is not measured', () => {
    const gone = new Map([['group', { added: 0, changed: 0, removed: 50, unchanged: 0 }]]);
    expect(implausibleRemovals(gone, new Map(), new Measured(['groups']))).toBeUndefined();
    expect(implausibleRemovals(gone, new Map(), new Measured(['users']))).toContain('50 of 50 groups');
  });

  it('refuses a withheld list that loses more than 10 %', () => {
    expect(implausibleList(undefined, marks(0))).toBeUndefined();
    expect(implausibleList(marks(10), marks(9))).toBeUndefined();
    expect(implausibleList(marks(10), marks(8))).toContain('2 of 10 withheld records');
    expect(implausibleList(marks(1), marks(0))).toContain('1 of 1 withheld records');
  });

  it('refuses a register that lost what the last snapshot was made from', () => {
    expect(implausibleAbsence(undefined, ['withheld'])).toBeUndefined();
    expect(implausibleAbsence(['groups.verified'], ['groups.verified'])).toBeUndefined();
    expect(implausibleAbsence([], ['withheld'])).toContain('the register lacks withheld');
  });
});
