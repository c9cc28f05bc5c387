/** A register of another shape, adapted with views. */
import { openDatabase } from '../../../generator/sqlite/index.js';
import { describe, expect, it } from 'vitest';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import type { Rows } from '../../support/register.js';
import { fresh } from '../../support/site.js';
import { differing, json, readTree } from '../../support/tree.js';

const path = temporary();

const SEEN = { first_measured_at: '2026-11-01T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
const ROWS: Rows = {
  groups: [
    { id: 9, name: 'nine', member_count: 4, owner_id: 3, owner_name: 'c', owner_state: 'owned' },
    { id: 7, name: 'seven', member_count: 4, public_entry: 1, verified: 0 },
    { id: 8, state: 'deleted', member_count: 5 },
    { id: 1, name: 'withheld' },
  ],
  group_member_readings: [
    { group_id: 9, measured_at: '2026-11-20T08:00:00Z', member_count: 4 },
    { group_id: 7, measured_at: '2026-11-20T08:00:00Z', member_count: 4 },
    { group_id: 9, measured_at: '2026-11-19T08:00:00Z', member_count: 2 },
    { group_id: 7, measured_at: '2026-11-18T08:00:00Z', member_count: 9 },
    { group_id: 1, measured_at: '2026-11-18T08:00:00Z', member_count: 9 },
  ],
  group_names: ['x', 'y', 'seven'].map((name, index) => ({
    group_id: 7,
    position: index + 1,
    name,
    first_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
    last_measured_at: `2026-11-0${index + 1}T09:00:00Z`,
  })),
  group_owners: [{ group_id: 9, position: 1, owner_state: 'owned', owner_id: 3, owner_name: 'c', ...SEEN }],
  users: [{ id: 3, username: 'c' }, { id: 2 }],
  usernames: ['a', 'b', 'c'].map((username, index) => ({
    user_id: 3,
    position: index + 1,
    username,
    first_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
    last_measured_at: `2026-11-0${index + 1}T09:00:00Z`,
  })),
  games: [{ id: 5, visits: 6, playing: 1, creator_type: 'group', creator_id: 1, creator_name: 'withheld' }],
  items: [{ id: 6, off_sale: 1, limited: 0, creator_id: 3, creator_type: 'user' }, { id: 4 }],
  withheld: [{ kind: 'group', id: 1, since: '2026-11-01T08:00:00Z' }],
};

/** Columns that some tables have, and no other may be taken for. */
const ELSEWHERE = ['id', 'state', 'user_id', 'group_id', 'kind'];

/** Renames every table and puts a view in its place: other column order, more columns, rows in any order. */
function adapt(file: string): string {
  const database = openDatabase(file);
  const tables = database
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all();
  for (const table of tables) {
    const columns = database
      .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
      .pluck()
      .all(table)
      .toReversed();
    const more = ELSEWHERE.filter((column) => !columns.includes(column));
    // Each column comes from one of another name, and an expression has neither type nor collation.
    database.exec(`
      ALTER TABLE "${table}" RENAME TO "raw ""${table}""";
      CREATE VIEW "${table}" AS SELECT ${['more', ...more].map((column) => `'more' AS "${column}"`).join(', ')},
        ${columns.map((column) => `iif(1, "${column}", 0) AS "${column}"`).join(', ')},
        "${columns[0]}" AS "_excluded" FROM "raw ""${table}""" ORDER BY random();
    `);
  }
  database.close();
  return file;
}

describe('a register of views', () => {
  it('gives the same tree as one of tables, and so do tables without types, keys or order', async () => {
    const contents = [];
    const backwards = Object.fromEntries(
      Object.entries(ROWS).map(([table, rows]) => [table, rows.toReversed()]),
    );
    for (const register of [
      writeRegister(path('register.sqlite'), ROWS),
      adapt(writeRegister(path('register.sqlite'), ROWS)),
      writeRegister(path('register.sqlite'), backwards, 'untyped'),
    ])
      contents.push(await fresh(register, path('dist')));
    const [tables = {}, views = {}, untyped = {}] = contents;
    expect(Object.keys(tables).length).toBeGreaterThan(200);
    expect(differing(views, tables)).toEqual([]);
    expect(differing(untyped, tables)).toEqual([]);
  });

  it('may name its columns in capitals, and derive what it has not', async () => {
    const [register, out] = [writeRegister(path('register.sqlite'), ROWS), path('out')];
    changeRegister(
      register,
      `ALTER TABLE users RENAME COLUMN username TO "USERNAME"; ALTER TABLE users RENAME TO people;
      CREATE VIEW "Users" AS SELECT * FROM people;
      DROP TABLE withheld; CREATE VIEW withheld AS SELECT NULL AS kind, NULL AS id, NULL AS since WHERE 0;
      CREATE TABLE visits (game, day, n); INSERT INTO visits VALUES (5, 1, 40), (5, 2, 2);
      ALTER TABLE games RENAME TO raw;
      CREATE VIEW games AS SELECT raw.*, s.n AS total FROM raw JOIN (SELECT game, sum(n) AS n FROM visits GROUP BY game) AS s
        ON s.game = raw.id;`,
    );
    await published({ register, out });
    const tree = readTree(out);
    expect(json(tree, 'api/v1/user/3.json')).toMatchObject({ id: 3, username: 'c' });
    expect([tree.has('api/v1/group/1.json'), tree.has('api/v1/game/5.json')]).toEqual([true, true]);
  });
});
