/** The index: what the digest is computed from, relied on only if it is whole, and otherwise made anew. */
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
import { describe, expect } from 'vitest';
import { always, it, some, thorough } from '../../support/thorough.js';
import { HashFileWriter } from '../../../generator/tree/hash-file.js';
import { indexDigest } from '../../../generator/tree/digest.js';
import { isSound, writeIndex } from '../../../generator/tree/index-json.js';
import type { PublishedRoute } from '../../../generator/tree/published-routes.js';
import { published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, inState, isEndpoint, isSibling, namesThatDiffer } from '../../support/tree.js';
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

function write(folder: string, route: string, keys: readonly number[]): string {
  const writer = new HashFileWriter(join(folder, route));
  for (const key of keys) writer.add({ key, bytes: 7, hash: hashOf(key) });
  return writer.finish();
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

describe('an index', () => {
  it('is sound only whole, unaltered and beside the right digest', () => {
    const folder = path('index');
    const sums = { group: write(folder, 'group', [1, 2, 3]) };
    writeIndex(folder, { digest: 'd', sums, routes: {}, fingerprints: false, exports: {}, absent: [] });
    expect(isSound(folder, 'd')).toBe(true);
    expect(isSound(folder, 'e')).toBe(false);
    expect(isSound(path('none'), 'd')).toBe(false);
    const file = join(folder, 'group');
    const bytes = readFileSync(file);
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(file, flipped);
      expect(isSound(folder, 'd'), `bit flipped at ${at}`).toBe(false);
    }
    writeFileSync(file, bytes.subarray(0, -1));
    expect(isSound(folder, 'd')).toBe(false);
    writeFileSync(file, Buffer.concat([bytes, Buffer.from('x')]));
    expect(isSound(folder, 'd')).toBe(false);
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
        const folder = path('index');
        write(folder, 'index', [0]);
        for (const [name, keys] of [
          ['group', a],
          ['groups', b],
          ['largest', c],
          ['g', d],
        ] as const) {
          if (keys.length > 0) write(folder, name, keys);
        }
        const wanted = [
          ['/api/v1', 0] as const,
          ...a.map((key) => [`/api/v1/group/${key}`, key] as const),
          ...b.map((key) => [`/api/v1/group/${key}/history.json`, key] as const),
          ...c.map((key) => [`/api/v1/largest?limit=${key}`, key] as const),
          ...d.map((key) => [`/api/v1/g${key}`, key] as const),
        ].map(([url, key]) => ({ path: url, hash: hashOf(key).toString('hex') }));
        expect(indexDigest(folder, routes)).toBe(
          digestOf(new Map(wanted.map(({ path: url, hash }) => [url, hash])), routes),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('is that of no documents where there are no files', () => {
    const folder = path('index');
    mkdirSync(folder);
    const routes = [routeOf('group', '/group/{id}')];
    expect(indexDigest(folder, routes)).toBe(digestOf(new Map(), routes));
  });
});

const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

/** Flips a bit of the first value under a member, from a text on. */
function flipMember(file: string, from: string, member: string): void {
  const content = readFileSync(file);
  const start = content.indexOf(from);
  expect(start).toBeGreaterThan(0);
  const at = content.indexOf(`"${member}":`, start) + member.length + 3;
  // Behind the quotes of a text, if it is one.
  flip(file, content[at] === '"'.charCodeAt(0) ? at + 1 : at);
}

describe('a tree whose index is', () => {
  const damages: readonly [string, (folder: string) => void][] = [
    ['missing', (folder) => rmSync(folder, { recursive: true })],
    ['empty', (folder) => readdirSync(folder).forEach((name) => truncateSync(join(folder, name), 0))],
    ['without its description', (folder) => rmSync(join(folder, 'index.json'))],
    ['without one route', (folder) => rmSync(join(folder, 'user'))],
    ['cut short', (folder) => truncateSync(join(folder, 'group'), 100)],
    ['longer than it was', (folder) => writeFileSync(join(folder, 'item'), randomBytes(48), { flag: 'a' })],
    ['flipped in a key', (folder) => flip(join(folder, 'group'), 55)],
    ['flipped in a size', (folder) => flip(join(folder, 'group'), 63)],
    ['flipped in a hash', (folder) => flip(join(folder, 'group'), 75)],
    ['flipped in its digest', (folder) => flip(join(folder, 'index.json'), 30)],
    ['without the fingerprints of a table', (folder) => rmSync(join(folder, 'chunks-items'))],
    ['flipped in the fingerprint of a record', (folder) => flip(join(folder, 'records-item'), 75)],
    ['no JSON', (folder) => writeFileSync(join(folder, 'index.json'), 'x')],
  ];

  always.each(some(damages, 4))('%s gets it anew, and no file is touched', async (_, damage) => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const before = stateOf(out);
    damage(inState(out, 'index'));
    const { changes, sequence } = await published({ register, out });
    expect([sequence, changes.added, changes.changed, changes.removed]).toEqual([1, 0, 0, 0]);
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), manifestOf(out).routes));
    await expectAtRest(out);
  });

  always.each(some(['documents', 'bytes', 'root'], 1))(
    'flipped in what it says of a route (%s) does not make the next snapshot say so, too',
    async (what) => {
      const register = writeRegister(path('register.sqlite'), ROWS);
      const out = path('dist');
      await published({ register, out });
      flipMember(inState(out, 'index/index.json'), '"group-history":{"documents":', what);
      changeRegister(register, 'UPDATE items SET price = 50 WHERE id = 1');
      await published({ register, out });
      const other = path('dist');
      await published({ register, out: other });
      const { digest, routes, tree } = manifestOf(out);
      expect({ digest, tree }).toEqual({
        digest: digestOf(mirrorOf(out), routes),
        tree: { ...manifestOf(other).tree, id: tree.id },
      });
      await expectAtRest(out);
    },
  );

  it('of another snapshot gets it anew, and only what changed is written', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const old = path('index');
    cpSync(inState(out, 'index'), old, { recursive: true });
    changeRegister(register, 'UPDATE items SET price = 50 WHERE id = 1');
    await published({ register, out });
    rmSync(inState(out, 'index'), { recursive: true });
    cpSync(old, inState(out, 'index'), { recursive: true });
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
        'changes/3.ndjson.gz',
        'changes/index.json',
        'feeds/snapshots.atom',
        'feeds/snapshots.json',
        'snapshot.json',
      ].toSorted(),
    );
    await expectAtRest(out);
  });

  thorough('missing where files are damaged too is mended by the next build', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const before = mirrorOf(out);
    rmSync(inState(out, 'index'), { recursive: true });
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
