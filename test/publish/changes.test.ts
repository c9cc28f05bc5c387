/** Who has one snapshot and takes the change lists has the next: to the byte, whatever happened to the register. */
import {
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
import { published } from '../support/build.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { differing, readTree } from '../support/tree.js';
import { publish, route } from './small.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  digestOf,
  expectAtRest,
  indexOf,
  listOf,
  manifestOf,
  mirrorOf,
  sha256,
  stateOf,
  temporary,
  urlsOf,
} from './support.js';

const path = temporary();

const KINDS = ['groups', 'users', 'games', 'items'] as const;
type Kind = (typeof KINDS)[number];
const ONE: Readonly<Record<Kind, string>> = { groups: 'group', users: 'user', games: 'game', items: 'item' };
const NAME: Readonly<Record<Kind, string>> = {
  groups: 'name',
  users: 'username',
  games: 'name',
  items: 'name',
};

interface Step {
  readonly kind: Kind;
  readonly what: 'put' | 'remove' | 'withhold' | 'return' | 'measure';
  readonly id: number;
  readonly value: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  what: fc.constantFrom('put', 'put', 'put', 'remove', 'withhold', 'return', 'measure'),
  // Few, so that they meet again, and of many lengths, so that they are sorted as text.
  id: fc.constantFrom(1, 2, 9, 10, 11, 99, 100, 1000, 1009, 9_007_199_254_740_991),
  value: fc.integer({ min: 0, max: 5 }),
});

const TIMES = `'2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2`;

/** A group's count is its newest reading's. */
const NEWEST = `UPDATE groups SET member_count = coalesce((SELECT member_count FROM group_member_readings
  WHERE group_id = id ORDER BY measured_at DESC LIMIT 1), member_count);`;

function sqlOf({ kind, what, id, value }: Step): string {
  switch (what) {
    case 'put':
      return `INSERT INTO ${kind} (id, ${NAME[kind]}, first_measured_at, measured_at, measurements)
        VALUES (${id}, 'name ${value}', ${TIMES}) ON CONFLICT (id) DO UPDATE SET ${NAME[kind]} = 'name ${value}';
        ${kind === 'groups' ? `UPDATE groups SET member_count = ${value} WHERE id = ${id};` : ''}`;
    case 'remove':
      return `DELETE FROM ${kind} WHERE id = ${id};
        ${kind === 'groups' ? `DELETE FROM group_member_readings WHERE group_id = ${id};` : ''}`;
    case 'withhold':
      return `INSERT OR IGNORE INTO withheld VALUES ('${ONE[kind]}', ${id}, '2026-11-20T08:00:00Z');`;
    case 'return':
      return `DELETE FROM withheld WHERE kind = '${ONE[kind]}' AND id = ${id};`;
    case 'measure':
      return `INSERT OR IGNORE INTO group_member_readings
        SELECT id, '2026-11-1${value}T08:00:00Z', ${value} FROM groups WHERE id = ${id};`;
  }
}

/** How many records of each kind were added, changed, removed between two mirrors. */
function countsOf(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>) {
  const count = (kind: Kind) => {
    const prefix = `/api/v1/${ONE[kind]}/`;
    const old = [...before].filter(([url]) => url.startsWith(prefix));
    const next = [...now].filter(([url]) => url.startsWith(prefix));
    return {
      added: next.filter(([url]) => !before.has(url)).length,
      changed: next.filter(([url, hash]) => before.has(url) && before.get(url) !== hash).length,
      removed: old.filter(([url]) => !now.has(url)).length,
    };
  };
  return { groups: count('groups'), users: count('users'), games: count('games'), items: count('items') };
}

/** Takes one change list over into a mirror, as docs/api-clients.md says. */
function follow(out: string, mirror: Map<string, string>, sequence: number): void {
  const urlOf = urlsOf(out);
  const files = new Map([...readTree(out)].map(([file, content]) => [urlOf(file), content]));
  const list = listOf(out, sequence);
  expect([list.from, list.to]).toEqual([sequence - 1, sequence]);
  expect(new Set([...list.put.map((put) => put.path), ...list.delete]).size).toBe(
    list.put.length + list.delete.length,
  );
  for (const put of list.put) {
    const file = files.get(put.path);
    expect([put.path, file?.sha256, file?.bytes]).toEqual([put.path, put.sha256, put.bytes]);
    expect(mirror.get(put.path), `${put.path} is put though it did not change`).not.toBe(put.sha256);
    mirror.set(put.path, put.sha256);
  }
  for (const gone of list.delete) expect(mirror.delete(gone), `${gone} was not there`).toBe(true);
}

type Newest = ReturnType<typeof indexOf>['changes'][number] | undefined;

/** The newest change leads a mirror to the tree there is now, and says so in its counts. */
function followed(
  out: string,
  mirror: Map<string, string>,
  newest: Newest,
  now: ReadonlyMap<string, string>,
): void {
  const before = new Map(mirror);
  const { sequence, as_of } = manifestOf(out);
  follow(out, mirror, sequence);
  expect(differing(record(mirror), record(now))).toEqual([]);
  expect(newest).toMatchObject({ sequence, from: sequence - 1, as_of, counts: countsOf(before, now) });
}

const record = (mirror: ReadonlyMap<string, string>): Record<string, string> => Object.fromEntries(mirror);

describe('change lists', () => {
  it('lead from each tree to the next, over any sequence of registers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 0, maxLength: 9 }), { minLength: 3, maxLength: 7 }),
        async (steps) => {
          const register = writeRegister(path('register.sqlite'), 'SELECT 1');
          changeRegister(register, 'PRAGMA journal_mode = WAL');
          const out = path('dist');
          let mirror = new Map<string, string>();
          for (const [index, each] of steps.entries()) {
            changeRegister(register, `PRAGMA synchronous = OFF; ${each.map(sqlOf).join('\n')} ${NEWEST}`);
            const at = `2026-12-01T00:00:${String(index).padStart(2, '0')}Z`;
            const sequence = index === 0 ? 0 : manifestOf(out).sequence;
            const result = await buildWith({ register, out, at });
            if (!result.published) throw new Error(JSON.stringify(result.report));
            const now = mirrorOf(out);
            const manifest = manifestOf(out);
            expect(manifest.built_at).toBe(at);
            expect(manifest.digest).toBe(digestOf(now, manifest.routes));
            if (index === 0) mirror = new Map(now);
            const same = differing(record(mirror), record(now)).length === 0;
            expect(manifest.sequence).toBe(index === 0 ? 1 : sequence + (same ? 0 : 1));
            const found = indexOf(out);
            const [newest] = found.changes;
            expect([found.sequence, found.oldest, newest?.sequence]).toEqual([
              manifest.sequence,
              1,
              manifest.sequence,
            ]);
            expect(found.changes.map((change) => change.sequence)).toEqual(
              found.changes.map((_, place) => manifest.sequence - place),
            );
            if (index > 0 && !same) followed(out, mirror, newest, now);
            const described = found.changes.filter(({ file }) => file !== null);
            expect(described.map(({ bytes, sha256: sum }) => [bytes, sum])).toEqual(
              described.map(({ sequence: of }) => {
                const content = readFileSync(join(out, `changes/${of}.json`));
                return [content.length, sha256(content)];
              }),
            );
          }
          await expectAtRest(out);
        },
      ),
      { numRuns: 7 },
    );
  });

  it('begin with the second snapshot', async () => {
    const out = path('dist');
    await published({ register: writeRegister(path('register.sqlite'), ROWS), out });
    expect(readdirSync(join(out, 'changes'))).toEqual(['index.json']);
    expect(indexOf(out)).toMatchObject({
      sequence: 1,
      oldest: 1,
      changes: [
        { sequence: 1, from: null, file: null, bytes: null, sha256: null, counts: { groups: { added: 20 } } },
      ],
    });
  });

  it('are not made where nothing changed; only the time of the build is renewed', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out, at: '2026-12-01T00:00:00Z' });
    changeRegister(register, `UPDATE items SET price = 50 WHERE id = 1`);
    await published({ register, out, at: '2026-12-02T00:00:00Z' });
    const before = stateOf(out);
    await published({ register, out, at: '2026-12-03T00:00:00Z' });
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    expect(manifestOf(out)).toMatchObject({ sequence: 2, built_at: '2026-12-03T00:00:00Z' });
    expect(indexOf(out).changes[0]).toMatchObject({ sequence: 2, built_at: '2026-12-02T00:00:00Z' });
  });

  it('are kept for 30 snapshots; older ones are pruned, and the index says from where on it leads', async () => {
    const out = path('dist');
    const routes = [route('item', '/api/v1/item/{id}', 'api/v1/item/{id}.json')];
    const mirrors = new Map<number, Map<string, string>>();
    const oldests: number[] = [];
    for (let build = 1; build <= 34; build += 1) {
      await publish(out, { routes, documents: { item: { 7: `price ${build}` } } });
      mirrors.set(build, mirrorOf(out));
      oldests.push(indexOf(out).oldest);
    }
    // The first of a tree has no list, so 30 entries lead from the first snapshot to the 30th.
    expect(oldests).toEqual([...Array.from({ length: 30 }, () => 1), 1, 2, 3, 4]);
    const { changes, oldest, sequence } = indexOf(out);
    expect([sequence, oldest, changes.length, changes.at(-1)?.sequence]).toEqual([34, 4, 30, 5]);
    const kept = Array.from({ length: 30 }, (_, index) => `${index + 5}.json`);
    expect(readdirSync(join(out, 'changes')).toSorted()).toEqual([...kept, 'index.json'].toSorted());
    // What the index promises: from the oldest, the lists lead here. (The bodies of then are gone.)
    const mirror = new Map(mirrors.get(oldest));
    for (let next = oldest + 1; next <= sequence; next += 1) {
      for (const put of listOf(out, next).put) mirror.set(put.path, put.sha256);
      for (const gone of listOf(out, next).delete) mirror.delete(gone);
    }
    expect(differing(record(mirror), record(mirrorOf(out)))).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
  });
});

describe('an index of changes that is', () => {
  const damages: readonly [string, (file: string) => void][] = [
    ['missing', (file) => rmSync(file)],
    ['empty', (file) => truncateSync(file, 0)],
    ['cut short', (file) => truncateSync(file, 100)],
    ['no JSON', (file) => writeFileSync(file, 'gone wrong')],
    ['of another form', (file) => writeFileSync(file, '{"changes":[{"sequence":"1"}]}')],
    ['of another snapshot', (file) => writeFileSync(file, '{"sequence":9,"oldest":9,"changes":[]}')],
  ];

  it.each(damages)('%s starts anew, and says from where on it leads', async (_, damage) => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    for (const price of [50, 51]) {
      changeRegister(register, `UPDATE items SET price = ${price} WHERE id = 1`);
      await published({ register, out });
    }
    damage(join(out, 'changes/index.json'));
    changeRegister(register, 'UPDATE items SET price = 52 WHERE id = 1');
    await published({ register, out });
    const found = indexOf(out);
    expect([found.sequence, found.oldest, found.changes.map(({ sequence }) => sequence)]).toEqual([
      4,
      3,
      [4],
    ]);
    expect(listOf(out, 4).put.map((put) => put.path)).toContain('/api/v1/item/1');
    expect.soft(await damageOf(out)).toEqual([]);
    // No list that no index names: nobody would ever delete it.
    expect.soft(readdirSync(join(out, 'changes')).toSorted()).toEqual(['4.json', 'index.json']);
  });

  it('a folder is an error that leaves the tree as it was', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const file = join(out, 'changes/index.json');
    rmSync(file);
    mkdirSync(file);
    const before = contentOf(out);
    changeRegister(register, 'UPDATE items SET price = 52 WHERE id = 1');
    await expect(buildWith({ register, out })).rejects.toMatchObject({ exitCode: 3 });
    expect(differing(contentOf(out), before)).toEqual([]);
    rmSync(file, { recursive: true });
    await buildWith({ register, out });
    expect(existsSync(file)).toBe(true);
    await expectAtRest(out);
  });
});
