/** The digest, held against the plain way to make it: sort all paths by their bytes, then hash. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { treeDigest } from '../../generator/publish/digest.js';
import { LedgerWriter } from '../../generator/publish/ledger.js';
import type { PublishedRoute } from '../../generator/publish/manifest.js';
import { LAYOUTS, filler, routes as table, urlTemplate } from '../../generator/routes.js';
import { digestOf, temporary } from './support.js';

const path = temporary();

const hashOf = (route: string, key: number): Buffer =>
  createHash('sha256').update(`${route} ${key}`).digest();

interface Files {
  readonly route: PublishedRoute;
  /** Undefined: the route has no ledger. */
  readonly keys: readonly number[] | undefined;
}

/** The digest of ledgers that are really written, and that of the same files put together plainly. */
function bothDigests(files: readonly Files[]): readonly [string, string] {
  const folder = path('ledger');
  mkdirSync(folder);
  const plain = new Map<string, string>();
  for (const { route, keys } of files) {
    if (keys === undefined) continue;
    const writer = new LedgerWriter(folder, route.name, route.file);
    const url = filler(urlTemplate(route));
    for (const key of keys) {
      const hash = hashOf(route.name, key);
      writer.add({ key, bytes: 7, hash });
      plain.set(url(key), hash.toString('hex'));
    }
    writer.finish();
  }
  return [
    treeDigest(
      folder,
      files.map(({ route }) => route),
    ),
    digestOf(plain),
  ];
}

/** Keys of any length alike, as ids lie that grew over the years. */
const ofAnyLength = fc
  .tuple(fc.integer({ min: 0, max: 15 }), fc.double({ min: 1, max: 10, maxExcluded: true, noNaN: true }))
  .map(([power, by]) => Math.min(Math.floor(by * 10 ** power), Number.MAX_SAFE_INTEGER));

/** Neighbours, more of them than a run reads at once: one number in front, a hundred that begin with it behind. */
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

/** In most cases keys, otherwise an empty ledger or none. */
const ledger = fc.oneof(
  { weight: 8, arbitrary: someKeys },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

const routeOf = (template: string, index: number): PublishedRoute => ({
  name: `route-${index}`,
  path: template,
  file: `${template.slice(1)}.json`,
  class: 'record',
});

/** What may stand behind a number: nothing, and characters that sort before digits, behind them, and as they do. */
const BEHIND = [
  '',
  '-x',
  '.json',
  '/',
  '/history.json',
  '/usernames.json',
  '0',
  '9',
  '9.json',
  ':',
  '?a',
  'x',
  '~',
];

describe('the digest of a tree is what sorting and hashing all its paths give', () => {
  it('for routes that share prefixes and lie between each other', { timeout: 60_000 }, () => {
    const suffixes = fc.subarray(BEHIND.filter((suffix) => !/^\d/.test(suffix)));
    fc.assert(
      fc.property(
        suffixes.chain((chosen) =>
          fc
            .array(ledger, { minLength: chosen.length, maxLength: chosen.length })
            .map((keys) => chosen.map((suffix, index) => ({ suffix, keys: keys[index] }))),
        ),
        fc.array(fc.tuple(ofAnyLength, fc.constantFrom(...BEHIND)), { maxLength: 12 }),
        (byNumber, single) => {
          const fixed = new Set(single.map(([key, suffix]) => `/group/${key}${suffix}/only`));
          const files = [
            ...byNumber.map(({ suffix, keys }) => [`/group/{id}${suffix}`, keys] as const),
            ...[...fixed, '/', '/group', '/group/', '/grouq'].map((template) => [template, [0]] as const),
          ].map(([template, keys], index) => ({ route: routeOf(template, index), keys }));
          const [digest, plain] = bothDigests(files);
          expect(digest).toBe(plain);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(LAYOUTS)('for all routes there are, in the layout %s', { timeout: 60_000 }, (layout) => {
    const months = fc
      .array(fc.tuple(fc.integer({ min: 202_308, max: 202_312 }), fc.oneof(fc.nat(30), fc.constant(99_999))))
      .map((parts) => ascending(parts.map(([month, part]) => month * 100_000 + part)));
    const limits = Array.from({ length: 200 }, (_, index) => index + 1);
    const keysOf = ({ path: template, parameters = [] }: PublishedRoute): fc.Arbitrary<Files['keys']> => {
      if (parameters.some(({ type }) => type === 'month')) return months;
      if (parameters.some(({ in: where }) => where === 'query')) return fc.constant(limits);
      return template.includes('{') ? ledger : fc.constantFrom([0], undefined);
    };
    const everywhere = fc.tuple(
      ...table(layout).map((route) => keysOf(route).map((keys): Files => ({ route, keys }))),
    );
    fc.assert(
      fc.property(everywhere, (files) => {
        const [digest, plain] = bothDigests(files);
        expect(digest).toBe(plain);
      }),
      { numRuns: 15 },
    );
  });
});
