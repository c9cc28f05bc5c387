/** The digest, checked against an implementation of what is documented of it. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashFileWriter } from '../../../generator/tree/hash-file.js';
import { indexDigest } from '../../../generator/tree/digest.js';
import { isRendered } from '../../../generator/tree/published-routes.js';
import type { PublishedRoute } from '../../../generator/tree/published-routes.js';
import { ROUTES, filler, urlTemplate } from '../../../generator/routes/index.js';
import { temporary } from '../../support/folder.js';
import { digestOf } from '../../support/published.js';

const path = temporary();

const hashOf = (route: string, key: number): Buffer =>
  createHash('sha256').update(`${route} ${key}`).digest();

interface Files {
  readonly route: PublishedRoute;
  /** Undefined: the route has no index. */
  readonly keys: readonly number[] | undefined;
}

/** The digest of an index that is really written, and that of the same files by the documentation. */
function bothDigests(files: readonly Files[]): readonly [string, string] {
  const folder = path('index');
  mkdirSync(folder);
  const plain = new Map<string, string>();
  for (const { route, keys } of files) {
    if (keys === undefined) continue;
    const writer = new HashFileWriter(join(folder, route.name));
    const url = filler(urlTemplate(route));
    for (const key of keys) {
      const hash = hashOf(route.name, key);
      writer.add({ key, bytes: 7, hash });
      plain.set(url(key), hash.toString('hex'));
    }
    writer.finish();
  }
  return [
    indexDigest(
      folder,
      files.map(({ route }) => route),
    ),
    digestOf(
      plain,
      files.map(({ route }) => route),
    ),
  ];
}

/** Keys of any length alike, as ids lie that grew over the years. */
const ofAnyLength = fc
  .tuple(fc.integer({ min: 0, max: 15 }), fc.double({ min: 1, max: 10, maxExcluded: true, noNaN: true }))
  .map(([power, by]) => Math.min(Math.floor(by * 10 ** power), Number.MAX_SAFE_INTEGER));

/** Neighbours, more of them than a chunk has. */
const dense = fc
  .tuple(fc.nat(1200), fc.integer({ min: 1, max: 7 }), fc.nat(400))
  .map(([start, step, count]) => Array.from({ length: count }, (_, index) => start + index * step));

const edges = fc.subarray([
  0,
  ...Array.from({ length: 15 }, (_, power) => [10 ** (power + 1) - 1, 10 ** (power + 1)]).flat(),
  2 ** 32 - 1,
  2 ** 32,
  Number.MAX_SAFE_INTEGER - 1,
  Number.MAX_SAFE_INTEGER,
]);

const ascending = (keys: readonly number[]): number[] => [...new Set(keys)].toSorted((a, b) => a - b);

const someKeys = fc
  .tuple(fc.array(ofAnyLength, { maxLength: 80 }), dense, edges)
  .map((keys) => ascending(keys.flat()));

/** In most cases keys, otherwise an empty index or none. */
const indexed = fc.oneof(
  { weight: 8, arbitrary: someKeys },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

describe('the digest of a tree is what its documentation gives', () => {
  it('for all routes there are', { timeout: 60_000 }, () => {
    const months = fc
      .array(fc.tuple(fc.integer({ min: 202_308, max: 202_312 }), fc.oneof(fc.nat(30), fc.constant(99_999))))
      .map((parts) => ascending(parts.map(([month, part]) => month * 100_000 + part)));
    const prefixes = fc
      .array(
        fc
          .integer({ min: 1, max: 12 })
          .chain((digits) => fc.integer({ min: 16 ** digits, max: 2 * 16 ** digits - 1 })),
      )
      .map(ascending);
    const limits = Array.from({ length: 200 }, (_, index) => index + 1);
    const keysOf = ({ path: template, parameters = [] }: PublishedRoute): fc.Arbitrary<Files['keys']> => {
      if (parameters.some(({ type }) => type === 'month')) return months;
      if (parameters.some(({ type }) => type === 'prefix')) return prefixes;
      if (parameters.some(({ in: where }) => where === 'query')) return fc.constant(limits);
      return template.includes('{') ? indexed : fc.constantFrom([0], undefined);
    };
    const everywhere = fc.tuple(
      ...ROUTES.filter(isRendered).map((route) => keysOf(route).map((keys): Files => ({ route, keys }))),
    );
    fc.assert(
      fc.property(everywhere, (files) => {
        const [digest, documented] = bothDigests(files);
        expect(digest).toBe(documented);
      }),
      { numRuns: 15 },
    );
  });
});
