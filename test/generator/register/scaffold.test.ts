/** `scaffold`: SQL for what a database lacks to be a register, guessed, and ready to be edited. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TABLES } from '../../../generator/schema/schema.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { sha256 } from '../../support/published.js';
import { changeRegister, rowsOf, runSql, writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();

const database = (sql: string): string => runSql(path('own.db'), sql);

const run = (file: string, from: readonly string[]) =>
  inProcess('scaffold', '--register', file, ...from.flatMap((each) => ['--from', each]));

async function scaffold(file: string, ...from: readonly string[]): Promise<string> {
  const { stdout, ...rest } = await run(file, from);
  expect(rest).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What it says of the tables that it is told to take, and refuses. */
async function refusal(file: string, ...from: readonly string[]): Promise<string> {
  const { stderr, ...rest } = await run(file, from);
  expect(rest).toEqual({ code: 2, stdout: '' });
  return stderr;
}

const expectValid = async (file: string): Promise<void> =>
  expect(await inProcess('check', '--register', file)).toMatchObject({ code: 0 });

/** The lines of a view, by column: expressions, those of comments after `-- `. */
function viewIn(sql: string, view: string): Readonly<Record<string, string>> {
  const [, lines = ''] =
    new RegExp(String.raw`^CREATE VIEW ${view} AS SELECT\n(.*?)^FROM `, 'ms').exec(sql) ?? [];
  const found = [...lines.matchAll(/^ {2}(.*) AS (\w+),? +-- .*; (?:may be NULL|required)\. .*$/gm)];
  expect(found).toHaveLength(lines.split('\n').length - 1);
  return Object.fromEntries(found.map(([, expression = '', column = '']) => [column, expression]));
}

const jsonAt = (out: string, file: string): unknown => JSON.parse(readFileSync(join(out, file), 'utf8'));

/** A time in whole seconds, as a draft converts it. */
const time = (sql: string): string => `strftime('%Y-%m-%dT%H:%M:%SZ', ${sql})`;

/** A tracker with texts and large numbers for ids, other words, and readings in a table of their own. */
const TRACKER = `
  CREATE TABLE communities (cid TEXT PRIMARY KEY, title TEXT, topic TEXT, founder TEXT, status TEXT,
    is_verified TEXT, founded TEXT, "order" INTEGER, last_poll INTEGER NOT NULL);
  CREATE TABLE member_counts (community TEXT NOT NULL, ts INTEGER NOT NULL, n INTEGER NOT NULL);
  CREATE TABLE messages (community TEXT NOT NULL, ts INTEGER NOT NULL, n INTEGER NOT NULL);
  CREATE TABLE titles (community TEXT, title TEXT, seen_from INTEGER, seen_to INTEGER);
  CREATE TABLE accounts (uid INTEGER PRIMARY KEY, handle TEXT, joined INTEGER, seen_at TEXT);
  CREATE VIEW broken AS SELECT * FROM gone;
  INSERT INTO accounts VALUES (81384788765712384, 'marlow_finch', 1500000000123, '2025-11-20 08:00:00');
  INSERT INTO communities VALUES
    ('old-mill', 'Old Mill', '', 81384788765712384, 'ok', 'yes', '2019-05-04T19:20:00+02:00', 1, 1763625600),
    ('new-mill', 'New Mill', 'Flour', NULL, 'gone', 'no', NULL, 2, 1763625600);
  INSERT INTO member_counts VALUES ('old-mill', 1763539200, 10), ('old-mill', 1763625600, 12), ('new-mill', 1763539200, 3);
  INSERT INTO messages SELECT community, ts, 900 FROM member_counts;
  INSERT INTO titles VALUES ('old-mill', 'Mill', 1763400000, 1763500000),
    ('old-mill', 'Old Mill', 1763539200, 1763625600), ('new-mill', 'New Mill', 1763400000, 1763625600);`;

describe('snapshot scaffold', () => {
  it('drafts a register that is published as it is, and that keeps its ids when it is run again', async () => {
    const file = database(TRACKER.replace('seen_at', 'last_seen_at'));
    const sql = await scaffold(file);
    changeRegister(
      file,
      `${sql} INSERT INTO communities (cid, title, last_poll) VALUES ('a-mill', 'A Mill', 1763625600);
       INSERT INTO titles VALUES ('a-mill', 'A Mill', 1763625600, 1763625600); ${sql}`,
    );
    const out = path('site');
    expect(await inProcess('build', '--register', file, '--out', out, '--quiet')).toMatchObject({ code: 0 });
    const ids = rowsOf(file, `SELECT id || ' ' || k FROM ids_communities ORDER BY id`).flat();
    expect(ids).toEqual(['1 new-mill', '2 old-mill', '3 a-mill']);
    expect(jsonAt(out, 'api/v1/group/2.json')).toMatchObject({
      name: 'Old Mill',
      state: null,
      description: '',
      owner: { id: 1, name: 'marlow_finch' },
      member_count: 12,
      verified: true,
      created_at: '2019-05-04T17:20:00Z',
      first_measured_at: null,
      measured_at: '2025-11-20T08:00:00Z',
      measurements: null,
      platform_id: 'old-mill',
    });
    expect(jsonAt(out, 'group/2/history.json')).toMatchObject({
      members: ['2025-11-19', '2025-11-20'].map((day) => ({ measured_at: `${day}T08:00:00Z` })),
      names: ['Mill', 'Old Mill'].map((name) => ({ name })),
    });
    expect(jsonAt(out, 'api/v1/user/1.json')).toMatchObject({
      username: 'marlow_finch',
      created_at: '2017-07-14T02:40:00Z',
      platform_id: '81384788765712384',
    });
  });

  it('suggests the index that a history needs, so that every view is searched by id', async () => {
    const file = database(TRACKER);
    const sql = await scaffold(file);
    expect(sql.match(/^CREATE INDEX .*$/gm)).toEqual([
      'CREATE INDEX IF NOT EXISTS member_counts_by_community ON member_counts (community, ts);',
      'CREATE INDEX IF NOT EXISTS titles_by_community ON titles (community, seen_from);',
    ]);
    changeRegister(file, sql);
    for (const view of ['groups.id', 'group_member_readings.group_id', 'group_names.group_id', 'users.id']) {
      const [from] = view.split('.');
      const plan = rowsOf(file, `EXPLAIN QUERY PLAN SELECT * FROM ${from} WHERE ${view} BETWEEN 1 AND 2`);
      expect(plan.flat().filter((step) => /^SCAN (?!\(|group_names)/.test(String(step)))).toEqual([]);
    }
    const keyed = TRACKER.replace('n INTEGER NOT NULL)', 'n INTEGER NOT NULL, PRIMARY KEY (community, ts))');
    expect(await scaffold(database(keyed))).not.toContain('member_counts_by');
  });

  it('comments what is not sure, with candidates, and never invents a value', async () => {
    const sql = await scaffold(database(TRACKER));
    const groups = viewIn(sql, 'groups');
    expect(groups).toMatchObject({
      state: `-- CASE status WHEN 'gone' THEN NULL WHEN 'ok' THEN NULL END`,
      owner_state: '-- NULL',
      first_measured_at: '-- NULL',
      measurements: '-- NULL',
    });
    expect(viewIn(sql, 'users')).toMatchObject({ measured_at: 'NULL' });
    expect(sql).toMatch(
      /^ {2}NULL AS measured_at +-- .*; required\. .* Perhaps strftime\('[^']*', seen_at\)\.$/m,
    );
    // Messages are no members, whatever their table's shape.
    expect(sql).not.toContain('FROM messages');
  });

  it.each([
    ['1751800000', time(`joined, 'unixepoch'`)],
    [`'2026-11-20T08:00:00Z'`, 'joined'],
    [`'2026-11-20T10:00:00.123+02:00'`, time('joined')],
    ['1751800000123456', time(`joined / 1000000, 'unixepoch'`)],
    [`'2026/10/01 08:00'`, time(`replace(joined, '/', '-')`)],
    [`'2026-10-01'`, 'joined'],
    [`'yesterday'`, '-- joined'],
  ])('takes the time %s for %s', async (value, expression) => {
    const account = `CREATE TABLE account (id INTEGER PRIMARY KEY, joined);`;
    const sql = await scaffold(database(`${account} INSERT INTO account VALUES (1, ${value});`));
    expect(viewIn(sql, 'users')['created_at']).toBe(expression);
    expect(sql.includes(' Taken as UTC.')).toBe(value.includes(' '));
  });

  it.each([
    ['12, 0', 'online'],
    [`'12', 0.0`, 'CAST(online AS INTEGER)'],
    ['12.0, 0.5', '-- online'],
    ['12, -1', '-- online'],
    ['NULL, NULL', '-- online'],
  ])('takes the counts %s for %s', async (values, expression) => {
    const rows = values.split(', ').map((each) => `INSERT INTO experience (online) VALUES (${each});`);
    const file = database(`CREATE TABLE experience (id INTEGER PRIMARY KEY, online); ${rows.join('')}`);
    expect(viewIn(await scaffold(file), 'games')['playing']).toBe(expression);
  });

  it('quotes only names that have to be, since SQLite takes a quoted slip for a text', async () => {
    const file = database(`CREATE TABLE "order of, guild" ("group" INTEGER PRIMARY KEY, title TEXT,
      "current_time" INTEGER); INSERT INTO "order of, guild" VALUES (7, 'Seven', 1763625600);`);
    const sql = await scaffold(file);
    expect(viewIn(sql, 'groups')).toMatchObject({ id: '"group"', name: 'title' });
    // Unquoted, it is the time by the clock.
    expect(sql).toContain(` Perhaps ${time(`"current_time", 'unixepoch'`)}.`);
    changeRegister(file, sql);
    expect(rowsOf(file, 'SELECT id, name FROM groups')).toEqual([[7, 'Seven']]);
  });

  it('numbers rows by the whole key, and joins a history that has all of it', async () => {
    const file = database(`
      CREATE TABLE crs (auth TEXT, code INTEGER, name TEXT, last_seen TEXT, PRIMARY KEY (auth, code));
      CREATE TABLE headcount (auth TEXT, code INTEGER, at TEXT, n INTEGER, PRIMARY KEY (auth, code, at));
      INSERT INTO crs VALUES ('EPSG', 1, 'One', '2026-11-20T08:00:00Z'), ('EPSG', 2, 'Two', '2026-11-20T08:00:00Z'),
        ('ESRI', 1, 'Three', '2026-11-20T08:00:00Z');
      INSERT INTO headcount SELECT auth, code, last_seen, code FROM crs;`);
    const named = ['groups=crs', 'group_member_readings=headcount'];
    changeRegister(file, await scaffold(file, ...named));
    changeRegister(file, await scaffold(file, ...named));
    const found = `SELECT id || name || r.member_count FROM groups JOIN group_member_readings AS r ON id = group_id`;
    expect(rowsOf(file, `${found} ORDER BY 1`).flat()).toEqual(['1One1', '2Two2', '3Three1']);
    await expectValid(file);
  });

  it('takes for measured_at the later one of the record’s own time and its newest reading', async () => {
    const file = database(`
      CREATE TABLE guild (gid INTEGER PRIMARY KEY, title TEXT, last_seen INTEGER);
      CREATE TABLE headcount (gid INTEGER, at INTEGER, heads INTEGER);
      INSERT INTO guild VALUES (1, 'Read later', 1763539200), (2, 'Seen later', 1763625600), (3, 'Never read', 1763539200);
      INSERT INTO headcount VALUES (1, 1763539200, 5), (1, 1763625600, 6), (2, 1763539200, 7);`);
    changeRegister(file, await scaffold(file));
    const days = rowsOf(file, 'SELECT substr(measured_at, 1, 10) FROM groups ORDER BY id').flat();
    expect(days).toEqual(['2025-11-20', '2025-11-20', '2025-11-19']);
    await expectValid(file);
  });

  it('takes the tables that --from names, and refuses those that are not there', async () => {
    const file = database(
      `CREATE TABLE band (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO band VALUES (1, 'The Ones');
       CREATE TABLE pairs (a INTEGER, b INTEGER, PRIMARY KEY (a, b)); CREATE VIEW broken AS SELECT * FROM gone;`,
    );
    const without = await scaffold(file);
    expect(without).not.toMatch(/^CREATE/m);
    expect(without).toMatch(/^-- Nothing looks like groups, .*, items\. .* --from groups=TABLE$/m);
    expect(without).toContain(`\n--   broken (a view that can't be read)\n`);
    const sql = await scaffold(file, 'groups=Band', 'group_names=pairs');
    expect(viewIn(sql, 'groups')).toMatchObject({ id: 'band.id', name: 'name', measured_at: 'NULL' });
    expect(viewIn(sql, 'group_names')).toMatchObject({ group_id: 'a', name: 'NULL' });
    const none = 'there is no table "none" for groups, expected one of band, pairs, broken';
    expect(await refusal(file, 'groups=none')).toContain(none);
    const unknown = '--from "bands=band": expected NAME=TABLE, with one of groups, group_member_readings, ';
    expect(await refusal(file, 'bands=band')).toContain(unknown);
  });

  const CRAWLER = `
    CREATE TABLE users (login TEXT PRIMARY KEY, role TEXT, password_hash TEXT, email TEXT);
    CREATE TABLE players (pid INTEGER PRIMARY KEY, handle TEXT, created_at_ms INTEGER, last_seen_ms INTEGER);
    CREATE TABLE games (gid INTEGER PRIMARY KEY, note TEXT);
    CREATE TABLE staff_member (id INTEGER PRIMARY KEY, handle TEXT, api_token TEXT);
    INSERT INTO users VALUES ('root', 'admin', 'x', 'root@example.org');
    INSERT INTO staff_member VALUES (1, 'root', 'x');
    INSERT INTO players VALUES (7, 'ann', 1763539200000, 1763625600123);`;
  const RENAME = 'ALTER TABLE users RENAME TO own_users;';

  it('takes what --from names though a table is called so, which is to be renamed in a copy', async () => {
    const file = database(CRAWLER);
    const sql = await scaffold(file, 'users=players');
    expect(viewIn(sql, 'users')).toMatchObject({
      id: 'pid',
      username: 'handle',
      created_at: time(`created_at_ms / 1000, 'unixepoch'`),
      measured_at: time(`last_seen_ms / 1000, 'unixepoch'`),
    });
    const named = '-- users is the name of a table of yours, so that this view fails: publish a copy';
    for (const line of [named, `-- ${RENAME}\nDROP VIEW IF EXISTS users;`])
      expect(sql).toContain(`\n${line}\n`);
    // As it stands it fails, and deletes nothing.
    expect(() => changeRegister(file, sql)).toThrow('use DROP TABLE to delete table users');
    expect(rowsOf(file, 'SELECT login FROM users')).toEqual([['root']]);
    changeRegister(file, sql.replace(`-- ${RENAME}`, RENAME));
    expect(rowsOf(file, 'SELECT id, username FROM users')).toEqual([[7, 'ann']]);
    // A view of that name is replaced.
    expect(await scaffold(file, 'users=players')).not.toContain('RENAME TO own_users');
  });

  it('drafts nothing from accounts of staff, nor from a table of the contract’s name, even if they are named, and says so', async () => {
    const sql = await scaffold(database(CRAWLER));
    const what = '\n-- If games is something else, name the right table, --from games=TABLE, and publish';
    expect(sql).toContain(what);
    expect(await refusal(database(CRAWLER), 'games=games')).toContain(
      'ALTER TABLE games RENAME TO own_games',
    );
    for (const [table, why] of [
      ['staff_member', 'api_token'],
      ['users', 'password_hash, email'],
    ]) {
      const said = `looks like accounts of staff (${why})`;
      expect(sql).toContain(`\n-- ${table} ${said}: nothing is drafted from it.\n`);
      expect(await refusal(database(CRAWLER), `users=${table}`)).toContain(`"${table}" ${said}`);
    }
    expect(sql).not.toMatch(/FROM (users|staff_member)\b/);
    // A picture has a hash, and a record of a chain a token.
    const guild = `CREATE TABLE guild (id INTEGER PRIMARY KEY, icon_hash TEXT, token_id INTEGER, email_count INTEGER);`;
    expect(await scaffold(database(guild))).toContain('CREATE VIEW groups');
  });

  it('drafts a history for records that are there already, and needs them', async () => {
    const file = writeRegister(path('register.sqlite'), { groups: [{ id: 7, name: 'Old Mill' }] });
    changeRegister(
      file,
      `DROP TABLE group_names; CREATE TABLE titles (group_id INTEGER, title TEXT, seen_from INTEGER, seen_to INTEGER);
       INSERT INTO titles VALUES (7, 'Old Mill', 1763539200, 1763539200);`,
    );
    const sql = await scaffold(file, 'group_names=titles');
    expect(viewIn(sql, 'group_names')).toMatchObject({ group_id: 'group_id', name: 'title' });
    await refusal(database(CRAWLER), 'group_names=games');
  });

  it('has a line for each column of the contract, with what it is', async () => {
    const sql = await scaffold(database(TRACKER), 'games=accounts', 'items=accounts');
    for (const { name, columns } of TABLES.filter((table) => table.key[0]?.name === 'id')) {
      const [, view = ''] = new RegExp(String.raw`^CREATE VIEW ${name} AS(.*?)^FROM `, 'ms').exec(sql) ?? [];
      const found = [...view.matchAll(/ AS (\w+),? +-- .*?; (may be NULL|required)\. (.*)$/gm)];
      const described = new Map(found.map(([, column = '', ...said]) => [column, said]));
      expect(found).toHaveLength(columns.length);
      for (const { name, nullable, description } of columns) {
        const is = nullable ? 'may be NULL' : 'required';
        expect(described.get(name)).toEqual([is, containing(description)]);
      }
    }
    expect(sql.endsWith('\nPRAGMA user_version = 1;\n')).toBe(true);
  });

  it('leaves alone what is there, names its missing columns, and writes nothing', async () => {
    const file = writeRegister(path('register.sqlite'), {});
    const nothing = /^-- .* has all tables and columns of the contract\.\n\nPRAGMA user_version = 1;\n$/;
    expect(await scaffold(file)).toMatch(nothing);
    changeRegister(
      file,
      `ALTER TABLE groups DROP COLUMN verified; ALTER TABLE items DROP COLUMN measured_at;
       DROP TABLE usernames; PRAGMA user_version = 7`,
    );
    const none = await inProcess('scaffold', '--register', path('none.db'));
    expect(none).toMatchObject({ code: 3, stdout: '' });
    const before = sha256(readFileSync(file));
    const sql = await scaffold(file);
    expect(sql).not.toMatch(/^CREATE/m);
    expect(sql).toContain('-- Nothing looks like usernames.');
    expect(sql).toMatch(/^-- groups lacks columns\..*\n-- {3}verified: 0 or 1; may be NULL\. .*\n\n/m);
    expect(sql).toMatch(
      /^-- items lacks columns\..*\n-- {3}measured_at: a time such as 2026-11-20T08:00:00Z; required\. .*\n-- If items is/m,
    );
    expect(sql).toMatch(
      /^-- user_version is 7\..*\n-- .*#a-nightly-copy\..*\n-- PRAGMA user_version = 1;\n$/m,
    );
    expect(sha256(readFileSync(file))).toBe(before);
  });
});
