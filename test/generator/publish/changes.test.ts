/** A reader who has one snapshot and takes the bundles has the next: to the byte, whatever happened to the register. */
import { readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect } from 'vitest';
import { temporary } from '../../support/folder.js';
import {
  bundleOf,
  digestOf,
  indexOf,
  changedBy,
  manifestOf,
  mirrorOf,
  sha256,
  urlsOf,
} from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { buildWith, copyOf, site, type Site } from '../../support/site.js';
import { always, it, some } from '../../support/thorough.js';
import { differing, readTree } from '../../support/tree.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { publish, route } from './small.js';
import { damageOf, expectAtRest } from './support.js';

const path = temporary();

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const ONE = { groups: 'group', users: 'user', games: 'game', items: 'item' };

type Mirror = ReadonlyMap<string, string>;
const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

/** What a bundle must say: what differs between two mirrors. */
function differences(out: string, before: Mirror, now: Mirror) {
  const urlOf = urlsOf(out);
  const sizes = new Map([...readTree(out)].map(([file, { bytes }]) => [urlOf(file), bytes]));
  const put = [...now]
    .filter(([url, hash]) => before.get(url) !== hash)
    .map(([url, hash]) => ({ path: url, sha256: hash, bytes: sizes.get(url) }));
  return { put: put.toSorted(byPath), delete: [...before.keys()].filter((url) => !now.has(url)).toSorted() };
}

/** What a bundle says, in the same order. */
function bundled(out: string, sequence: number) {
  const { put, delete: gone } = changedBy(out, sequence);
  const named = put.map(({ path: url, sha256: sum, bytes }) => ({ path: url, sha256: sum, bytes }));
  return { put: named.toSorted(byPath), delete: gone.toSorted() };
}

/** Takes a bundle over into a mirror. */
function apply(out: string, mirror: Map<string, string>, sequence: number): void {
  const [, ...lines] = bundleOf(out, sequence);
  expect(new Set(lines.map(({ path: url }) => url)).size, 'each path once').toBe(lines.length);
  for (const line of lines) {
    if ('deleted' in line) mirror.delete(line.path);
    else mirror.set(line.path, line.sha256);
  }
  const puts = lines.flatMap((line) => ('deleted' in line ? [] : [line]));
  const found = puts.map(({ body, ...put }) => ({
    put: { ...put, isDownload: put.path.startsWith('/downloads/') },
    // Downloads come without a body, and nothing else does.
    is:
      body === undefined
        ? { ...put, isDownload: true }
        : { ...put, isDownload: false, sha256: sha256(body), bytes: Buffer.byteLength(body) },
  }));
  expect(found.map(({ is }) => is)).toEqual(found.map(({ put }) => put));
}

/** The newest change leads a mirror to the tree there is now, and says so in its counts. */
function expectChange(out: string, before: Mirror, now: Mirror): void {
  const { sequence, as_of, routes, tree } = manifestOf(out);
  const [from_digest, to_digest] = [before, now].map((mirror) => digestOf(mirror, routes));
  const head = { tree: tree.id, from: sequence - 1, to: sequence, from_digest, to_digest };
  const expected = differences(out, before, now);
  expect(bundled(out, sequence)).toEqual(expected);
  const mirror = new Map(before);
  apply(out, mirror, sequence);
  expect(differing(record(mirror), record(now))).toEqual([]);
  expect(bundleOf(out, sequence)[0]).toEqual(head);
  const counts = Object.entries(ONE).map(([kind, one]) => {
    const isOf = (url: string): boolean => url.startsWith(`/api/v1/${one}/`);
    const puts = expected.put.filter((each) => isOf(each.path));
    const changed = puts.filter((each) => before.has(each.path)).length;
    return [kind, { added: puts.length - changed, changed, removed: expected.delete.filter(isOf).length }];
  });
  const newest = { sequence, from: sequence - 1, as_of, counts: Object.fromEntries(counts) as unknown };
  expect(indexOf(out).changes[0]).toMatchObject(newest);
}

const record = (mirror: Mirror): Record<string, string> => Object.fromEntries(mirror);

const routes = [route('item', '/api/v1/item/{id}', 'api/v1/item/{id}.json')];

/** Random, so that nothing is compressed by more than a quarter; 3 kB. */
const body = (): string => randomBytes(2250).toString('base64');

const TIMES = `'2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2`;
const add = (table: string, ids: readonly number[], column = 'name'): string =>
  ids
    .map(
      (id) => `INSERT INTO ${table} (id, ${column}, first_measured_at, measured_at, measurements)
        VALUES (${id}, 'one of ${table}', ${TIMES});`,
    )
    .join('');
const withhold = (kind: string, id: number): string =>
  `INSERT INTO withheld VALUES ('${kind}', ${id}, '2026-11-20T08:00:00Z');`;
const COUNTED = `UPDATE groups SET member_count = id;
  INSERT INTO group_member_readings SELECT id, '2026-11-19T08:00:00Z', id FROM groups WHERE true
  ON CONFLICT DO NOTHING;`;
const { MAX_SAFE_INTEGER: LAST } = Number;

/** What becomes of a register; its ids are of many lengths, so that they are sorted as text. */
const HISTORY: readonly (readonly [what: string, sql: string])[] = [
  ['the largest id there is', add('items', [LAST, 9])],
  [
    'all kinds, and the lists of the largest',
    `${add('groups', [1, 2, 9, 1000])} ${add('users', [9, 10, 11, 100], 'username')} ${add('games', [99, 1009])} ${COUNTED}`,
  ],
  ['a record withheld', withhold('item', LAST)],
  [
    'another list of the largest',
    `${add('groups', [10])} ${COUNTED} UPDATE users SET username = 'x' WHERE id = 9;`,
  ],
  [
    'records gone',
    'DELETE FROM games; DELETE FROM users WHERE id IN (10, 100); DELETE FROM items WHERE id = 9;',
  ],
  ['a record withheld that was gone', withhold('user', 100)],
  ['others', `${add('games', [1009, 7])} UPDATE groups SET description = 'changed' WHERE id IN (2, 1000);`],
  ['withheld no more', 'DELETE FROM withheld'],
];

describe('bundles of changes', () => {
  it('lead from each tree to the next, whatever became of the register', async () => {
    const register = writeRegister(path('register.sqlite'), 'SELECT 1');
    const out = path('dist');
    const mirrors: Mirror[] = [];
    for (const [index, [what, sql]] of HISTORY.entries()) {
      changeRegister(register, sql);
      const result = await buildWith({ register, out });
      if (!result.published) throw new Error(JSON.stringify(result.report));
      const now = mirrorOf(out);
      const { sequence, digest, tree, routes: published } = manifestOf(out);
      expect([what, sequence]).toEqual([what, index + 1]);
      expect(digest).toBe(digestOf(now, published));
      const found = indexOf(out);
      const heads = [found.tree, found.sequence, found.digest, found.changes[0]?.digest];
      expect(heads).toEqual([tree.id, sequence, digest, digest]);
      expect(found.changes.map((change) => change.sequence)).toEqual(
        found.changes.map((_, place) => sequence - place),
      );
      const before = mirrors.at(-1);
      if (before !== undefined) expectChange(out, before, now);
      mirrors.push(now);
      // What the index promises: from the oldest, the bundles lead here.
      const old = new Map(mirrors[found.oldest - 1]);
      for (let each = found.oldest + 1; each <= sequence; each += 1) apply(out, old, each);
      expect(differing(record(old), record(now))).toEqual([]);
      for (const { file, bytes, sha256: sum } of found.changes.flatMap(({ bundle }) => bundle ?? [])) {
        const content = readFileSync(join(out, file));
        expect([content.length, sha256(content)]).toEqual([bytes, sum]);
      }
    }
    await expectAtRest(out);
  });

  it('are kept for 30 snapshots', async () => {
    const out = path('dist');
    for (let build = 1; build <= 33; build += 1) {
      await publish(out, { routes, documents: { item: { 1: `price ${build}`, 2: 'x'.repeat(1_000_000) } } });
      // The first snapshot has no bundle.
      expect(indexOf(out).oldest).toBe(Math.max(build - 30, 1));
    }
    expect(indexOf(out).changes.map(({ sequence }) => sequence)).toEqual(range(30).map((at) => 34 - at));
    const names = range(30).map((index) => `${index + 3}.ndjson.gz`);
    expect(readdirSync(join(out, 'changes')).toSorted()).toEqual([...names, 'index.json'].toSorted());
    expect(await damageOf(out)).toEqual([]);
  });

  it('are not kept if they have more than both a size and a tenth of the tree, and oldest rises', async () => {
    const out = path('dist');
    const bundleBytes = 100_000;
    const item = Object.fromEntries(range(2000).map((id) => [id, body()]));
    const change = async (documents: number) => {
      for (const id of range(documents)) item[id] = body();
      const before = mirrorOf(out);
      await publish(out, { routes, documents: { item }, bundleBytes });
      const { sequence, oldest, changes } = indexOf(out);
      const now = mirrorOf(out);
      const expected = differences(out, before, now);
      expect(changes[0]?.bundle === null ? expected : bundled(out, sequence)).toEqual(expected);
      // Of several chunks.
      expect(manifestOf(out).digest).toBe(digestOf(now, routes));
      expect(await damageOf(out)).toEqual([]);
      return { sequence, oldest, bundle: changes[0]?.bundle };
    };
    await publish(out, { routes, documents: { item }, bundleBytes });
    // 450 kB is larger than the size, and less than a tenth of 6 MB.
    expect(await change(150)).toMatchObject({ sequence: 2, oldest: 1, bundle: {} });
    // 3 MB is larger than both.
    expect(await change(1000)).toEqual({ sequence: 3, oldest: 3, bundle: null });
    // Nothing leads on from the snapshots before.
    expect(readdirSync(join(out, 'changes'))).toEqual(['index.json']);
    expect(await change(1)).toMatchObject({ sequence: 4, oldest: 3, bundle: {} });
  });

  it('stay below a fifth of the tree, whatever share of it changes every night', async () => {
    const out = path('dist');
    const item = Object.fromEntries(range(200).map((id) => [id, body()]));
    /** What a copy has at each snapshot. */
    const mirrors: Mirror[] = [];
    const kept: number[] = [];
    for (let night = 1; night <= 32; night += 1) {
      // All documents, a tenth, one: a whole bundle is above a fifth, two of a tenth are below.
      for (const id of range([200, 20, 20, 20, 1, 1, 1, 1][night % 8] ?? 0)) item[id] = body();
      await publish(out, { routes, documents: { item }, withheld: { item: night < 29 ? [] : [777] } });
      const now = mirrorOf(out);
      mirrors.push(now);
      const { tree } = manifestOf(out);
      const { oldest, changes } = indexOf(out);
      const files = readdirSync(join(out, 'changes'));
      const bytes = files.reduce((sum, name) => sum + statSync(join(out, 'changes', name)).size, 0);
      expect(bytes, `night ${night}`).toBeLessThan(Number(tree['bytes']) / 5);
      expect(changes).toHaveLength(Math.min(night, 30));
      // Those that are kept lead here, and what leads nowhere is gone.
      const steps = changes.filter(({ bundle }) => bundle !== null).map(({ sequence }) => sequence);
      expect(steps).toEqual(range(night - oldest).map((place) => night + 1 - place));
      expect(files).toHaveLength(steps.length + 1);
      const copy = new Map(mirrors[oldest - 1]);
      for (const step of steps.toReversed()) apply(out, copy, step);
      expect(differing(record(copy), record(now))).toEqual([]);
      const { damage, untracked } = await verify(new Tree(out), quiet());
      expect([damage, untracked.files]).toEqual([[], []]);
      kept.push(steps.length);
    }
    // Nothing of the night on which everything changes, and two of a tenth.
    expect(kept.slice(15, 20)).toEqual([0, 1, 2, 2, 3]);
    // A takedown leaves its own.
    expect(kept.slice(27, 30)).toEqual([3, 1, 2]);
  });
});

describe('an index of changes that is', () => {
  let first: Site;
  beforeAll(async () => {
    first = await site(path);
    await first.build(`UPDATE users SET display_name = 'Marlow' WHERE id = 1007`);
    await first.build('DELETE FROM users WHERE id = 1007');
  });

  const damages: readonly [string, (file: string) => void][] = [
    ['missing', (file) => rmSync(file)],
    ['cut short', (file) => truncateSync(file, 100)],
    ['of another form', (file) => writeFileSync(file, '{"changes":[{"sequence":"1"}]}')],
    ['of another snapshot', (file) => writeFileSync(file, '{"sequence":9,"oldest":9,"changes":[]}')],
  ];

  always.each(some(damages, 2))(
    '%s starts a new index, and what is withheld goes from bundles that it named',
    async (_, damage) => {
      const made = copyOf(first, path);
      const { out } = made;
      expect(JSON.stringify(bundleOf(out, 2))).toContain('Marlow');
      const file = join(out, 'changes/index.json');
      const { tree } = indexOf(out);
      for (const [sequence, sql] of [
        [4, 'UPDATE items SET price = 52 WHERE id = 1'],
        [5, `INSERT INTO withheld VALUES ('user', 1007, '2026-11-20T08:00:00Z')`],
      ] as const) {
        damage(file);
        await made.build(sql);
        expect(indexOf(out)).toMatchObject({ tree, sequence, oldest: sequence - 1, changes: [{ sequence }] });
        expect.soft(await damageOf(out)).toEqual([]);
        // No bundle that no index names: nobody would ever delete it.
        const files = [`${sequence}.ndjson.gz`, 'index.json'];
        expect.soft(readdirSync(join(out, 'changes')).toSorted()).toEqual(files);
      }
    },
  );
});
