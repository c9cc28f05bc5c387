/** The arithmetic of times against that of the language. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { millisecondsOf } from '../../../generator/schema/time.js';

const written = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

describe('millisecondsOf', () => {
  it('says what Date.parse says of every second from the year 0 to 9999', () => {
    const seconds = fc.integer({ min: Date.UTC(-1, 12, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        expect(millisecondsOf(written(second * 1000))).toBe(second * 1000);
      }),
      { numRuns: 5000 },
    );
  });

  it('knows the days at the borders of months, leap years and centuries', () => {
    const days =
      '0000-01-01 0000-02-29 1899-12-31 1900-02-28 1900-03-01 1969-12-31 1970-01-01 2000-02-29 ' +
      '2000-03-01 2023-12-31 2024-02-29 2100-02-28 2100-03-01 9999-12-31';
    for (const day of days.split(' ')) {
      for (const clock of ['00:00:00', '23:59:59'])
        expect(millisecondsOf(`${day}T${clock}Z`)).toBe(Date.parse(`${day}T${clock}Z`));
    }
  });
});
