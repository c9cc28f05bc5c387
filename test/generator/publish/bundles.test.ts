/** A reader who has one snapshot and takes the bundles has the next: to the byte, whatever happened to the register. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { indexOf as indexFor, writeBundle } from '../../../generator/publish/changes.js';
import { stagePaths } from '../../../generator/publish/stage.js';
import type { Change } from '../../../generator/tree/changes.js';
import { quiet } from '../../support/build.js';
import { writeRegister } from '../../support/register.js';
import { Site, site } from '../../support/site.js';
import { always, it, some, thorough } from '../../support/thorough.js';
import { readTree } from '../../support/tree.js';
import { temporary } from '../../support/folder.js';
import {
  bundleOf,
  changedBy,
  digestOf,
  indexOf,
  snapshotOf,
  mirrorOf,
  sha256,
  urlsOf,
} from '../../support/published.js';
import { expectAtRest } from './support.js';

const path = temporary();

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const ONE = { groups: 'group', users: 'user', games: 'game', items: 'item' };

type Mirror = ReadonlyMap<string, string>;

/** What names the snapshot, and no bundle leads to. */
const isOutside = (url: string): boolean =>
  /^\/downloads($|\/(register\.sqlite|datapackage\.json|SHA256SUMS|README\.txt))/.test(url);

/** The newest bundle leads a mirror to the tree there is now, with no line too many, and the index counts them. */
function expectChange(out: string, before: Mirror, now: Mirror): void {
  const { sequence, as_of, tree } = snapshotOf(out);
  const [from_digest, to_digest] = [before, now].map((mirror) => digestOf(mirror, snapshotOf(out).routes));
  const step = { tree: tree.id, from: sequence - 1, to: sequence, from_digest, to_digest };
  expect(bundleOf(out, sequence)[0]).toEqual(step);
  const urlOf = urlsOf(out);
  const sizes = new Map([...readTree(out)].map(([file, { bytes }]) => [urlOf(file), [file, bytes]]));
  const { put, delete: gone } = changedBy(out, sequence);
  const puts = put.filter((each) => !isOutside(each.path));
  expect(gone.toSorted()).toEqual([...before.keys()].filter((url) => !now.has(url)).toSorted());
  expect(Object.fromEntries(puts.map((each) => [each.path, each.sha256]))).toEqual(
    Object.fromEntries([...now].filter(([url, hash]) => before.get(url) !== hash)),
  );
  expect(new Set(put.map((each) => each.path)).size, 'each path once').toBe(put.length);
  for (const { path: url, file, bytes, body, sha256: sum } of puts) {
    expect([file, bytes]).toEqual(sizes.get(url));
    // Downloads come without a body, and nothing else that is text does.
    expect(body === undefined).toBe(url.startsWith('/downloads/'));
    expect([sum, bytes]).toEqual(body === undefined ? [sum, bytes] : [sha256(body), Buffer.byteLength(body)]);
  }
  const counts = Object.entries(ONE).map(([kind, one]) => {
    const isOf = (url: string): boolean => url.startsWith(`/api/v1/${one}/`);
    const all = puts.filter((each) => isOf(each.path));
    const changed = all.filter((each) => before.has(each.path)).length;
    return [kind, { added: all.length - changed, changed, removed: gone.filter(isOf).length }];
  });
  const said = { sequence, from: sequence - 1, as_of, counts: Object.fromEntries(counts) as unknown };
  expect(indexOf(out).changes[0]).toMatchObject(said);
}

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
const { MAX_SAFE_INTEGER: LAST } = Number;

/** What becomes of a register; its ids are of many lengths, and so would be sorted otherwise as text. */
const HISTORY: readonly string[] = [
  `${add('items', [LAST, 9])} ${add('games', [99])} ${add('users', [9, 10, 11, 100], 'username')}`,
  `${add('groups', [1, 2, 9, 1000])} ${add('games', [1009])} UPDATE groups SET member_count = id;
    UPDATE users SET username = 'x' WHERE id = 9;`,
  withhold('item', LAST),
  'DELETE FROM games; DELETE FROM users WHERE id IN (10, 100); DELETE FROM items WHERE id = 9;',
  `${withhold('user', 100)} ${add('games', [1009, 7])}`,
];

describe('bundles of changes', () => {
  it('lead from each tree to the next, and none of before a takedown stays', async () => {
    const made = new Site(writeRegister(path('register.sqlite'), 'SELECT 1'), path('dist'));
    const { out } = made;
    let before: Mirror | undefined;
    for (const [index, sql] of HISTORY.entries()) {
      await made.build(sql);
      const now = mirrorOf(out);
      const { sequence, digest, tree } = snapshotOf(out);
      const found = indexOf(out);
      expect([index + 1, tree.id, digest]).toEqual([sequence, found.tree, found.digest]);
      expect(found.changes.map((change) => change.sequence)).toEqual(range(sequence).toReversed());
      if (before !== undefined) expectChange(out, before, now);
      before = now;
      expect(found.oldest).toBe([1, 1, 2, 2, 4][index]);
      const bundles = found.changes.flatMap(({ bundle }) => bundle ?? []);
      expect(bundles.length).toBe(sequence - found.oldest);
      for (const { file, bytes, sha256: sum } of bundles) {
        const content = readFileSync(join(out, file));
        expect([content.length, sha256(content)]).toEqual([bytes, sum]);
      }
      expect(readdirSync(join(out, 'changes')).length).toBe(bundles.length + 1);
    }
    await expectAtRest(out);
  });

  const ID = { tree: '0'.repeat(16), digest: '0'.repeat(64) };
  const changes = (sizes: readonly (number | null)[]): Change[] =>
    sizes.map((bytes, at) => ({
      sequence: sizes.length + 1 - at,
      from: sizes.length - at,
      from_digest: ID.digest,
      digest: ID.digest,
      as_of: null,
      built_at: '2026-12-01T00:00:00Z',
      counts: {},
      bundle: bytes === null ? null : { file: '/changes/1.ndjson.gz', bytes, sha256: ID.digest },
    }));

  it.each([
    ['30 snapshots', Array.from({ length: 40 }, () => 1), 30],
    ['a fifth of the tree', [100, 50, 40, 9, 1], 4],
    ['the first without a bundle', [1, 1, null, 1], 2],
  ])('are kept up to %s', (_, sizes, kept) => {
    const ends = { ...ID, sequence: sizes.length + 1 };
    const index = indexFor(ends, changes(sizes), 1000);
    expect(index.oldest).toBe(ends.sequence - kept);
    expect(index.changes.flatMap(({ bundle }, at) => (bundle === null ? [] : [at]))).toEqual(
      range(kept).map((at) => at - 1),
    );
    expect(index.changes.length).toBe(Math.min(sizes.length, 30));
  });

  /** The bundle of changes of so many bytes that can't be compressed. */
  async function bundled(megabytes: number, treeMegabytes: number) {
    const stage = path('stage');
    const { bundle, scratch } = stagePaths(stage);
    for (const folder of [bundle, scratch]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(bundle, 'a 0000000000000000.sha256'), randomBytes(megabytes * 1e6));
    const to = { ...ID, sequence: 2 };
    return writeBundle(stage, { ...ID, sequence: 1 }, to, ['a'], treeMegabytes * 1e6, quiet());
  }

  /** Megabytes of a bundle and of its tree: at most a fifth of that, and a tenth or 64 MiB. */
  const SIZES = [
    [2, 9, false],
    [70, 650, false],
    [70, 750, true],
    [60, 550, true],
    [2, 11, true],
  ] as const;

  always('are not written if they are too large', async () => {
    for (const [size, ofTree, isWritten] of some(SIZES, 2))
      expect([size, ofTree, (await bundled(size, ofTree)) !== null]).toEqual([size, ofTree, isWritten]);
  });
});

const OTHER = [/"sequence":\d+,"digest"/, '"sequence":1,"digest"'] as const;
const DAMAGES: readonly ((file: string) => void)[] = [
  (file) => rmSync(file),
  (file) => truncateSync(file, 100),
  (file) => writeFileSync(file, '{"changes":[{"sequence":"1"}]}'),
  (file) => writeFileSync(file, readFileSync(file, 'utf8').replace(...OTHER)),
];

thorough('an index of changes that is missing, cut short or another starts a new one', async () => {
  const made = await site(path);
  const { out } = made;
  await made.build(`UPDATE users SET display_name = 'Marlow' WHERE id = 1007`);
  expect(JSON.stringify(bundleOf(out, 2))).toContain('Marlow');
  const { tree } = indexOf(out);
  for (const [at, damage] of DAMAGES.entries()) {
    const sequence = at + 3;
    damage(join(out, 'changes/index.json'));
    await made.build(at === 0 ? withhold('user', 1007) : `UPDATE items SET price = 5${at} WHERE id = 1`);
    expect(indexOf(out)).toMatchObject({ tree, sequence, oldest: sequence - 1, changes: [{ sequence }] });
    // No bundle that no index names: nobody would ever delete it.
    const files = [`${sequence}.ndjson.gz`, 'index.json'];
    expect(readdirSync(join(out, 'changes')).toSorted()).toEqual(files);
  }
  await expectAtRest(out);
});
