/** `peak` and `change` against a plain reading of decisions.md. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { group } from '../../../generator/schema/group.js';
import type { Entries } from '../../../generator/schema/field.js';

interface Reading {
  readonly measured_at: string;
  readonly member_count: number;
}

const HOUR_MS = 3_600_000;
const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** What the record says of a group with these readings. */
function told(name: 'peak' | 'change', readings: readonly Reading[]): unknown {
  const field = group.record.fields.find((candidate) => candidate.name === name);
  if (field?.is !== 'derived') throw new TypeError(`${name} is no series`);
  // Beside those of others, whose readings count for nothing.
  const other: Reading = { measured_at: '2200-01-01T00:00:00Z', member_count: Number.MAX_SAFE_INTEGER };
  const all = [other, ...readings, other];
  const entries: Entries = {
    start: 1,
    count: readings.length,
    columns: {
      measured_at: all.map(({ measured_at }) => measured_at),
      member_count: all.map(({ member_count }) => member_count),
    },
  };
  return JSON.parse(JSON.stringify(field.compute(entries)));
}

/** "highest real reading, earliest on a tie" */
function peak(readings: readonly Reading[]): Reading | null {
  const most = Math.max(...readings.map((reading) => reading.member_count));
  const highest = readings.filter((reading) => reading.member_count === most);
  const [earliest] = highest.toSorted((a, b) => Date.parse(a.measured_at) - Date.parse(b.measured_at));
  return earliest === undefined
    ? null
    : { member_count: earliest.member_count, measured_at: earliest.measured_at };
}

/**
 * "`to` is the newest member reading, `from` the newest reading at or before `to_at` minus the window; null when
 * there is none or it is older than 1.5 windows."
 */
function change(readings: readonly Reading[], windowMs: number): unknown {
  const byAge = readings.toSorted((a, b) => Date.parse(b.measured_at) - Date.parse(a.measured_at));
  const [to] = byAge;
  if (to === undefined) return null;
  const toMs = Date.parse(to.measured_at);
  const from = byAge.find((reading) => Date.parse(reading.measured_at) <= toMs - windowMs);
  if (from === undefined || Date.parse(from.measured_at) < toMs - 1.5 * windowMs) return null;
  return {
    delta: to.member_count - from.member_count,
    from: from.member_count,
    to: to.member_count,
    from_at: from.measured_at,
    to_at: to.measured_at,
  };
}

/** Series in order of time, whose readings like to lie on the borders of the windows, counted back from the newest. */
const series = fc
  .record({
    newest: fc.integer({ min: Date.UTC(1970, 0, 1) / 1000, max: Date.UTC(2100, 0, 1) / 1000 }),
    readings: fc.uniqueArray(
      fc.record({
        age: fc.oneof(
          { weight: 2, arbitrary: fc.integer({ min: 0, max: 50 * 24 * 3600 }) },
          {
            weight: 3,
            arbitrary: fc
              .tuple(fc.constantFrom(24, 36, 168, 252, 720, 1080), fc.integer({ min: -2, max: 2 }))
              .map(([hours, seconds]) => hours * 3600 + seconds),
          },
        ),
        member_count: fc.oneof(fc.nat({ max: 5 }), fc.maxSafeNat()),
      }),
      { selector: ({ age }) => age, maxLength: 12 },
    ),
  })
  .map(({ newest, readings }) =>
    readings
      .toSorted((a, b) => b.age - a.age)
      .map(({ age, member_count }): Reading => ({
        measured_at: time((newest - age) * 1000),
        member_count,
      })),
  );

describe('peak', () => {
  it('is the highest real reading, the earliest of equals', () => {
    fc.assert(
      fc.property(series, (readings) => {
        expect(told('peak', readings)).toEqual(peak(readings));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('change', () => {
  it('lies between two real readings, in every window', () => {
    fc.assert(
      fc.property(series, (readings) => {
        expect(told('change', readings)).toEqual({
          h24: change(readings, 24 * HOUR_MS),
          d7: change(readings, 7 * 24 * HOUR_MS),
          d30: change(readings, 30 * 24 * HOUR_MS),
        });
      }),
      { numRuns: 3000 },
    );
  });
});
