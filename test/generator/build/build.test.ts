/** What a build does to the tree that is there: nothing that the register doesn't ask for. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { always, isThorough, it, thorough } from '../../support/thorough.js';
import { build } from '../../../generator/build/build.js';
import { buildConfig } from '../../../generator/config/config.js';
import { OPERATOR, effectsAt, published, run } from '../../support/build.js';
import type { Options } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import type { Rows } from '../../support/register.js';
import { foldersOf, hashes, isEndpoint, json, lasting, readTree, stamps } from '../../support/tree.js';
import type { Tree } from '../../support/tree.js';
import { containing, fields } from '../../support/values.js';

const path = temporary();

const RECORDS: Rows = {
  groups: [
    { id: 7, name: 'seven', member_count: 70 },
    { id: 100, name: 'hundred', member_count: 100 },
    { id: 1100, name: 'eleven hundred' },
  ],
  group_member_readings: [{ group_id: 7, measured_at: '2026-11-20T08:00:00Z', member_count: 70 }],
  users: [{ id: 7, username: 'u' }, { id: 8 }],
  games: [{ id: 7, visits: 5, playing: 1 }, { id: 8 }],
  items: [{ id: 7, price: 5 }, { id: 8 }, { id: 9_007_199_254_740_991 }],
};

interface Site {
  readonly register: string;
  readonly out: string;
}

/** A register and the tree that was built from it. */
async function site(options: Partial<Options> = {}): Promise<Site> {
  const register = writeRegister(path('register.sqlite'), RECORDS);
  const out = path('dist');
  await published({ register, out, ...options });
  return { register, out };
}

/** Which files differ between two trees, apart from those that tell of the build itself. */
function differences(before: Tree, after: Tree): Record<'added' | 'changed' | 'removed', string[]> {
  const [old, now] = [hashes(lasting(before)), hashes(lasting(after))];
  return {
    added: Object.keys(now).filter((file) => !(file in old)),
    changed: Object.keys(now).filter((file) => file in old && old[file] !== now[file]),
    removed: Object.keys(old).filter((file) => !(file in now)),
  };
}

/**
 * Changes the register, builds, and tells what became of the endpoints' files; what isn't concerned must not be
 * touched, in the whole tree.
 */
async function after(
  { register, out }: Site,
  sql: string,
  options: Partial<Options> = {},
): Promise<ReturnType<typeof differences>> {
  const before = readTree(out);
  if (sql !== '') changeRegister(register, sql);
  const { changes } = await published({ register, out, ...options });
  const now = readTree(out);
  const found = differences(before, now);
  const concerned = new Set(Object.values(found).flat());
  const rest = (tree: Tree): Tree => new Map([...lasting(tree)].filter(([file]) => !concerned.has(file)));
  expect(stamps(rest(now))).toEqual(stamps(rest(before)));
  expect(changes).toEqual({
    added: found.added.length,
    changed: found.changed.length,
    removed: found.removed.length,
    unchanged: rest(now).size,
  });
  return {
    added: found.added.filter(isEndpoint),
    changed: found.changed.filter(isEndpoint),
    removed: found.removed.filter(isEndpoint),
  };
}

const LISTS = Array.from({ length: 200 }, (_, index) => `api/v1/largest/${index + 1}.json`).toSorted();

describe('two builds of one register', () => {
  it('give the same bytes in different folders on different days', async () => {
    const register = writeRegister(path('register.sqlite'), RECORDS);
    const [one, two] = [path('one'), join(path('two'), 'with', 'longer path')];
    await published({ register, out: one, at: '2026-12-01T00:00:00Z' });
    await published({ register, out: two, at: '2030-06-15T12:34:56Z' });
    expect(hashes(lasting(readTree(two)))).toEqual(hashes(lasting(readTree(one))));
    expect(json(readTree(one), 'snapshot.json')).toHaveProperty('built_at', '2026-12-01T00:00:00Z');
    expect(json(readTree(two), 'snapshot.json')).toHaveProperty('built_at', '2030-06-15T12:34:56Z');
  });

  thorough('name neither the folder nor the register in any file', async () => {
    const { register, out } = await site();
    for (const { text } of readTree(out).values()) {
      expect(text).not.toContain(out);
      expect(text).not.toContain(register);
    }
  });
});

const withoutManifest = (tree: Tree): Tree => new Map([...tree].filter(([file]) => file !== 'snapshot.json'));

describe('a second build', () => {
  it('of an unchanged register touches no file but snapshot.json, whose time it renews', async () => {
    const { register, out } = await site({ at: '2026-12-01T00:00:00Z' });
    const before = readTree(out);
    const { sequence, changes } = await published({ register, out, at: '2026-12-02T00:00:00Z' });
    const now = readTree(out);
    expect(stamps(withoutManifest(now))).toEqual(stamps(withoutManifest(before)));
    expect(sequence).toBe(1);
    expect(changes).toEqual({ added: 0, changed: 0, removed: 0, unchanged: lasting(now).size });
    expect(json(now, 'snapshot.json')).toEqual({
      ...fields(json(before, 'snapshot.json')),
      built_at: '2026-12-02T00:00:00Z',
    });
  });

  thorough('of a changed register counts one up', async () => {
    const { register, out } = await site();
    changeRegister(register, 'UPDATE items SET price = 6 WHERE id = 7');
    expect((await published({ register, out })).sequence).toBe(2);
    expect(json(readTree(out), 'snapshot.json')).toMatchObject({ sequence: 2 });
    expect((await published({ register, out })).sequence).toBe(2);
  });

  it('gives the tree that a first build would have given', async () => {
    const { register, out } = await site();
    changeRegister(
      register,
      `UPDATE groups SET name = 'other', member_count = NULL WHERE id = 100; DELETE FROM items WHERE id = 8;
      INSERT INTO users SELECT 9, state, 'nine', display_name, verified, created_at, first_measured_at, measured_at, 5 FROM users WHERE id = 7;`,
    );
    await published({ register, out, acceptRemovals: true });
    const fresh = path('fresh');
    await published({ register, out: fresh });
    expect(hashes(lasting(readTree(out)))).toEqual(hashes(lasting(readTree(fresh))));
  });

  thorough('leaves files of others in the tree alone', async () => {
    const { register, out } = await site();
    mkdirSync(join(out, 'mine'));
    const before = foldersOf(out);
    await published({ register, out });
    expect(foldersOf(out)).toEqual(before);
  });
});

describe('a change of', () => {
  it('an item’s price changes that item', async () => {
    const found = await after(await site(), 'UPDATE items SET price = 6 WHERE id = 7');
    expect(found).toEqual({ added: [], changed: ['api/v1/item/7.json'], removed: [] });
  });

  thorough('a game’s visits changes that game, the list of games and the totals', async () => {
    const found = await after(await site(), 'UPDATE games SET visits = 6 WHERE id = 7');
    const changed = ['api/v1/game/7.json', 'api/v1/largest/games.json', 'api/v1/stats.json'];
    expect(found).toEqual({ added: [], changed, removed: [] });
  });

  it('a description changes the record and not its history', async () => {
    const found = await after(await site(), `UPDATE groups SET description = 'x' WHERE id = 7`);
    expect(found).toEqual({ added: [], changed: ['api/v1/group/7.json'], removed: [] });
  });

  thorough('the name of a group without a count changes its record and its history', async () => {
    const found = await after(await site(), `UPDATE groups SET name = 'x' WHERE id = 1100`);
    expect(found.changed).toEqual(['api/v1/group/1100.json', 'group/1100/history.json']);
  });

  thorough('the name of the second largest group changes all lists but the first', async () => {
    const found = await after(await site(), `UPDATE groups SET name = 'x' WHERE id = 7`);
    expect(found.changed).toEqual(
      ['api/v1/group/7.json', ...LISTS.slice(0), 'group/7/history.json']
        .filter((file) => file !== 'api/v1/largest/1.json')
        .toSorted(),
    );
  });

  thorough('the newest time of the register changes what tells how fresh it is', async () => {
    const found = await after(
      await site(),
      `UPDATE items SET measured_at = '2026-11-21T00:00:00Z' WHERE id = 7`,
    );
    const others = ['largest/games', 'movers/h24', 'movers/d7', 'movers/d30', 'recent', 'stats'];
    expect(found.changed).toEqual(
      ['api/v1/item/7.json', ...LISTS, ...others.map((name) => `api/v1/${name}.json`)].toSorted(),
    );
  });

  it('a new reading changes the record, its history, the totals and the lists', async () => {
    const found = await after(
      await site(),
      `INSERT INTO group_member_readings VALUES (7, '2026-11-19T08:00:00Z', 60);`,
    );
    // It is a day older than the newest.
    expect(found.changed).toEqual([
      'api/v1/group/7.json',
      'api/v1/movers/h24.json',
      'api/v1/stats.json',
      'group/7/history.json',
    ]);
  });

  thorough('the base URL changes no endpoint, but snapshot.json', async () => {
    const place = await site();
    const found = await after(place, '', { baseUrl: 'https://elsewhere.example' });
    expect(found).toEqual({ added: [], changed: [], removed: [] });
    expect(json(readTree(place.out), 'snapshot.json')).toMatchObject({
      service: { base_url: 'https://elsewhere.example' },
    });
  });
});

describe('a record', () => {
  const COPY = `first_measured_at, measured_at, measurements FROM groups WHERE id = 7`;

  thorough('that is new adds its files', async () => {
    const found = await after(
      await site(),
      `INSERT INTO groups (id, first_measured_at, measured_at, measurements) SELECT 50, ${COPY}`,
    );
    expect(found).toEqual({
      added: ['api/v1/group/50.json', 'group/50/history.json'],
      changed: ['api/v1/stats.json'],
      removed: [],
    });
  });

  thorough('that is gone takes its files along, and the folders that are empty then', async () => {
    const place = await site();
    const found = await after(place, 'DELETE FROM groups WHERE id = 1100', { acceptRemovals: true });
    expect(found.removed).toEqual(['api/v1/group/1100.json', 'group/1100/history.json']);
    expect(existsSync(join(place.out, 'group/1100'))).toBe(false);
    expect(existsSync(join(place.out, 'group/100'))).toBe(true);
  });

  thorough('of a user without a history of usernames has no number of them', async () => {
    const register = writeRegister(path('register.sqlite'), {
      users: [
        { id: 1, username: 'player1' },
        { id: 2, username: 'player2' },
      ],
      usernames: [
        {
          user_id: 2,
          position: 1,
          username: 'player2',
          first_measured_at: '2026-11-01T08:00:00Z',
          last_measured_at: '2026-11-20T08:00:00Z',
        },
      ],
    });
    const out = path('usernames');
    await published({ register, out });
    const tree = readTree(out);
    expect(json(tree, 'api/v1/user/1.json')).toMatchObject({ username: 'player1', username_count: null });
    expect(json(tree, 'user/1/usernames.json')).toMatchObject({ username: 'player1', usernames: [] });
    expect(json(tree, 'api/v1/user/2.json')).toMatchObject({ username: 'player2', username_count: 1 });
    const [, first, second] = tree.get('downloads/users.csv')?.text.split('\r\n') ?? [];
    expect(first).toMatch(/^1,player1,,,,,,2026-11-01/);
    expect(second).toMatch(/^2,player2,,,,,1,2026-11-01/);
  });

  thorough('that was the last of its kind takes the kind’s folder along', async () => {
    const place = await site();
    await after(place, 'DELETE FROM users', { acceptRemovals: true });
    expect(foldersOf(place.out).filter((folder) => /user/.test(folder))).toEqual([]);
    const found = await after(
      place,
      `INSERT INTO users (id, first_measured_at, measured_at, measurements) SELECT 3, ${COPY}`,
    );
    expect(found.added).toEqual(['api/v1/user/3.json', 'user/3/usernames.json']);
  });

  it('that is withheld is gone from everywhere, and comes back when it is no longer', async () => {
    const place = await site();
    const before = hashes(lasting(readTree(place.out)));
    const found = await after(place, `INSERT INTO withheld VALUES ('group', 7, '2026-11-20T00:00:00Z')`, {
      acceptRemovals: true,
    });
    expect(found.removed).toEqual(['api/v1/group/7.json', 'group/7/history.json']);
    expect(found.changed).toEqual(expect.arrayContaining(['api/v1/largest/2.json', 'api/v1/stats.json']));
    for (const { text } of lasting(readTree(place.out)).values()) expect(text).not.toContain('seven');
    await after(place, 'DELETE FROM withheld', { acceptRemovals: true });
    expect(hashes(lasting(readTree(place.out)))).toEqual(before);
  });
});

const LIMIT = Number.MAX_SAFE_INTEGER;
const of = (table: string, column: string, values: readonly (number | null)[]): Rows => ({
  [table]: values.map((value, index) => ({ id: index + 1, [column]: value })),
});

describe('totals', () => {
  it.each([
    ['groups', 'member_count'],
    ['groups', 'measurements'],
    ['users', 'measurements'],
    ['games', 'visits'],
    ['games', 'playing'],
    ['games', 'measurements'],
    ['items', 'measurements'],
  ])('of %s.%s beyond 2^53-1 refuse the build, by name', async (table, column) => {
    const register = writeRegister(path('register.sqlite'), of(table, column, [LIMIT - 1, 2]));
    const out = path('dist');
    await expect(run({ register, out })).rejects.toMatchObject({
      name: 'Failure',
      exitCode: 1,
      message: containing(`the total of ${table}.${column} is 9007199254740992`),
    });
    expect(existsSync(out)).toBe(false);
  });

  it('of exactly 2^53-1 are told exactly', async () => {
    const register = writeRegister(path('register.sqlite'), of('games', 'visits', [LIMIT - 1, null, 1, 0]));
    const out = path('dist');
    await published({ register, out });
    expect(readTree(out).get('api/v1/stats.json')?.text).toContain(
      '"visits":{"total":9007199254740991,"measured":3},"playing":{"total":null,"measured":0}',
    );
  });

  thorough('beyond 2^63 are still told by name', async () => {
    const values = Array.from({ length: 1500 }, () => LIMIT);
    const register = writeRegister(path('register.sqlite'), of('games', 'visits', values));
    await expect(run({ register, out: path('dist') })).rejects.toMatchObject({
      exitCode: 1,
      message: containing(`the total of games.visits is ${BigInt(LIMIT) * 1500n}`),
    });
  });

  it('don’t count what is withheld', async () => {
    const register = writeRegister(path('register.sqlite'), {
      ...of('games', 'visits', [LIMIT, 2]),
      withheld: [{ kind: 'game', id: 1, since: '2026-11-20T08:00:00Z' }],
    });
    const out = path('dist');
    await published({ register, out });
    expect(json(readTree(out), 'api/v1/stats.json')).toMatchObject({
      games: { visits: { total: 2, measured: 1 } },
    });
  });
});

describe('the largest groups', () => {
  thorough('end at 200, and of equals at the end the lowest ids stay', async () => {
    const groups = Array.from({ length: 230 }, (_, index) => ({
      id: 1000 - index,
      // 150 of size 9, then 80 of size 5, of which 50 find room.
      member_count: index % 23 < 15 ? 9 : 5,
    }));
    const out = path('dist');
    await published({ register: writeRegister(path('register.sqlite'), { groups }), out });
    const ids = (size: number): number[] =>
      groups
        .filter(({ member_count }) => member_count === size)
        .map(({ id }) => id)
        .toSorted((a, b) => a - b);
    const expected = [
      ...ids(9).map((id) => ({ rank: 1, id })),
      ...ids(5)
        .slice(0, 50)
        .map((id) => ({ rank: 151, id })),
    ];
    const tree = readTree(out);
    expect(json(tree, 'api/v1/largest/200.json')).toMatchObject({ limit: 200, groups: expected });
    expect(json(tree, 'api/v1/largest/151.json')).toMatchObject({
      limit: 151,
      groups: expected.slice(0, 151),
    });
  });
});

describe('a build that is stopped', () => {
  it('leaves the tree as it was, and can be done again', async () => {
    const { register, out } = await site();
    const before = readTree(out);
    changeRegister(register, 'UPDATE items SET price = price + 1');
    const effects = effectsAt('2026-12-01T00:00:00Z');
    const stopped = new Error('stopped');
    let steps = 0;
    const progress = {
      ...effects.progress,
      start: () => undefined,
      finish: () => undefined,
      advance: () => ((steps += 1) > 30 ? Promise.reject(stopped) : undefined),
      blocking: <T>(work: () => T | Promise<T>) => Promise.resolve(work()),
    };
    const config = buildConfig({ register, out, operator: OPERATOR });
    await expect(build(config, { ...effects, progress })).rejects.toThrow('stopped');
    expect(stamps(readTree(out))).toEqual(stamps(before));
    // The item, its table in three formats, its documents and the database; three files with their sizes and checksums, the
    // downloads and the front page, which show sizes; and what shows it as an example: the page for developers.
    expect((await published({ register, out })).changes).toMatchObject({ changed: 12, added: 0, removed: 0 });
  });
});

/** Any Unicode text: NUL, controls, noncharacters, all planes; lone surrogates are no text. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', '\0', '\n', '\u001f', '\u007f', '\u2028', '{', '\uFFFF', "'"),
  }),
);

describe('text', () => {
  always('of any kind survives the way through SQLite, JSON and UTF-8 exactly', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 40, maxLength: 80 }), async (names) => {
        const record = (key: string) => names.map((name, index) => ({ id: index + 1, [key]: name }));
        const seen = { first_measured_at: '2026-11-20T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
        const register = writeRegister(path('register.sqlite'), {
          groups: names.map((name, index) => ({
            id: index + 1,
            name,
            owner_name: name,
            member_count: index,
          })),
          group_names: names.map((name, index) => ({ group_id: index + 1, position: 1, name, ...seen })),
          users: record('username'),
          games: record('creator_name'),
          items: record('description'),
        });
        const out = path('dist');
        await published({ register, out });
        const tree = readTree(out);
        names.forEach((name, index) => {
          const id = index + 1;
          expect(json(tree, `api/v1/group/${id}.json`)).toMatchObject({ name, owner: { id: null, name } });
          expect(json(tree, `group/${id}/history.json`)).toMatchObject({ name, names: [{ name }] });
          expect(json(tree, `api/v1/user/${id}.json`)).toMatchObject({ username: name });
          expect(json(tree, `api/v1/game/${id}.json`)).toMatchObject({
            creator: { type: null, id: null, name },
          });
          expect(json(tree, `api/v1/item/${id}.json`)).toMatchObject({ description: name });
        });
        expect(json(tree, 'api/v1/largest/1.json')).toMatchObject({ groups: [{ name: names.at(-1) }] });
        // Compact, and written as every JSON writer would: JSON.stringify finds nothing to change.
        const documents = [...tree].filter(([file]) => file.endsWith('.json'));
        for (const [, { text }] of documents) expect(text).toBe(JSON.stringify(JSON.parse(text)));
        for (const file of ['api/v1/group/1.json', 'api/v1/largest/200.json']) {
          const bytes = readFileSync(join(out, file));
          expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)).toBe(
            tree.get(file)?.text,
          );
        }
      }),
      { numRuns: isThorough ? 8 : 2 },
    );
  });
});
