/** What `check` says of likely causes, of what is there, and of what may be a mistake. */
import { describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister } from '../../support/register.js';

const path = temporary();

const T = `'2026-11-20T08:00:00Z'`;
const ITEM = `INSERT INTO items (id, first_measured_at, measured_at, measurements) VALUES (30, ${T}, ${T}, 1);`;

/** The hints of a check, after one column of an item was set. */
async function hintsOf(column: string, value: string): Promise<string[]> {
  const sql = `${ITEM} UPDATE items SET ${column} = ${value};`;
  const register = writeRegister(path('register.sqlite'), sql, 'untyped');
  const { code, stdout } = await inProcess('check', '--register', register);
  expect(code).toBe(1);
  return stdout.split('\n').flatMap((line) => (line.startsWith('  hint: ') ? [line.slice(8)] : []));
}

const SECONDS = `looks like a Unix time in seconds: strftime('%Y-%m-%dT%H:%M:%SZ', created_at, 'unixepoch')`;
const MILLIS = `looks like a Unix time in milliseconds: strftime('%Y-%m-%dT%H:%M:%SZ', created_at / 1000, 'unixepoch')`;
const FORMAT = `a time in another format: strftime('%Y-%m-%dT%H:%M:%SZ', created_at)`;
/** What is said of a time without a zone. */
const inUtc = (what: string, sql: string): string =>
  `${what}; if it is in UTC: strftime('%Y-%m-%dT%H:%M:%SZ', ${sql}), else it is local time (see docs/your-register.md#times)`;
const ZONE = inUtc('a time without a zone', 'created_at');
const SLASHES = inUtc('a date with slashes', `replace(created_at, '/', '-')`);
const DAY_FIRST_SQL = `substr(created_at, 7, 4) || '-' || substr(created_at, 4, 2) || '-' || substr(created_at, 1, 2) || substr(created_at, 11)`;
const DAY_FIRST = inUtc('a date with the day first', DAY_FIRST_SQL);
const AS_TEXT = 'a number stored as text: CAST(price AS INTEGER)';

describe('a hint', () => {
  it.each([
    ['created_at', '1751800000', SECONDS],
    ['created_at', `'1751800000'`, SECONDS],
    ['created_at', '1751800000123', MILLIS],
    ['created_at', `'2026-11-20T10:00:00+02:00'`, FORMAT],
    ['created_at', `'2026-11-20 08:00'`, ZONE],
    ['created_at', `'2026-11-20'`, inUtc('a date without a time of day', 'created_at')],
    ['created_at', `'2026/10/01'`, SLASHES],
    ['created_at', `'25.08.2023 11:50'`, DAY_FIRST],
    ['price', `'120'`, AS_TEXT],
    ['price', '-1', 'a negative number; if it means "not measured": nullif(price, -1)'],
    ['price', '120.0', 'a whole number stored as REAL: CAST(price AS INTEGER)'],
    ['off_sale', `'true'`, 'a boolean stored as text: CASE off_sale WHEN … THEN 1 WHEN … THEN 0 END'],
  ])('for %s = %s', async (column, value, hint) => {
    expect(await hintsOf(column, value)).toEqual([hint]);
  });

  it.each([
    ['created_at', `'yesterday'`],
    ['created_at', `'5.8.2023'`],
    ['created_at', `'2026-02-30T08:00:00Z'`],
    ['measurements', '-1'],
    ['price', '1.5'],
    ['off_sale', `'perhaps'`],
  ])('is not made up for %s = %s', async (column, value) => {
    expect(await hintsOf(column, value)).toEqual([]);
  });

  it('names each cause that the examples of a finding have', async () => {
    const sql = `${ITEM} ${ITEM.replace('30', '31')} UPDATE items SET price = iif(id = 30, 12.0, -1.0);`;
    const register = writeRegister(path('register.sqlite'), sql, 'untyped');
    expect((await inProcess('check', '--register', register)).stdout).toContain(
      '  hint: a whole number stored as REAL: CAST(price AS INTEGER); a negative number; if it means "not measured": nullif(price, -1.0)\n',
    );
  });

  it.each([
    ['seconds', `strftime('%Y-%m-%dT%H:%M:%SZ', created_at, 'unixepoch')`, '1751800000.9'],
    ['an offset', `strftime('%Y-%m-%dT%H:%M:%SZ', created_at)`, `'2026-11-20 10:00:00+02:00'`],
  ])('that is followed corrects %s', async (_, call, value) => {
    const sql = `${ITEM} UPDATE items SET created_at = ${value}; UPDATE items SET created_at = ${call};`;
    const register = writeRegister(path('register.sqlite'), sql, 'untyped');
    expect((await inProcess('check', '--register', register)).code).toBe(0);
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

  it('warns of histories that are empty', async () => {
    const { lines, json } = await check(
      `INSERT INTO users (id, username, ${MEASURED}) VALUES (1, 'one', ${T}, ${T}, 1);`,
    );
    expect(lines.at(-1)).toBe(
      'warning: usernames is empty, though users has records: their histories of usernames will be empty',
    );
    expect(json).toMatchObject({ warnings: [{ table: 'usernames', column: null, count: 1, examples: [] }] });
  });

  it('warns of records with a value and no history, and the other way round', async () => {
    const { lines, json } = await check(
      `INSERT INTO users (id, username, ${MEASURED}) VALUES (1, 'one', ${T}, ${T}, 1), (2, NULL, ${T}, ${T}, 1),
         (3, 'three', ${T}, ${T}, 1), (4, NULL, ${T}, ${T}, 1);
       INSERT INTO usernames VALUES (1, 1, 'one', NULL, ${T}, ${T}), (2, 1, 'two', NULL, ${T}, ${T});`,
    );
    expect(lines.slice(-2)).toEqual([
      'warning: users.username is NULL in records that have rows in usernames: 1, such as id = 2',
      'warning: users.username is not NULL in records without a row in usernames, whose histories will be empty: 1, such as id = 3',
    ]);
    expect(json).toMatchObject({
      warnings: [
        { table: 'users', column: 'username', count: 1, examples: ['id = 2'] },
        { table: 'users', column: 'username', count: 1, examples: ['id = 3'] },
      ],
    });
  });
});
