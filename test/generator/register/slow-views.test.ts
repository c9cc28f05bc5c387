/** What is scanned for each row of a view: asked of SQLite's own planner. */
import { describe, expect, it } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { slownessOf } from '../../../generator/register/slow-views.js';
import { RESOURCES, recordTable } from '../../../generator/schema/schema.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const [groups] = RESOURCES.map(recordTable);

const series = (most: number): string =>
  `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most}) SELECT i FROM n)`;

const TABLES = `
  DROP TABLE groups;
  CREATE TABLE club (id INTEGER PRIMARY KEY, k TEXT, title TEXT, boss TEXT);
  CREATE TABLE reading (k TEXT, day TEXT, "n o" INTEGER);
  CREATE TABLE player (handle TEXT, pid INTEGER);
  CREATE TABLE word (state TEXT, ours TEXT);
  INSERT INTO reading SELECT 'k' || i, i, i FROM ${series(200)};
  INSERT INTO player SELECT 'h' || i, i FROM ${series(200)};
  INSERT INTO word VALUES ('ok', 'present');`;

const last = (column: string): string =>
  `(SELECT ${column} FROM reading AS r WHERE r.k = club.k ORDER BY day DESC LIMIT 1)`;
const PLAYER = `(SELECT pid FROM player p WHERE lower(p.handle) = lower(club.boss))`;

/** What is said of a view of groups. */
function said(columns: string, from = 'club', more = ''): readonly string[] {
  const file = writeRegister(path('register.sqlite'), '');
  changeRegister(file, `${TABLES} CREATE VIEW groups AS SELECT ${columns} FROM ${from}; ${more}`);
  const register = Register.open(file);
  try {
    if (groups === undefined) throw new Error('expected groups');
    return slownessOf(register, groups);
  } finally {
    register.close();
  }
}

const COUNT = `${last('"n o"')} AS member_count`;
const BY_DAY = 'scans reading for each row';
const SCANS_PLAYER = 'groups.owner_id: scans player for each row';
const SCANS_BOTH = 'groups (name, member_count): scans reading for each row';
const GREATEST = `(SELECT max("n o") FROM reading WHERE reading.k = club.k) AS member_count`;
const UNTIL = `(SELECT "n o" FROM reading AS r WHERE r.k = club.k AND day <= club.title ORDER BY day DESC LIMIT 1) AS member_count`;
const BEFORE = `(SELECT day FROM reading WHERE day < club.title LIMIT 1) AS measured_at`;
const BY_NUMBER = `(SELECT k FROM reading WHERE "n o" = club.id) AS name`;
const TWO_COLUMNS = `(SELECT "n o" FROM reading WHERE k = club.k AND day = club.title) AS member_count`;

describe('a view', () => {
  it.each<[string, string, readonly string[]]>([
    ['the last reading', COUNT, [`groups.member_count: ${BY_DAY}`]],
    [
      'two values of one table',
      `${COUNT}, ${last('day')} AS measured_at`,
      [`groups (member_count, measured_at): ${BY_DAY}`],
    ],
    ['the greatest value', GREATEST, [`groups.member_count: ${BY_DAY}`]],
    ['two columns compared', TWO_COLUMNS, [`groups.member_count: ${BY_DAY}`]],
    ['what is equal in one column and less in another', UNTIL, [`groups.member_count: ${BY_DAY}`]],
    ['what is less, and equal to nothing', BEFORE, ['groups.measured_at: scans reading for each row']],
    ['one table in two ways, of which no index serves both', `${COUNT}, ${BY_NUMBER}`, [SCANS_BOTH]],
    ['a comparison that no index of columns serves', `${PLAYER} AS owner_id`, [SCANS_PLAYER]],
    ['two tables', `${COUNT}, ${PLAYER} AS owner_id`, [SCANS_PLAYER, `groups.member_count: ${BY_DAY}`]],
    ['a table of few rows', `(SELECT ours FROM word WHERE word.state = club.title) AS state`, []],
    ['one value for all rows', `(SELECT max(day) FROM reading) AS measured_at`, []],
    ['nothing else', 'title AS name', []],
  ])('that looks up %s', (_, columns, lines) => {
    expect(said(`id, ${columns}`)).toEqual(lines);
  });

  it('that keeps the rows with a reading names no column, since all of them need it', () => {
    expect(
      said('id, title AS name', 'club WHERE (SELECT max("n o") FROM reading WHERE k = club.k) > 5'),
    ).toEqual(['groups: scans reading for each row']);
  });

  it('that joins a table without a usable index', () => {
    const joined = 'club JOIN player AS p ON lower(handle) = lower(boss)';
    expect(said('id, pid AS owner_id', joined)).toEqual(['groups: scans player for each row']);
  });

  it('with an index that serves the lesser half of a comparison needs another one', () => {
    const more = 'CREATE INDEX by_day ON reading (day)';
    expect(said(`id, ${UNTIL}`, 'club', more)).toEqual([
      'groups.member_count: scans a range of reading for each row',
    ]);
  });

  // Two tables are called r.
  const NAMED =
    'CREATE VIEW named AS SELECT id, k, title, (SELECT pid FROM player r WHERE handle = boss) AS p FROM club;';
  const MIDDLE = `CREATE VIEW middle AS SELECT id, p, title, k FROM named WHERE k <> '';`;
  it.each([
    ['two', 'named', NAMED],
    ['three', 'middle', NAMED + MIDDLE],
  ])('over views of %s levels names the tables below', (_, from, views) => {
    expect(said(`id, p AS owner_id, ${UNTIL.replaceAll('club', from)}`, from, views)).toEqual([
      'groups.owner_id: scans player for each row',
      `groups.member_count: ${BY_DAY}`,
    ]);
  });

  it('that has its index is fine, and so is one that can’t be read', () => {
    expect(said(`id, ${COUNT}`, 'club', 'CREATE INDEX i ON reading (k, day)')).toEqual([]);
    expect(said('id', 'club', 'DROP TABLE club')).toEqual([]);
  });
});
