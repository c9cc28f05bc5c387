/** What pages are made of, piece by piece. */
import { describe, expect, it } from 'vitest';
import { gapsBefore } from '../../generator/outputs/pages/gaps.js';
import { sample } from '../../generator/outputs/pages/sample.js';
import { sparkline } from '../../generator/outputs/pages/sparkline.js';
import { amount, integer, interval, moment, signed, size } from '../../generator/outputs/pages/words.js';

describe('gapsBefore', () => {
  it('finds none where readings are as usual', () => {
    expect([...gapsBefore([])]).toEqual([]);
    expect([...gapsBefore([5])]).toEqual([]);
    expect([...gapsBefore([0, 1000])]).toEqual([]);
    expect([...gapsBefore([0, 10, 20, 31, 44])]).toEqual([]);
  });

  it('finds readings that came later than one and a half usual intervals', () => {
    expect([...gapsBefore([0, 10, 20, 35, 45, 60.1, 70])]).toEqual([5]);
  });

  it('knows what is usual from around a reading, since a register may come to read more often', () => {
    const weekly = Array.from({ length: 20 }, (_, index) => index * 168);
    const hourly = Array.from({ length: 100 }, (_, index) => 19 * 168 + 1 + index);
    expect([...gapsBefore([...weekly, ...hourly])]).toEqual([]);
    // A day without readings among the hours.
    const late = hourly.map((time, index) => (index < 50 ? time : time + 24));
    expect([...gapsBefore([...weekly, ...late])]).toEqual([70]);
  });
});

const reading = (day: number, member_count: number) => ({
  measured_at: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z`,
  member_count,
});

describe('sparkline', () => {
  it('needs two readings', () => {
    expect(sparkline([])).toBeUndefined();
    expect(sparkline([reading(1, 5)])).toBeUndefined();
  });

  it('goes from the lower left to the upper right where a group grows', () => {
    expect(sparkline([reading(1, 0), reading(2, 10), reading(3, 20)])).toBe('M2 26L60 14L118 2');
  });

  it('is level where nothing changes', () => {
    expect(sparkline([reading(1, 7), reading(2, 7)])).toBe('M2 14L118 14');
  });

  it('breaks at a gap, and shows a reading alone between two gaps as a dot', () => {
    const days = [1, 2, 3, 9, 15, 16, 17, 18];
    const path = sparkline(days.map((day) => reading(day, day))) ?? '';
    expect(path.match(/M/g)).toHaveLength(3);
    expect(path).toMatch(/M[\d.]+ [\d.]+h0M/);
  });

  it('draws real readings alone, and a bounded number of them', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      measured_at: new Date(index * 3_600_000).toISOString(),
      member_count: index % 2,
    }));
    const path = sparkline(many) ?? '';
    expect(path.split(/[ML]/).length).toBeLessThan(250);
    for (const [, level] of path.matchAll(/[ML][\d.]+ ([\d.]+)/g)) expect(['2', '26']).toContain(level);
  });
});

describe('a sample', () => {
  it('shows short lists whole, and says how many entries of longer ones are left out', () => {
    expect(sample('{"a":[1,2,3],"b":[],"c":{}}')).toBe(
      '{\n  "a": [\n    1,\n    2,\n    3\n  ],\n  "b": [],\n  "c": {}\n}',
    );
    expect(sample('[1,2,3,4]')).toBe('[\n  1,\n  2,\n  … 2 more\n]');
  });
});

describe('words', () => {
  it('write numbers, sizes and times as people read them', () => {
    expect(integer(1_044_842_325)).toBe('1,044,842,325');
    expect(integer(999)).toBe('999');
    expect(integer(-1234)).toBe('−1,234');
    expect([signed(5), signed(-5), signed(0)]).toEqual(['+5', '−5', '0']);
    expect([amount(1, 'reading'), amount(2000, 'reading')]).toEqual(['1 reading', '2,000 readings']);
    expect(moment('2026-11-02T08:05:00Z')).toBe('2 November 2026, 08:05 UTC');
    expect([999, 1000, 12_345, 999_999, 34_900_000_000].map(size)).toEqual([
      '999 bytes',
      '1.00 kB',
      '12.3 kB',
      '1.00 MB',
      '34.9 GB',
    ]);
    expect([1, 5, 60, 90, 3600, 86_400].map(interval)).toEqual([
      'second',
      '5 seconds',
      'minute',
      '90 seconds',
      'hour',
      'day',
    ]);
  });
});
