/** The removal guard: what a build may remove without being asked to, by its limits, and as docs/publishing.md says. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import * as z from 'zod';
import { OPERATOR } from '../../support/build.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister, type Rows } from '../../support/register.js';
import { loseState } from '../../support/state.js';
import { always, it, some } from '../../support/thorough.js';
import { inState } from '../../support/tree.js';
import { containing, fields } from '../../support/values.js';

const path = temporary();
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const TIMES = { first_measured_at: '2026-11-01T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
const NEWEST = 200;
const OWNER = 1;
const owner = (group: number) => ({
  owner_state: 'owned',
  owner_id: group <= 50 ? OWNER : 1000 + group,
  owner_name: group <= 50 ? 'user 1' : `owner ${group}`,
});

const ROWS: Rows = {
  groups: range(1, 100).map((id) => ({ id, name: `group ${id}`, ...owner(id) })),
  group_member_readings: range(1, 100).flatMap((id) =>
    range(10, 19).map((day) => ({
      group_id: id,
      measured_at: `2026-11-${day}T08:00:00Z`,
      member_count: id + day,
    })),
  ),
  group_names: range(1, 100).map((id) => ({ group_id: id, position: 1, name: `group ${id}`, ...TIMES })),
  group_owners: range(1, 100).map((id) => ({ group_id: id, position: 1, ...owner(id), ...TIMES })),
  users: range(1, 100).map((id) => ({ id, username: `user ${id}` })),
  usernames: range(1, 100).map((id) => ({ user_id: id, position: 1, username: `user ${id}`, ...TIMES })),
  games: range(1, 100).map((id) => ({ id, name: `game ${id}`, visits: id })),
  items: range(1, 200).map((id) => ({
    id,
    name: `item ${id}`,
    ...(id === 1 && { price: 5 }),
    ...(id === NEWEST && { measured_at: '2026-11-21T08:00:00Z' }),
  })),
  withheld: range(1001, 1005).map((id) => ({ kind: 'item', id, since: '2026-11-20T08:00:00Z' })),
};

const withhold = (kind: string, id: number): string =>
  `INSERT INTO withheld VALUES ('${kind}', ${id}, '2026-11-22T08:00:00Z');`;
const HALVE = `DELETE FROM group_member_readings WHERE group_id <= 50`;

interface Case {
  readonly sql?: string;
  readonly notMeasured?: readonly string[];
  readonly isFirst?: true;
  /** A part of what a build says that is refused. */
  readonly refused?: string;
}

/** What has happened since the last snapshot, and what a build says to it; docs/publishing.md has some of it. */
const CASES: Readonly<Record<string, Case>> = {
  // The quick run takes the first and the last.
  '10 of 100 games deleted': { sql: 'DELETE FROM games WHERE id <= 10' },
  'there was none: a first build': { isFirst: true },
  'half of the readings deleted': { sql: HALVE, refused: '500 of 1000 rows of group_member_readings' },
  'all names of groups `NULL`': {
    sql: 'UPDATE groups SET name = NULL',
    refused: '100 of 100 values of groups.name',
  },
  'the only price `NULL`': { sql: 'UPDATE items SET price = NULL', refused: '1 of 1 values of items.price' },
  '11 of 200 items deleted': { sql: 'DELETE FROM items WHERE id BETWEEN 11 AND 21' },
  'all rows deleted': {
    sql: Object.keys(ROWS)
      .filter((table) => table !== 'withheld')
      .map((table) => `DELETE FROM ${table};`)
      .join(''),
    refused: 'and 5 more would be gone',
  },
  'the newest record deleted': {
    sql: `DELETE FROM items WHERE id = ${NEWEST}`,
    refused: 'if the time zone (TZ) is wrong now',
  },
  'the newest record withheld': { sql: withhold('item', NEWEST) },
  // Nor do other losses of users count then.
  'the owner of half the groups withheld': {
    sql: `${withhold('user', OWNER)} DELETE FROM users WHERE id > 50; DELETE FROM usernames WHERE user_id > 50`,
  },
  'a user withheld, and half the games deleted': {
    sql: `${withhold('user', OWNER)} DELETE FROM games WHERE id > 50`,
    refused: '50 of 100 rows of games',
  },
  'an item withheld no more': {
    sql: 'DELETE FROM withheld WHERE id = 1003',
    refused: 'item 1003 would be published again',
  },
  'the withheld list dropped': { sql: 'DROP TABLE withheld', refused: 'the register lacks withheld' },
  'the column of prices dropped': {
    sql: 'ALTER TABLE items DROP COLUMN price',
    refused: 'the register lacks items.price',
  },
  'prices, and games, in `not_measured`': { notMeasured: ['items.price', 'games'] },
  'items, with the newest, not measured': { notMeasured: ['items'] },
  '11 of 100 games deleted': { sql: 'DELETE FROM games WHERE id <= 11', refused: '11 of 100 rows of games' },
};

const ALL = Object.entries(CASES).map(([what, { refused }]) => {
  return { what, outcome: refused === undefined ? 'published' : 'refused', message: refused ?? '' };
});

/** The rows of the table, in which `…` stands for any text. */
function tableRows() {
  const text = readFileSync(join(PROJECT, 'docs/publishing.md'), 'utf8');
  const [, section = ''] = /\n## The removal guard\n(.*?)\n## /s.exec(text) ?? [];
  const [, , ...rows] = section.match(/^\| .*(?= \|$)/gm) ?? [];
  return rows.map((row) => {
    const [, what = '', outcome = '', message = ''] = row.split('|').map((cell) => cell.trim());
    return { what, outcome, message: message.replaceAll(/[`…]/g, '').trim() };
  });
}

const register = path('register.sqlite');
const out = path('dist');
const PARTS = [register, out, inState(out)];
const operator = path('operator.json');
const options = { recursive: true, preserveTimestamps: true };

function prepare({ sql, notMeasured = [], isFirst }: Case): void {
  for (const part of PARTS) {
    rmSync(part, { recursive: true, force: true });
    if (part === register || isFirst !== true) cpSync(`${part}-kept`, part, options);
  }
  const content = fields(JSON.parse(readFileSync(OPERATOR, 'utf8')));
  writeFileSync(operator, JSON.stringify({ ...content, not_measured: notMeasured }));
  if (sql !== undefined) changeRegister(register, sql);
}

const command = (name: string, ...options: readonly string[]) =>
  inProcess(name, '--quiet', '--register', register, '--out', out, '--operator', operator, ...options);

const doubts = z.object({ implausible: z.string().nullable() });

describe('what happened since the last snapshot', () => {
  beforeAll(async () => {
    writeRegister(register, ROWS);
    cpSync(OPERATOR, operator);
    await command('build');
    for (const part of PARTS) cpSync(part, `${part}-kept`, options);
  });

  it('is what docs/publishing.md says in each row of its table', () => {
    expect(tableRows().length).toBeGreaterThan(5);
    expect(ALL).toEqual(expect.arrayContaining([...tableRows()]));
  });

  always.each(some(ALL, 2))('$what: $outcome', async ({ what, outcome, message }) => {
    prepare(CASES[what] ?? {});
    const code = outcome === 'refused' ? 1 : 0;
    const { implausible } = doubts.parse(JSON.parse((await command('diff', '--json')).stdout));
    const stderr = implausible === null ? '' : `error: ${implausible}; the published tree is what it was\n`;
    expect(await command('build')).toEqual({ code, stdout: '', stderr });
    expect(stderr).toContain(message);
    if (code === 1)
      expect((await command('build', '--accept-removals', '--accept-republished')).code).toBe(0);
    // Nothing is refused twice.
    expect(await command('build')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

it('what a build would lose is noticed where --skip-invalid leaves it out', async () => {
  prepare({ sql: `UPDATE games SET visits = -1 WHERE id <= 11` });
  const skipped = await command('build', '--skip-invalid');
  expect(skipped).toMatchObject({ code: 1, stderr: containing('11 of 100 rows of games') });
});

it('after a lost state nothing is refused for what can’t be compared, which is said', async () => {
  const unknown =
    'warning: what the last snapshot was made from is not known, as where the state was lost, so nobody can tell whether' +
    ' a record is published again that the last snapshot withheld, the register lacks a table or a column that it' +
    ' had then, or rows of a history or values of a column are gone; every file is written again\n';
  const sql = `ALTER TABLE items DROP COLUMN price; DROP TABLE withheld; ${HALVE}`;
  prepare({ sql });
  loseState(out);
  expect(await command('build')).toMatchObject({ code: 0, stderr: unknown });
  expect(await command('build')).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('a build warns of what check warns of, but of no missing readings, nor where nothing changed', async () => {
  const sql = `DELETE FROM group_names WHERE group_id <= 10; UPDATE groups SET member_count = 19 + id`;
  prepare({ sql, isFirst: true });
  const build = ['build', '--register', register, '--out', out, '--operator', operator] as const;
  const { stdout } = await inProcess('check', '--register', register, '--operator', operator);
  const warnings = stdout.split('\n').filter((line) => line.startsWith('warning: '));
  expect(warnings).toContainEqual(containing('groups.name is not NULL in records without a row in'));
  // Of a register that keeps no reading of what has not changed, a build would say so for ever.
  const late = warnings.filter((line) => line.includes('is later than the newest row in'));
  expect(late).toHaveLength(1);
  const others = warnings.filter((line) => !late.includes(line));
  expect((await inProcess(...build)).stderr.split('\n').slice(0, -1)).toEqual(others);
  expect((await inProcess(...build)).stderr).toBe('');
});
