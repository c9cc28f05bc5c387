import { assert as check, constantFrom, integer, nat, oneof, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseRange } from '../../../proxy/http/ranges.js';

const SIZE = 1_000;

describe('parseRange', () => {
  it.each([
    ['another unit', 'items=0-4'],
    ['no unit', '0-4'],
    ['no number', 'bytes=-'],
    ['nothing', 'bytes='],
    ['an end before its start', 'bytes=5-4'],
    ['words', 'bytes=a-b'],
    ['a sign', 'bytes=+1-4'],
    ['a hexadecimal', 'bytes=0x1-0x4'],
    ['a fraction', 'bytes=1.0-4'],
    ['a space within', 'bytes=1 -4'],
    ['a space before "="', 'bytes =0-4'],
    ['a unit that ends like ours', 'kilobytes=0-4'],
    ['words after the range', 'bytes=0-4x'],
    ['words before the range', 'bytes=x0-4'],
    ['words before its end', 'bytes=0-x4'],
    ['several ranges', 'bytes=0-4,10-14'],
    ['several of which one is malformed', 'bytes=0-4,x'],
    ['thousands of overlapping ones', `bytes=0-${',5-'.repeat(5_000)}`],
  ])('takes %s for the whole', (_name, field) => {
    expect(parseRange(field, SIZE)).toBeUndefined();
  });

  it.each([
    ['bytes=1000-'],
    ['bytes=1000-1001'],
    [`bytes=${'9'.repeat(400)}-`],
    ['bytes=18446744073709551616-18446744073709551617'],
    ['bytes=-0'],
  ])('can not satisfy %.60s of 1,000 bytes', (field) => {
    expect(parseRange(field, SIZE)).toBe('unsatisfiable');
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-999', 0, 999],
    ['bytes=0-', 0, 999],
    ['bytes=999-', 999, 999],
    ['bytes=10-19', 10, 19],
    ['bytes=10-5000', 10, 999],
    [`bytes=10-${'9'.repeat(400)}`, 10, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-1000', 0, 999],
    ['bytes=-18446744073709551616', 0, 999],
    ['BYTES=0-4', 0, 4],
    ['bytes= 0-4\t', 0, 4],
    ['bytes= \t 0-4\t \t', 0, 4],
    ['bytes=,0-4, ,', 0, 4],
    ['bytes=007-008', 7, 8],
  ])('reads %.60s as %i to %i', (field, first, last) => {
    expect(parseRange(field, SIZE)).toEqual({ first, last });
  });

  it('finds no byte to begin at in an empty file, and all of it in its last bytes', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=-5', 0)).toBeUndefined();
  });

  it('names a part within the file, whatever the field says', () => {
    const position = oneof(nat(2_000).map(String), constantFrom('', '00', '18446744073709551616', '-1', 'x'));
    const field = oneof(
      tuple(position, position).map(([first, last]) => `bytes=${first}-${last}`),
      string({ maxLength: 20 }).map((text) => `bytes=${text}`),
      string({ maxLength: 20 }),
    );
    expect(() =>
      check(
        property(field, integer({ min: 0, max: 1_500 }), (text, size) => {
          const range = parseRange(text, size);
          if (range === undefined || range === 'unsatisfiable') return true;
          const { first, last } = range;
          return (
            Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last < size
          );
        }),
        { numRuns: 5_000 },
      ),
    ).not.toThrow();
  });
});
