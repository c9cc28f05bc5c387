/** What `check` warns of though the contract allows it, through the command line. */
import { describe, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

/** Twelve groups with two readings each, in which every column has a value. */
const GROUPS = `
  CREATE TABLE number AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) SELECT i FROM n;
  INSERT INTO groups SELECT i, 'present', 'group ' || i, 'about', 'owned', 100 + i, 'owner ' || i, 1000 + i, 1, 0,
    '2019-05-04T17:20:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2 FROM number;
  INSERT INTO group_member_readings SELECT i, '2026-11-01T08:00:00Z', 1000 FROM number;
  INSERT INTO group_member_readings SELECT i, '2026-11-20T08:00:00Z', 1000 + i FROM number;
  INSERT INTO group_names SELECT i, 1, 'group ' || i, '2026-10-01T08:00:00Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z' FROM number;
  INSERT INTO group_owners SELECT i, 1, 'owned', 100 + i, 'owner ' || i, '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z' FROM number;`;

/** A register with these groups, and statements that change them. */
function changed(sql: string): string {
  const register = writeRegister(path('register.sqlite'), GROUPS);
  changeRegister(register, sql);
  return register;
}

const warningsIn = (stdout: string): readonly string[] =>
  stdout.split('\n').flatMap((line) => (line.startsWith('warning: ') ? [line.slice(9)] : []));

/** The warnings of the command, after statements that change the groups. */
async function warningsAfter(sql: string): Promise<readonly string[]> {
  const { code, stdout } = await inProcess('check', '--register', changed(sql));
  expect([code, stdout]).toEqual([0, expect.stringContaining('keeps the contract')]);
  return warningsIn(stdout);
}

/** All warnings after each of several changes. */
async function warningsOfEach(...changes: readonly string[]): Promise<readonly string[]> {
  const checked = changes.map(async (sql) => inProcess('check', '--register', changed(sql)));
  return (await Promise.all(checked)).flatMap(({ stdout }) => warningsIn(stdout));
}

const asView = (columns: string): string =>
  `ALTER TABLE groups RENAME TO club; CREATE VIEW groups AS SELECT ${columns} FROM club`;
const REQUIRED = 'id, first_measured_at, measured_at, measurements';

const late = (condition: string): string =>
  `UPDATE groups SET measured_at = '2026-11-21T08:00:00Z' WHERE ${condition}`;

describe('a check warns of', () => {
  it('a count that is a thousand times the next one', async () => {
    const set = 'UPDATE groups SET measurements =';
    expect(await warningsAfter(`${set} 2000 WHERE id = 7`)).toEqual([
      'groups.measurements is 2,000, and the next largest is 2: 1, such as id = 7',
    ]);
    expect(await warningsAfter(`${set} iif(id < 3, 1000, 0)`)).toEqual([
      'groups.measurements is 1,000, and the next largest is 0: 2, such as id = 1; id = 2',
    ]);
    expect(
      await warningsOfEach('', `${set} 1999 WHERE id = 7`, `${set} 5000`, `${set} iif(id = 7, 999, 0)`),
    ).toEqual([]);
  });

  it('a NUL in a text, and the first day of Unix time', async () => {
    const nul = `UPDATE groups SET description = 'a' || char(0) || 'b' WHERE id IN (2, 4, 6, 8)`;
    expect(await warningsAfter(nul)).toEqual([
      'groups.description has a NUL in it: 4, such as id = 2; id = 4; id = 6',
    ]);
    const first = `UPDATE groups SET created_at = '1970-01-0' || (id - 1) || 'T00:00:00Z' WHERE id IN (2, 3)`;
    expect(await warningsAfter(first)).toEqual([
      'groups.created_at is on 1 January 1970, which stands for no time in most databases: 1, such as id = 2',
    ]);
  });

  it('records that are measured later than their newest reading, if that is no exception', async () => {
    expect(await warningsAfter(late('id < 3'))).toEqual([
      'groups.measured_at is later than the newest row in group_member_readings: 2, such as id = 1; id = 2',
    ]);
    expect(await warningsOfEach(late('id < 2'))).toEqual([]);
    expect(
      await warningsAfter(`${late('id < 3')}; UPDATE groups SET member_count = NULL WHERE id < 3`),
    ).toEqual([]);
  });

  it('a column whose name is nearly one that is absent', async () => {
    const ours = `${REQUIRED}, name, member_count, owner_state, owner_id`;
    const theirs = 'description AS descripton, created_at AS created, verified AS v';
    expect(await warningsAfter(asView(`${ours}, ${theirs}`))).toEqual([
      'groups.descripton is not read, and description is absent: did you mean description?',
      'groups.created is not read, and created_at is absent: did you mean created_at?',
    ]);
    expect(await warningsOfEach(asView(`${ours}, created_at, 1 AS nme, 2 AS created`))).toEqual([]);
  });

  it('a view whose name is nearly one that is absent', async () => {
    const names = 'AS SELECT id AS group_id, name FROM groups';
    expect(await warningsAfter(`DROP TABLE group_names; CREATE VIEW group_name ${names}`)).toEqual([
      'group_name is not read, and group_names is absent: did you mean group_names?',
    ]);
    expect(await warningsOfEach(`DROP TABLE group_names; CREATE VIEW newest_names ${names}`)).toEqual([]);
  });

  it('a time in the future, but not of a clock that is ahead', async () => {
    const set = `UPDATE groups SET created_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now',`;
    expect(await warningsAfter(`${set} '+25 hours') WHERE id IN (3, 5)`)).toEqual([
      'groups.created_at is in the future: 2, such as id = 3; id = 5',
    ]);
    expect(await warningsOfEach(`${set} '+23 hours')`)).toEqual([]);
  });

  it('columns without any value, in one line for a table', async () => {
    expect(await warningsAfter('UPDATE groups SET description = NULL, created_at = NULL')).toEqual([
      `groups (description, created_at) are NULL in every row; if you don't measure them, say so (not_measured in operator.json)`,
    ]);
    expect(await warningsAfter('UPDATE groups SET created_at = NULL')).toEqual([
      `groups.created_at is NULL in every row; if you don't measure it, say so (not_measured in operator.json)`,
    ]);
    expect(
      await warningsOfEach(
        'UPDATE groups SET created_at = NULL WHERE id > 1',
        'ALTER TABLE groups DROP COLUMN created_at',
      ),
    ).toEqual([]);
  });

  it('nothing of the sample but what it has on purpose', async () => {
    const register = path('sample.sqlite');
    await writeSample({ file: register, records: 5000, seed: 1 });
    const { stdout } = await inProcess('check', '--register', register);
    const warned = stdout.match(/^warning: \S+/gm);
    expect(warned).toEqual(['warning: groups.name', 'warning: users.username']);
  });
});
