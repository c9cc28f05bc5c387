/** What pages are made of, piece by piece. */
import { describe, expect, it } from 'vitest';
import { gapsBefore } from '../../../../generator/outputs/pages/gaps.js';
import { levelsOf, lineChart, ticksOf } from '../../../../generator/outputs/pages/line-chart.js';
import { sparkline } from '../../../../generator/outputs/pages/sparkline.js';
import { amount, integer, interval, size } from '../../../../generator/outputs/pages/words.js';

describe('gapsBefore', () => {
  it('finds readings that came later than one and a half usual intervals', () => {
    expect([...gapsBefore([0, 10, 20, 35, 45, 60.1, 70])]).toEqual([5]);
  });

  it('finds each of more than 31 days, however usual', () => {
    const day = 86_400_000;
    expect([...gapsBefore([0, 31 * day])]).toEqual([]);
    expect([...gapsBefore([0, 31 * day + 1])]).toEqual([1]);
    expect([...gapsBefore([0, 40, 80, 120].map((days) => days * day))]).toEqual([1, 2, 3]);
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

/** One an hour. */
const MANY = Array.from({ length: 20_000 }, (_, index) => ({
  measured_at: new Date(index * 3_600_000).toISOString(),
  member_count: index,
}));

describe('sparkline', () => {
  it('breaks at a gap, and shows a reading alone between two gaps as a dot', () => {
    const days = [1, 2, 3, 9, 15, 16, 17, 18];
    const path = sparkline(days.map((day) => reading(day, day))) ?? '';
    expect(path.match(/M/g)).toHaveLength(3);
    expect(path).toMatch(/M[\d.]+ [\d.]+h0M/);
  });

  it('draws real readings alone, and a bounded number of them', () => {
    const path = sparkline(MANY.map((each, index) => ({ ...each, member_count: index % 2 }))) ?? '';
    expect(path.split(/[ML]/).length).toBeLessThan(250);
    for (const [, level] of path.matchAll(/[ML][\d.]+ ([\d.]+)/g)) expect(['2', '26']).toContain(level);
  });
});

describe('a line chart', () => {
  it('has a dot for each reading, a line between neighbours alone, and an area for each gap', () => {
    // Days 1, 2, 3, 8, 9, 11: ten days are 1000 units; the usual interval is one day.
    const chart = lineChart([1, 2, 3, 8, 9, 11].map((day) => reading(day, day === 8 ? 40 : 10)));
    // The levels are 10, 20, 30 and 40, so 10 is at the bottom and 40 at the top.
    expect(chart?.dots).toBe('M0 1000h0M100 1000h0M200 1000h0M700 0h0M800 1000h0M1000 1000h0');
    expect(chart?.line).toBe('M0 1000L100 1000L200 1000M700 0L800 1000M1000 1000h0');
    expect(chart).toMatchObject({
      gaps: [
        { x: 20, width: 50 },
        { x: 80, width: 20 },
      ],
      peak: { x: 70, y: 0, anchor: 'middle', index: 3 },
      base: 10,
    });
    expect(chart?.levels.map(({ y, value }) => `${value} at ${y}`)).toEqual([
      '10 at 100',
      '20 at 66.67',
      '30 at 33.33',
      '40 at 0',
    ]);
  });

  it('draws a bounded number of dots, the last reading of each place', () => {
    const dots = lineChart(MANY)?.dots.split('M').slice(1) ?? [];
    expect(dots).toHaveLength(501);
    // The levels are 0, 10,000 and 20,000; the first cell ends with reading 19 of 19,999.
    expect(dots[0]).toBe('0 999h0');
    expect(dots.at(-1)).toBe('1000 0h0');
  });
});

it.each([
  [91_737_206, 280_114_906, [0, 100_000_000, 200_000_000, 300_000_000]],
  [271_964_653, 282_944_583, [270_000_000, 275_000_000, 280_000_000, 285_000_000]],
  [3, 4, [3, 4, 5]],
  [7, 7, [7, 8, 9]],
])('levels of %i to %i are round, and hold all values', (low, high, levels) => {
  expect(levelsOf(low, high)).toEqual(levels);
});

it.each([
  ['2026-11-01T08:00:00Z', '2026-11-05T07:00:00Z', 4, '3 Nov 2026 | 5 Nov 2026'],
  ['2024-12-22T08:00:00Z', '2026-11-20T07:06:27Z', 23, 'Jan 2025 | Jul 2025 | Jan 2026 | Jul 2026'],
  // A reading at the very start of a month is at a tick.
  ['2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 4, 'Jan 2026 | Feb 2026 | Mar 2026 | Apr 2026'],
])('ticks from %s to %s are %i days or months, of which a few are named', (from, to, count, names) => {
  const ticks = ticksOf(Date.parse(from), Date.parse(to));
  expect(ticks).toHaveLength(count);
  expect(ticks.flatMap(({ label }) => label ?? []).join(' | ')).toBe(names);
});

it('numbers, amounts, sizes and intervals are written as people read them', () => {
  expect([1_044_842_325, 999, -1234].map(integer)).toEqual(['1,044,842,325', '999', '−1,234']);
  expect([999, 1000, 12_345, 999_999, 34_900_000_000].map(size)).toEqual([
    '999 bytes',
    '1.00 kB',
    '12.3 kB',
    '1.00 MB',
    '34.9 GB',
  ]);
  expect([amount(1, 'reading'), amount(2000, 'reading')]).toEqual(['1 reading', '2,000 readings']);
  expect([1, 60, 90, 86_400].map(interval)).toEqual(['second', 'minute', '90 seconds', 'day']);
});
