/** Hints of `check` at likely causes, its summary, and its warnings of what the contract allows but may be a mistake. */
import { describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { CLOCK, inProcess } from '../../support/in-process.js';
import { writeRegister, type Shape } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();

const T = `'2026-11-20T08:00:00Z'`;
const ITEM = `INSERT INTO items (id, first_measured_at, measured_at, measurements) VALUES (30, ${T}, ${T}, 1);`;

const checked = (sql: string, shape: Shape = 'strict') =>
  inProcess('check', '--register', writeRegister(path('register.sqlite'), sql, shape));

/** The lines that begin with these words, without them. */
const linesWith = (begin: string, { stdout }: { readonly stdout: string }): string[] =>
  stdout.split('\n').flatMap((line) => (line.startsWith(begin) ? [line.slice(begin.length)] : []));

async function hintsOf(column: string, value: string): Promise<string[]> {
  const run = await checked(`${ITEM} UPDATE items SET ${column} = ${value};`, 'untyped');
  expect(run.code).toBe(1);
  return linesWith('  hint: ', run);
}

const SECONDS = `looks like a Unix time in seconds: strftime('%Y-%m-%dT%H:%M:%SZ', created_at, 'unixepoch')`;
const MILLIS = `looks like a Unix time in milliseconds: strftime('%Y-%m-%dT%H:%M:%SZ', created_at / 1000, 'unixepoch')`;
const FORMAT = `a time in another format: strftime('%Y-%m-%dT%H:%M:%SZ', created_at)`;
const inUtc = (what: string, sql: string): string =>
  `${what}; if it is in UTC: strftime('%Y-%m-%dT%H:%M:%SZ', ${sql}), else it is local time (see docs/your-register.md#times)`;
const ZONE = inUtc('a time without a zone', 'created_at');
const SLASHES = inUtc('a date with slashes', `replace(created_at, '/', '-')`);
const DAY_FIRST_SQL = `substr(created_at, 7, 4) || '-' || substr(created_at, 4, 2) || '-' || substr(created_at, 1, 2) || substr(created_at, 11)`;
const DAY_FIRST = inUtc('a date with the day first', DAY_FIRST_SQL);
const AS_BOOLEAN = `a boolean stored as text: CASE lower(off_sale) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`;
const AS_TEXT = 'a number stored as text: CAST(price AS INTEGER)';

describe('a hint', () => {
  it.each([
    ['created_at', '1751800000', SECONDS],
    ['created_at', `'1751800000'`, SECONDS],
    ['created_at', '1751800000123', MILLIS],
    ['created_at', '1751800000123456', MILLIS.replace('milli', 'micro').replace('1000', '1000000')],
    ['created_at', `'2026-11-20T10:00:00+02:00'`, FORMAT],
    ['created_at', `'2026-11-20 08:00'`, ZONE],
    ['measured_at', `'2026-11-20'`, inUtc('a date without a time of day', 'measured_at')],
    ['created_at', `'2026/10/01 08:00'`, SLASHES],
    ['created_at', `'25.08.2023 11:50'`, DAY_FIRST],
    ['price', `'120'`, AS_TEXT],
    ['price', '-1', 'a negative number; if it means "not measured": nullif(price, -1)'],
    ['price', '120.0', 'a whole number stored as REAL: CAST(price AS INTEGER)'],
    ['platform_id', '81384788765712384', 'a number: CAST(platform_id AS TEXT)'],
    ['platform_id', `'7'`, 'a number that can be the id itself: leave platform_id NULL'],
    ['off_sale', `'true'`, AS_BOOLEAN],
  ])('for %s = %s', async (column, value, hint) => {
    expect(await hintsOf(column, value)).toEqual([hint]);
  });

  it.each([
    [
      `(7, '2026-11-20T08:00:00Z', 91)`,
      'the record has what was read last: (SELECT member_count FROM group_member_readings WHERE group_id = id' +
        ' ORDER BY measured_at DESC LIMIT 1) AS member_count; or the newest reading is not in group_member_readings yet',
    ],
    [
      `(7, '2026-11-20T08:00:01Z', 90)`,
      'what is read of a record measures it: write the later of both times as its measured_at, such as' +
        ' max(measured_at, (SELECT max(measured_at) FROM group_member_readings WHERE group_id = id))',
    ],
  ])('says what to do where a record is not what its newest reading says: %s', async (reading, hint) => {
    const group = `INSERT INTO groups (id, member_count, measured_at) VALUES (7, 90, '2026-11-20T08:00:00Z');`;
    const run = await checked(`${group} INSERT INTO group_member_readings VALUES ${reading};`);
    expect(linesWith('  hint: ', run)).toEqual([hint]);
  });

  it.each([
    ['created_at', `'yesterday'`],
    ['created_at', `'5.8.2023'`],
    ['created_at', `'2026-02-30T08:00:00Z'`],
    // Digits of a date, and no Unix time.
    ['created_at', '20190504172000'],
    ['price', '1.5'],
    ['off_sale', `'perhaps'`],
    ['state', `'7'`],
  ])('is not made up for %s = %s', async (column, value) => {
    expect(await hintsOf(column, value)).toEqual([]);
  });
});

const MEASURED = `first_measured_at, measured_at, measurements`;

/** A check of a register without errors: its lines, its JSON, and nothing with --quiet. */
const check = async (sql: string) => {
  const register = writeRegister(path('register.sqlite'), sql);
  const people = await inProcess('check', '--register', register);
  const json: unknown = JSON.parse((await inProcess('check', '--register', register, '--json')).stdout);
  const quiet = await inProcess('check', '--register', register, '--quiet');
  expect([people.code, quiet]).toEqual([0, { code: 0, stdout: '', stderr: '' }]);
  return { lines: people.stdout.trimEnd().split('\n'), json };
};

describe('a check that finds nothing', () => {
  it('says how many rows there are of each kind and history', async () => {
    const { lines, json } = await check(
      `${ITEM} INSERT INTO users (id, username, ${MEASURED}) VALUES (1, 'one', ${T}, ${T}, 1);
       INSERT INTO usernames VALUES (1, 1, 'uno', NULL, ${T}, ${T}), (1, 2, 'one', NULL, ${T}, ${T});`,
    );
    expect(lines.slice(1)).toEqual([
      '  0 groups, 0 group member readings, 0 group names, 0 group owners',
      '  1 user, 2 usernames',
      '  0 games',
      '  1 item',
      '  0 withheld',
    ]);
    const counts = { groups: 0, users: 1, usernames: 2, games: 0, items: 1, withheld: 0 };
    expect(json).toMatchObject({ total: 0, findings: [], counts, absent: [], warnings: [] });
  });

  it('warns of histories that are empty, and of records with a value and no history, and the other way round', async () => {
    const empty = await check(`INSERT INTO users (id, measured_at) VALUES (1, ${T});`);
    const said = 'usernames is empty, though users has records: their histories of usernames will be empty';
    expect(empty.lines).toContain(`warning: ${said}`);
    const { lines, json } = await check(
      `INSERT INTO users (id, username, ${MEASURED}) VALUES (1, 'one', ${T}, ${T}, 1), (2, NULL, ${T}, ${T}, 1),
         (3, 'three', ${T}, ${T}, 1), (4, NULL, ${T}, ${T}, 1);
       INSERT INTO usernames VALUES (1, 1, 'one', NULL, ${T}, ${T}), (2, 1, 'two', NULL, ${T}, ${T});`,
    );
    expect(lines.slice(-2)).toEqual([
      'warning: users.username is NULL in records that have rows in usernames: 1, such as id = 2',
      'warning: users.username is not NULL in records without a row in usernames, whose histories will be empty: 1, such as id = 3',
    ]);
    const warnings = [2, 3].map((id) => {
      return { table: 'users', column: 'username', count: 1, examples: [`id = ${id}`] };
    });
    expect(json).toMatchObject({ warnings });
  });
});

/** Twelve groups with two readings each, in which every column has a value. */
const GROUPS = `
  CREATE TABLE number AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) SELECT i FROM n;
  INSERT INTO groups SELECT i, 'present', 'group ' || i, 'about', 'owned', 100 + i, 'owner ' || i, 1000 + i, 1, 0,
    '2019-05-04T17:20:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2, 'g-' || i FROM number;
  INSERT INTO group_member_readings SELECT i, '2026-11-01T08:00:00Z', 1000 FROM number;
  INSERT INTO group_member_readings SELECT i, '2026-11-20T08:00:00Z', 1000 + i FROM number;
  INSERT INTO group_names SELECT i, 1, 'group ' || i, '2026-10-01T08:00:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z' FROM number;
  INSERT INTO group_owners SELECT i, 1, 'owned', 100 + i, 'owner ' || i, '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z' FROM number;`;

const asView = (columns: string): string =>
  `ALTER TABLE groups RENAME TO club; CREATE VIEW groups AS SELECT ${columns} FROM club`;
const OURS = 'id, first_measured_at, measured_at, measurements, name, member_count, owner_state, owner_id';
const NAMES = 'AS SELECT id AS group_id, name FROM groups';
const NO_NAMES = 'DROP TABLE group_names';

const set = (values: string): string => `UPDATE groups SET ${values}`;
const late = (condition: string): string => set(`measured_at = '2026-11-21T08:00:00Z' WHERE ${condition}`);
const inHours = (hours: string): string =>
  set(`created_at = strftime('%Y-%m-%dT%H:%M:%SZ', '${CLOCK}', '${hours} hours')`);
const saySo = (it: string): string => `if you don't measure ${it}, say so (not_measured in operator.json)`;

type Odd = readonly [sql: string, ...warnings: readonly string[]];
const ODD: Readonly<Record<string, readonly Odd[]>> = {
  'a count that is a thousand times the next one': [
    [
      set('measurements = 2000 WHERE id = 7'),
      'groups.measurements is 2,000, and the next largest is 2: 1, such as id = 7',
    ],
    [
      set('measurements = iif(id < 3, 1000, 0)'),
      'groups.measurements is 1,000, and the next largest is 0: 2, such as id = 1; id = 2',
    ],
    [''],
    [set('measurements = 1999 WHERE id = 7')],
    [set('measurements = 5000')],
    [set('measurements = iif(id = 7, 999, 0)')],
  ],
  'a NUL in a text, and the first day of Unix time': [
    [
      set(`description = 'a' || char(0) || 'b' WHERE id IN (2, 4, 6, 8)`),
      'groups.description has a NUL in it: 4, such as id = 2; id = 4; id = 6',
    ],
    [
      set(`created_at = '1970-01-0' || (id - 1) || 'T00:00:00Z' WHERE id IN (2, 3)`),
      'groups.created_at is on 1 January 1970, which stands for no time in most databases: 1, such as id = 2',
    ],
  ],
  'records that are measured later than their newest reading, if that is no exception': [
    [
      late('id < 3'),
      'groups.measured_at is later than the newest row in group_member_readings: 2, such as id = 1; id = 2',
    ],
    [late('id < 2')],
    [`${late('id < 3')}; ${set('member_count = NULL WHERE id < 3')}`],
  ],
  'a column whose name is nearly one that is absent': [
    [
      asView(`${OURS}, description AS descripton, created_at AS created, verified AS v`),
      'groups.descripton is not read, and description is absent: did you mean description?',
      'groups.created is not read, and created_at is absent: did you mean created_at?',
    ],
    [asView(`${OURS}, created_at, 1 AS nme, 2 AS created`)],
  ],
  'a view whose name is nearly one that is absent': [
    [
      `${NO_NAMES}; CREATE VIEW group_name ${NAMES}`,
      'group_name is not read, and group_names is absent: did you mean group_names?',
    ],
    [`${NO_NAMES}; CREATE VIEW newest_names ${NAMES}`],
  ],
  'a time in the future, but not of a clock that is ahead': [
    [`${inHours('+25')} WHERE id IN (3, 5)`, 'groups.created_at is in the future: 2, such as id = 3; id = 5'],
    [`${inHours('+23')} WHERE id IN (3, 5)`],
  ],
  'records that were measured before they were created, if they are more than a few': [
    [
      set(`created_at = '2026-11-20T08:00:01Z' WHERE id < 5`),
      'groups.measured_at is before created_at: 4, such as id = 1; id = 2; id = 3',
    ],
    [set(`created_at = '2026-11-20T08:00:01Z' WHERE id < 4`)],
    [set(`created_at = '2026-11-20T08:00:00Z'`)],
  ],
  'columns without any value, in one line for a table': [
    [
      set('description = NULL, created_at = NULL'),
      `groups (description, created_at) are NULL in every row; ${saySo('them')}`,
    ],
    [set('created_at = NULL'), `groups.created_at is NULL in every row; ${saySo('it')}`],
    [set('created_at = NULL WHERE id > 1')],
    ['ALTER TABLE groups DROP COLUMN created_at'],
  ],
};

it.each(Object.entries(ODD))('a check warns of %s', async (_, changes) => {
  for (const [sql, ...warnings] of changes) {
    const run = await checked(`${GROUPS} ${sql}`);
    expect(run).toMatchObject({ code: 0, stdout: containing('keeps the contract') });
    expect(linesWith('warning: ', run), sql).toEqual(warnings);
  }
});
