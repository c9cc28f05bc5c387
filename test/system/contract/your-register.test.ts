/** The SQL of docs/your-register.md, run as it stands there on databases of the shapes that it has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import * as z from 'zod';
import { Register } from '../../../generator/register/database.js';
import { scansIn } from '../../../generator/register/explain.js';
import { RESOURCES, tablesOf } from '../../../generator/schema/schema.js';
import { run } from '../../deploy/run.js';
import { timeAt as at } from '../../../generator/schema/time.js';
import { OPERATOR } from '../../support/build.js';
import { CLI } from '../../support/cli.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, rowsOf, runSql, writeRegister } from '../../support/register.js';
import { json, readTree } from '../../support/tree.js';
import { matching } from '../../support/values.js';

const path = temporary();
const PAGE = readFileSync(join(PROJECT, 'docs/your-register.md'), 'utf8');

/** What stands between a heading and the next one. */
function section(heading: string): string {
  const [, rest] = PAGE.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`expected a heading "${heading}"`);
  return rest.split(/\n##+ /)[0] ?? '';
}

const sqlIn = (text: string): readonly string[] =>
  [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql);

const database = (...statements: readonly string[]): string => runSql(path('own.db'), ...statements);

const declare = (file: string): void => changeRegister(file, 'PRAGMA user_version = 1');

/** What a command prints with --json, run as a process of some zone, or in this one. */
async function command(args: readonly string[], zone?: string): Promise<unknown> {
  const all = [...args, '--json', '--quiet'];
  const { code, ...printed } =
    zone === undefined ? await inProcess(...all) : await run([process.execPath, CLI, ...all], { TZ: zone });
  const text = 'output' in printed ? printed.output : printed.stdout;
  expect([code, text]).toEqual([0, matching(/^\{.*\}\n$/)]);
  return JSON.parse(text);
}

const check = (register: string, zone?: string) => command(['check', '--register', register], zone);
const build = (register: string, out: string, zone?: string) =>
  command(['build', '--operator', OPERATOR, '--register', register, '--out', out], zone);

const GUILDS = `
  INSERT INTO account VALUES (5, 'boss', 'The Boss', 0, 1400000000.9, 1751800000);
  INSERT INTO guild VALUES (7, 'ok', 'Old Mill', '', 5, 12, 1, 1500000000.5, 1751700000.2, 1751800000.7, 2),
    (8, 'gone', NULL, NULL, 0, NULL, NULL, NULL, 1751700000, 1751800000, 1);
  INSERT INTO headcount VALUES (7, 1751700000.2, 10), (7, 1751800000.7, 12);
  INSERT INTO title_log VALUES (7, 'Mill', 1751700000, 1751700000), (7, 'Old Mill', 1751800000, 1751800000);
  INSERT INTO experience VALUES (9, 'Sail', 'guild', 7, 4, 1751800000);`;

/** The tables that an example is of, which are in its comments. */
const tablesIn = (example: string): string =>
  [...example.matchAll(/^-- {3}(.*)$/gm)].map(([, line]) => `${line}\n`).join('');

describe('the guilds of docs/your-register.md', () => {
  const [guild = ''] = sqlIn(PAGE.split('\n## ')[0] ?? '');
  const [completed = ''] = sqlIn(section('## Views'));
  const views = readFileSync(join(PROJECT, 'data/example-guilds.sql'), 'utf8');
  const tables = tablesIn(views);

  it('have a table and views with the lines that the page shows', () => {
    expect(tables).toContain(guild);
    const shown = completed.split('\n\n').map((lines) => lines.trimEnd());
    expect(shown).toHaveLength(3);
    for (const lines of shown) expect(views).toContain(lines);
  });

  it('become a register by the views, which can be run again', async () => {
    const file = database(tables, GUILDS, views, views);
    declare(file);
    expect(await check(file)).toMatchObject({ total: 0, counts: { groups: 2, group_names: 2, games: 1 } });
    const out = path('site');
    await build(file, out);
    const tree = readTree(out);
    expect(json(tree, 'api/v1/group/7.json')).toMatchObject({
      name: 'Old Mill',
      owner_state: 'owned',
      owner: { id: 5, name: 'boss' },
      created_at: '2017-07-14T02:40:00Z',
    });
    // What an account lacks is not made up.
    expect(json(tree, 'api/v1/user/5.json')).toMatchObject({ first_measured_at: null, measurements: null });
    expect(json(tree, 'api/v1/group/8.json')).toMatchObject({ state: 'deleted', owner_state: 'none' });
    expect(json(tree, 'api/v1/game/9.json')).toMatchObject({
      creator: { type: 'group', id: 7, name: 'Old Mill' },
    });
    expect(await build(file, out)).toMatchObject({ published: false });
  });
});

describe('the clubs of its recipes', () => {
  const [tables = ''] = sqlIn(section('## Recipes'));
  const [ids = ''] = sqlIn(section('### Text ids'));
  const views = readFileSync(join(PROJECT, 'data/example-clubs.sql'), 'utf8');
  const ROWS = `
    INSERT INTO club VALUES ('old-mill', 'Old Mill', '2026/10/01', 1751800000123, '25.08.2025 11:50'),
      ('abbey', 'Abbey', NULL, 1700000000999, '24.12.2025 18:00');
    INSERT INTO club_count VALUES ('old-mill', '30.07.2025 09:00', 76), ('old-mill', '25.08.2025 11:50', 77);
    INSERT INTO club_count SELECT 'abbey', '24.12.2025 18:00', 5;`;
  const clubs = (): string => {
    const file = database(tables, ROWS, ids, views);
    declare(file);
    return file;
  };

  thorough('become a register, with times of the zone that TZ names, and of the day', async () => {
    const file = clubs();
    // Whatever it has no view of is not measured.
    const report = z.looseObject({ absent: z.array(z.string()) }).parse(await check(file, 'Europe/Berlin'));
    expect(report).toMatchObject({ total: 0, counts: { groups: 2, group_member_readings: 3 }, warnings: [] });
    const lacking = ['group_names', 'users', 'games', 'items', 'groups.description'];
    expect(report.absent).toEqual(expect.arrayContaining(lacking));
    const out = path('site');
    await build(file, out, 'Europe/Berlin');
    const [abbey, mill] = ['1', '2'].map((id) => json(readTree(out), `api/v1/group/${id}.json`));
    expect(mill).toMatchObject({
      name: 'Old Mill',
      member_count: 77,
      created_at: '2026-10-01',
      first_measured_at: '2025-07-06T11:06:40Z',
      measurements: null,
      platform_id: 'old-mill',
      measured_at: '2025-08-25T09:50:00Z',
    });
    expect(abbey).toMatchObject({ name: 'Abbey', created_at: null, measured_at: '2025-12-24T17:00:00Z' });
    // Zones that only libc knows, too.
    const other = path('other');
    for (const [zone, hour] of [
      ['<+05>-5', 13],
      ['<+03>-3', 15],
    ] as const) {
      await build(file, other, zone);
      expect(json(readTree(other), 'api/v1/group/1.json')).toMatchObject({
        measured_at: `2025-12-24T${hour}:00:00Z`,
      });
    }
    // The views are read by id.
    expect(await build(file, out, 'Europe/Berlin')).toMatchObject({ published: false });
  });

  it('keep their ids, whatever becomes of them', () => {
    const file = clubs();
    changeRegister(
      file,
      `DELETE FROM club WHERE slug = 'abbey'; INSERT INTO club SELECT 'a', 'A', NULL, 1, last_seen FROM club`,
    );
    changeRegister(file, 'VACUUM');
    changeRegister(file, ids + views);
    expect(rowsOf(file, 'SELECT id, name FROM groups ORDER BY id')).toEqual([
      [2, 'Old Mill'],
      [3, 'A'],
    ]);
  });
});

const [lines = ''] = sqlIn(section('### An event log'));
const runs = readFileSync(join(PROJECT, 'data/example-event-log.sql'), 'utf8');
const tables = tablesIn(runs);
const [T0, T1, T2, T3, T4] = [1763000000000, 1763100000000, 1763150000000, 1763200000000, 1763625600123];
const [mill, abbey, ann, bob] = ['8000001', '8000002', '9000001', '9000002'].map((id) => `${id}000000000001`);
const ROWS = `
    INSERT INTO player VALUES ('${ann}', 'ann', ${T4}), ('${bob}', 'bob', ${T4});
    INSERT INTO server VALUES ('${mill}', 'Mill C', '${bob}', ${T0}, ${T4}), ('${abbey}', 'Abbey', '', ${T0}, ${T4}),
      ('unread', NULL, NULL, ${T0}, ${T4});
    INSERT INTO event VALUES ('${mill}', 'title', 'Mill', 'Mill B', ${T1}), ('${mill}', 'title', 'Mill B', 'Mill C', ${T3}),
      ('${mill}', 'boss', '${ann}', '', ${T2}), ('${mill}', 'boss', '', '${bob}', ${T3});
    INSERT INTO population VALUES ('${mill}', ${T0}, 5), ('${mill}', ${T1 - 3600_000}, 6), ('${mill}', ${T4}, NULL),
      ('${abbey}', ${T4}, 7);`;

it('the event log of its recipes becomes runs, with owners by the numbers of their text ids', async () => {
  const file = database(tables, ROWS);
  const drafted = await inProcess('scaffold', '--register', file);
  // What the page says to replace in the draft.
  const views = drafted.stdout
    .replace(/^.* AS owner_state,.*\n.* AS owner_id,.*\n.* AS owner_name,.*$/m, lines)
    .concat(runs);
  // A server that is gone leaves its number, and readings.
  changeRegister(
    file,
    `INSERT INTO server VALUES ('vanished', 'Vanished', '', ${T0}, ${T4}); INSERT INTO population VALUES ('vanished', ${T0}, 3);`,
  );
  changeRegister(file, `${views}${views} DELETE FROM server WHERE snowflake = 'vanished';`);
  expect(await check(file)).toMatchObject({ total: 0, counts: { groups: 3, group_names: 4, users: 2 } });
  const out = path('site');
  await build(file, out);
  // Of which the draft says what a maintainer may forget.
  changeRegister(file, views.replace('WHERE n IS NOT NULL\n  AND ', 'WHERE '));
  const unread = await inProcess('check', '--register', file);
  expect(unread.stdout).toContain(
    'group_member_readings.member_count: 1 place, expected an integer from 0 to 9007199254740991',
  );
  expect(unread.stdout).toContain(
    '  hint: what was not read is no row: leave it out, by WHERE member_count IS NOT NULL\n',
  );
  changeRegister(file, views);
  const tree = readTree(out);
  expect(json(tree, 'group/1/history.json')).toMatchObject({
    names: [
      { name: 'Mill', first_measured_at: at(T0), last_measured_at: at(T1 - 3600_000) },
      // No reading came between the two events.
      { name: 'Mill B', first_measured_at: at(T1), last_measured_at: at(T1), changed_before: at(T1) },
      { name: 'Mill C', first_measured_at: at(T3), last_measured_at: at(T4), is_current: true },
    ],
    owners: [
      { owner_state: 'owned', owner: { id: 1, name: 'ann' } },
      { owner_state: 'none', owner: null },
      { owner_state: 'owned', owner: { id: 2, name: 'bob' }, is_current: true },
    ],
  });
  expect(json(tree, 'api/v1/group/1.json')).toMatchObject({
    member_count: 6,
    owner: { id: 2, name: 'bob' },
    platform_id: mill,
  });
  expect(json(tree, 'group/2/history.json')).toMatchObject({ owners: [{ owner_state: 'none' }] });
  expect(json(tree, 'group/3/history.json')).toMatchObject({ names: [], owners: [] });
  // No table is scanned for each row, but for the two words of the recipe.
  const register = Register.open(file);
  const scans = RESOURCES.flatMap(tablesOf).flatMap((table) => scansIn(register, table));
  register.close();
  expect(scans.filter((line) => !line.includes('(subquery'))).toEqual([]);
});

it('data/upserts.sql makes a register of measurements that a crawler writes one after the other', async () => {
  const file = writeRegister(path('written.sqlite'), '');
  const upserts = readFileSync(join(PROJECT, 'data/upserts.sql'), 'utf8');
  for (const [day, name, members] of [
    [1, 'Mill', 10],
    [2, 'Mill', 12],
    [3, 'Old Mill', 11],
    [4, 'Mill', 11],
  ] as const) {
    const values = {
      id: '7',
      name: `'${name}'`,
      members: String(members),
      now: `'2026-11-0${day}T08:00:00Z'`,
    };
    runSql(
      file,
      upserts
        .replaceAll(/^--.*$/gm, '')
        .replaceAll(/:(id|name|members|now)\b/g, (_, key: keyof typeof values) => values[key]),
    );
  }
  expect(rowsOf(file, 'SELECT position, name FROM group_names ORDER BY position')).toEqual([
    [1, 'Mill'],
    [2, 'Old Mill'],
    [3, 'Mill'],
  ]);
  const counts = { groups: 1, group_member_readings: 4, group_names: 3 };
  expect(await check(file)).toMatchObject({ total: 0, counts });
});

/** The lines of the list of times: a value, and the expression for it. */
const TIMES = [...section('### Times').matchAll(/^- `([^`]+)`[^`]*: [^`]*`([^`]+)`/gm)].map(
  ([, value = '', sql = '']): [string, string] => [value, sql.replaceAll(/\s+/g, ' ')],
);

it('the times of its recipes become the same time, each by its expression', async () => {
  expect(TIMES).toHaveLength(9);
  const queries = TIMES.map(([value, sql]) => {
    const call = /^(strftime|replace)/.test(sql) ? sql : `strftime(F, ${sql}, 'utc')`;
    const at = /^\d+$/.test(value) ? value : `'${value}'`;
    return `SELECT ${call} FROM (SELECT ${at} AS at, '%Y-%m-%dT%H:%M:%SZ' AS F)`;
  });
  const script = `const { openDatabase } = await import('${PROJECT}/build/generator/base/sqlite/sqlite.js');
    const database = openDatabase(':memory:');
    console.log(JSON.stringify(${JSON.stringify(queries)}.map((sql) => database.prepare(sql).pluck().get())));`;
  const command = [process.execPath, '--input-type=module', '-e', script] as const;
  const { output } = await run(command, { TZ: 'Europe/Berlin' });
  const expected = TIMES.map(([value]) => {
    if (value === '2025/07/06') return '2025-07-06';
    return `2025-07-06T11:06${/^\d+$|:06:40/.test(value) ? ':40' : ':00'}Z`;
  });
  expect(JSON.parse(output)).toEqual(expected);
});
