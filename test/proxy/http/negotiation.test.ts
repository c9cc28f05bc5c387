import { describe, expect, it } from 'vitest';

import { acceptedCodings } from '../../../proxy/http/negotiation.js';

describe('acceptedCodings', () => {
  it.each([
    [undefined],
    [''],
    [' '],
    [',,'],
    ['identity'],
    ['deflate, zstd'],
    ['br;q=0, gzip;q=0'],
    ['*;q=0'],
    ['br;q=0.000'],
    ['br;q=2'],
    ['br;q='],
    ['br;q=0.1234'],
    ['br;q=-1'],
    ['br;level=4'],
    ['b r'],
    ['bröt'],
    ['brotli'],
    ['identity, gzip;q=0.9, br;q=0.5'],
    ['gzip;q=0, br;q=0, *'],
  ])('has nothing for %j', (field) => {
    expect(acceptedCodings(field)).toEqual([]);
  });

  it.each([
    ['br', ['br']],
    ['gzip', ['gzip']],
    ['GZIP', ['gzip']],
    ['x-gzip', ['gzip']],
    ['gzip, deflate, br, zstd', ['br', 'gzip']],
    ['gzip;q=1.0, br;q=1.000', ['br', 'gzip']],
    ['gzip, br;q=0.9', ['gzip', 'br']],
    ['br;q=0.001', ['br']],
    ['br ; q=0.5 ,\tgzip;Q=0.6', ['gzip', 'br']],
    ['*', ['br', 'gzip']],
    ['br;q=0, *', ['gzip']],
    ['gzip;q=0.5, *;q=0.1', ['gzip', 'br']],
    ['gzip, identity', ['gzip']],
    ['gzip;q=0.5, identity;q=0.5', ['gzip']],
    ['identity;q=0', []],
    ['identity;q=0, gzip;q=0.1', ['gzip']],
    ['br, br;q=0', ['br']],
    ['nonsense here, gzip', ['gzip']],
  ])('of %j takes %j', (field, codings) => {
    expect(acceptedCodings(field)).toEqual(codings);
  });

  it('is quick with a field of 16 KiB', () => {
    const startedMs = performance.now();
    for (const part of [',', 'br,', 'a;q=', ' ', '\t;', '*;q=0.1,'])
      acceptedCodings(part.repeat(16_384 / part.length));
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});
