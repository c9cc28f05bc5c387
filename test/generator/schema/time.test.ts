/** The arithmetic of times against that of the language. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { millisecondsOf } from '../../../generator/schema/time.js';

const written = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
/** At the borders of months, leap years and centuries. */
const DAYS =
  '0000-01-01 0000-02-29 1899-12-31 1900-02-28 1900-03-01 1969-12-31 1970-01-01 2000-02-29 ' +
  '2000-03-01 2023-12-31 2024-02-29 2100-02-28 2100-03-01 9999-12-31';

const isSame = (second: number): boolean => millisecondsOf(written(second * 1000)) === second * 1000;

it('millisecondsOf says what Date.parse says of every second from the year 0 to 9999', () => {
  const seconds = fc.integer({ min: Date.UTC(-1, 12, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
  const examples = DAYS.split(' ').map((day): [number] => [Date.parse(`${day}T23:59:59Z`) / 1000]);
  expect(() => fc.assert(fc.property(seconds, isSame), { numRuns: 5000, examples })).not.toThrow();
});
