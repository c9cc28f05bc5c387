/** What is scanned for each row of a view: asked of SQLite's own planner. */
import { expect, it, onTestFinished } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { scansIn } from '../../../generator/register/explain.js';
import { RESOURCES, recordTable } from '../../../generator/schema/schema.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const GROUPS = recordTable(RESOURCES[0]!);

const TABLES = `
  DROP TABLE groups;
  CREATE TABLE club (id INTEGER PRIMARY KEY, k TEXT, title TEXT, boss TEXT);
  CREATE TABLE reading (k TEXT, day TEXT, n INTEGER);
  CREATE TABLE player (handle TEXT, pid INTEGER);`;

function said(columns: string, from = 'club', more = ''): readonly string[] {
  const file = writeRegister(path('register.sqlite'), '');
  changeRegister(file, `${TABLES} CREATE VIEW groups AS SELECT id, ${columns} FROM ${from}; ${more}`);
  const register = Register.open(file);
  onTestFinished(() => register.close());
  return scansIn(register, GROUPS);
}

const scans = (what: string): string =>
  `  groups: scans ${what} for each row (docs/your-register.md#views-that-stay-fast)`;
const COUNT = '(SELECT n FROM reading AS r WHERE r.k = club.k ORDER BY day DESC LIMIT 1) AS member_count';
const GREATEST = '(SELECT max(n) FROM reading WHERE reading.k = club.k) AS member_count';
const OWNER = '(SELECT pid FROM player WHERE lower(handle) = lower(boss)) AS owner_id';
const JOINED = 'club JOIN player AS p ON lower(handle) = lower(boss)';
const BELOW = `CREATE VIEW below AS SELECT id, ${COUNT} FROM club`;

it.each<[string, string, string, string, readonly string[]]>([
  ['looks up a value, by its alias', COUNT, 'club', '', ['r']],
  ['looks up the greatest value', GREATEST, 'club', '', ['reading']],
  ['looks up in two tables', `${COUNT}, ${OWNER}`, 'club', '', ['player', 'r']],
  ['joins a table without an index', 'pid AS owner_id', JOINED, '', ['p']],
  ['is over another view', 'member_count', 'below', BELOW, ['r']],
  ['has its index', COUNT, 'club', 'CREATE INDEX i ON reading (k, day)', []],
  ['reads one value for all rows', '(SELECT max(day) FROM reading) AS measured_at', 'club', '', []],
  ['can’t be read', COUNT, 'club', 'DROP TABLE reading', []],
])('a view that %s', (_, columns, from, more, scanned) => {
  expect(said(columns, from, more)).toEqual(scanned.map(scans));
});
