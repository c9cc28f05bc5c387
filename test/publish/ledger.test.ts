/** The ledger: exact for any key and size, sorted as the digest needs it, and made anew when it can't be relied on. */
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { treeDigest } from '../../generator/publish/digest.js';
import { LedgerReader, LedgerWriter } from '../../generator/publish/ledger.js';
import { soundLedger, writeLedgerIndex } from '../../generator/publish/ledger-index.js';
import type { PublishedRoute } from '../../generator/publish/manifest.js';
import { published } from '../support/build.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { differing, inState, isEndpoint, isSibling, namesThatDiffer } from '../support/tree.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  digestOf,
  expectAtRest,
  fresh,
  manifestOf,
  mirrorOf,
  stateOf,
  temporary,
} from './support.js';

const path = temporary();

const hashOf = (key: number): Buffer => createHash('sha256').update(String(key)).digest();

function ledgerOf(
  folder: string,
  route: string,
  keys: readonly number[],
  sizes: readonly number[] = [],
): string {
  const writer = new LedgerWriter(folder, route, `${route}/{id}.json`);
  keys.forEach((key, index) => writer.add({ key, bytes: sizes[index] ?? 7, hash: hashOf(key) }));
  return writer.finish();
}

function read(folder: string, route: string): LedgerReader {
  const reader = LedgerReader.open(folder, route, 3);
  if (reader === undefined) throw new Error('no ledger');
  return reader;
}

const keySets = fc
  .uniqueArray(
    fc.oneof(
      fc.maxSafeNat(),
      fc.nat(30),
      // Around every power of ten and of two, where lengths and halves change.
      fc
        .tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: -1, max: 1 }))
        .map(([power, by]) => 10 ** power + by),
      fc
        .tuple(fc.integer({ min: 2, max: 53 }), fc.integer({ min: -2, max: -1 }))
        .map(([power, by]) => 2 ** power + by),
      fc.constantFrom(0, 2 ** 32, Number.MAX_SAFE_INTEGER),
    ),
    { maxLength: 60 },
  )
  .map((keys) => keys.toSorted((a, b) => a - b));

describe('a ledger', () => {
  it('gives back what was written, for keys up to 2^53-1 and sizes up to 2^40', () => {
    fc.assert(
      fc.property(keySets, fc.array(fc.integer({ min: 0, max: 2 ** 40 })), (keys, sizes) => {
        const folder = path('ledger');
        ledgerOf(folder, 'group', keys, sizes);
        const reader = read(folder, 'group');
        expect(reader.template).toBe('group/{id}.json');
        expect(reader.size).toBe(keys.length);
        // An entry's hash is valid until the next entry.
        const entries = Array.from(reader.entries(), (entry) => ({
          ...entry,
          hash: entry.hash.toString('hex'),
        }));
        expect(entries).toEqual(
          keys.map((key, index) => ({ key, bytes: sizes[index] ?? 7, hash: hashOf(key).toString('hex') })),
        );
        expect(reader.peek()).toBeUndefined();
        reader.close();
      }),
      { numRuns: 40 },
    );
  });

  it('counts the keys below any key, and reads any part of itself', () => {
    fc.assert(
      fc.property(keySets, fc.maxSafeNat(), fc.nat(60), fc.nat(60), (keys, key, a, b) => {
        const folder = path('ledger');
        ledgerOf(folder, 'group', keys);
        const reader = read(folder, 'group');
        for (const probe of [key, 0, Number.MAX_SAFE_INTEGER, ...keys.slice(0, 5)]) {
          expect(reader.countBelow(probe)).toBe(keys.filter((each) => each < probe).length);
        }
        const [start, end] = [Math.min(a, b, keys.length), Math.min(Math.max(a, b), keys.length)];
        reader.restrict({ start, end });
        expect([...reader.entries()].map((entry) => entry.key)).toEqual(keys.slice(start, end));
        // Counting does not move the cursor, and a part can be read again.
        reader.restrict({ start, end });
        reader.countBelow(key);
        expect(reader.peek()?.key).toBe(keys.slice(start, end)[0]);
        reader.close();
      }),
      { numRuns: 40 },
    );
  });

  it('of more entries than a buffer takes is whole', () => {
    const folder = path('ledger');
    const keys = Array.from({ length: 4096 * 2 + 1 }, (_, index) => index * 3);
    const sum = ledgerOf(folder, 'group', keys);
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, 'group')))
        .digest('hex'),
    ).toBe(sum);
    const reader = read(folder, 'group');
    let count = 0;
    for (const { key } of reader.entries()) expect(key).toBe(keys[count++]);
    expect(count).toBe(keys.length);
    expect(reader.countBelow(12_000)).toBe(4000);
    reader.close();
    expect(LedgerReader.open(folder, 'user')).toBeUndefined();
  });

  it('is sound only whole, unaltered and beside the right digest', () => {
    const folder = path('ledger');
    const sums = { group: ledgerOf(folder, 'group', [1, 2, 3]) };
    writeLedgerIndex(folder, { digest: 'd', sums });
    expect(soundLedger(folder, 'd')).toBe(true);
    expect(soundLedger(folder, 'e')).toBe(false);
    expect(soundLedger(path('none'), 'd')).toBe(false);
    const file = join(folder, 'group');
    const bytes = readFileSync(file);
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(file, flipped);
      expect(soundLedger(folder, 'd'), `bit flipped at ${at}`).toBe(false);
    }
    writeFileSync(file, bytes.subarray(0, -1));
    expect(soundLedger(folder, 'd')).toBe(false);
    writeFileSync(file, Buffer.concat([bytes, Buffer.from('x')]));
    expect(soundLedger(folder, 'd')).toBe(false);
  });
});

const routeOf = (name: string, template: string, query?: string): PublishedRoute => ({
  name,
  path: template,
  file: `${template}.json`,
  class: 'record',
  ...(query === undefined
    ? {}
    : {
        parameters: [
          { name: query, in: 'query', type: 'integer', minimum: 0, maximum: 9, default: 1, description: '' },
        ] as const,
      }),
});

describe('the digest', () => {
  it('is that of all routes', () => {
    // Prefixes of each other, and a key in the middle.
    const routes = [
      routeOf('index', '/api/v1'),
      routeOf('group', '/api/v1/group/{id}'),
      routeOf('groups', '/api/v1/group/{id}/history.json'),
      routeOf('largest', '/api/v1/largest', 'limit'),
      routeOf('g', '/api/v1/g{id}'),
    ];
    fc.assert(
      fc.property(fc.array(keySets, { minLength: 4, maxLength: 4 }), ([a = [], b = [], c = [], d = []]) => {
        const folder = path('ledger');
        ledgerOf(folder, 'index', [0]);
        for (const [name, keys] of [
          ['group', a],
          ['groups', b],
          ['largest', c],
          ['g', d],
        ] as const) {
          if (keys.length > 0) ledgerOf(folder, name, keys);
        }
        const wanted = [
          ['/api/v1', 0] as const,
          ...a.map((key) => [`/api/v1/group/${key}`, key] as const),
          ...b.map((key) => [`/api/v1/group/${key}/history.json`, key] as const),
          ...c.map((key) => [`/api/v1/largest?limit=${key}`, key] as const),
          ...d.map((key) => [`/api/v1/g${key}`, key] as const),
        ].map(([url, key]) => ({ path: url, hash: hashOf(key).toString('hex') }));
        expect(treeDigest(folder, routes)).toBe(
          digestOf(new Map(wanted.map(({ path: url, hash }) => [url, hash])), routes),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('is that of no documents where there are no files', () => {
    const folder = path('ledger');
    mkdirSync(folder);
    const routes = [routeOf('group', '/group/{id}')];
    expect(treeDigest(folder, routes)).toBe(digestOf(new Map(), routes));
  });
});

const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

describe('a tree whose ledger is', () => {
  const damages: readonly [string, (folder: string) => void][] = [
    ['missing', (folder) => rmSync(folder, { recursive: true })],
    ['empty', (folder) => readdirSync(folder).forEach((name) => truncateSync(join(folder, name), 0))],
    ['without its index', (folder) => rmSync(join(folder, 'index.json'))],
    ['without one route', (folder) => rmSync(join(folder, 'user'))],
    ['cut short', (folder) => truncateSync(join(folder, 'group'), 100)],
    ['longer than it was', (folder) => writeFileSync(join(folder, 'item'), randomBytes(48), { flag: 'a' })],
    ['flipped in a key', (folder) => flip(join(folder, 'group'), 60)],
    ['flipped in a hash', (folder) => flip(join(folder, 'group'), 75)],
    ['flipped in its header', (folder) => flip(join(folder, 'group'), 1)],
    ['flipped in its index', (folder) => flip(join(folder, 'index.json'), 30)],
    ['no JSON', (folder) => writeFileSync(join(folder, 'index.json'), 'x')],
  ];

  it.each(damages)('%s gets it anew, and no file is touched', async (_, damage) => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const before = stateOf(out);
    damage(inState(out, 'ledger'));
    const { changes, sequence } = await published({ register, out });
    expect([sequence, changes.added, changes.changed, changes.removed]).toEqual([1, 0, 0, 0]);
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), manifestOf(out).routes));
    await expectAtRest(out);
  });

  it('of another snapshot gets it anew, and only what changed is written', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const old = path('ledger');
    cpSync(inState(out, 'ledger'), old, { recursive: true });
    changeRegister(register, 'UPDATE items SET price = 50 WHERE id = 1');
    await published({ register, out });
    rmSync(inState(out, 'ledger'), { recursive: true });
    cpSync(old, inState(out, 'ledger'), { recursive: true });
    const before = stateOf(out);
    const content = contentOf(out);
    changeRegister(register, 'UPDATE items SET price = 51 WHERE id = 2');
    const { changes } = await published({ register, out });
    const changed = namesThatDiffer(await fresh(register, path('fresh')), content);
    expect(changed).toEqual(expect.arrayContaining(['api/v1/item/2.json', 'downloads/items.csv']));
    expect(changed.filter((file) => isEndpoint(file))).toEqual(['api/v1/item/2.json']);
    expect(changes).toMatchObject({
      added: 0,
      changed: changed.filter((file) => !isSibling(file)).length,
      removed: 0,
    });
    expect(namesThatDiffer(stateOf(out), before).toSorted()).toEqual(
      [
        ...changed,
        'changes/3.json',
        'changes/index.json',
        'feeds/snapshots.atom',
        'feeds/snapshots.json',
        'snapshot.json',
      ].toSorted(),
    );
    await expectAtRest(out);
  });

  it('missing where files are damaged too is mended by the next build', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const before = mirrorOf(out);
    rmSync(inState(out, 'ledger'), { recursive: true });
    writeFileSync(join(out, 'api/v1/group/1.json'), '{}');
    rmSync(join(out, 'api/v1/user/1007.json'));
    writeFileSync(join(out, 'api/v1/item/999.json'), '{}');
    await buildWith({ register, out });
    expect([...mirrorOf(out)]).toEqual([...before]);
    expect(existsSync(join(out, 'api/v1/item/999.json'))).toBe(false);
    expect(manifestOf(out).digest).toBe(digestOf(before, manifestOf(out).routes));
    await expectAtRest(out);
    expect(await damageOf(out)).toEqual([]);
  });
});
