/** `scaffold`: SQL for what a database lacks to be a register, ready to be edited. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../generator/sqlite/index.js';
import { TABLES } from '../../../generator/schema/index.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { sha256 } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

function database(sql: string): string {
  const file = path('guilds.db');
  openDatabase(file).exec(sql).close();
  return file;
}

async function scaffold(file: string): Promise<string> {
  const { code, stdout, stderr } = await inProcess('scaffold', '--register', file);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

const GUILDS = `CREATE TABLE guild (gid INTEGER PRIMARY KEY, "Title of
  it" TEXT); CREATE VIEW broken AS SELECT * FROM gone;`;

describe('snapshot scaffold', () => {
  it('prints a view for each table of the contract, with all columns and what they are', async () => {
    const sql = await scaffold(database(GUILDS));
    for (const { name, columns } of TABLES.filter(({ kind }) => kind !== null)) {
      const [, view = ''] =
        new RegExp(String.raw`^CREATE VIEW ${name} AS SELECT\n(.*?)^FROM your_table;$`, 'ms').exec(sql) ?? [];
      const listed = [...view.matchAll(/^ {2}NULL AS (\w+),? +-- (.*); (may be NULL|required)\. (.*)$/gm)];
      expect(listed.map(([, column, , nullable, what]) => [column, nullable, what])).toEqual(
        columns.map((c) => [c.name, c.nullable ? 'may be NULL' : 'required', c.description]),
      );
    }
    expect(sql.endsWith('\nPRAGMA user_version = 1;\n')).toBe(true);
  });

  it('lists the tables and columns to pick from, each on one line, and says where the recipes are', async () => {
    const sql = await scaffold(database(GUILDS));
    for (const line of [
      '--   guild (gid, Title of   it)\n',
      `--   broken (a view that can't be read)\n`,
      "-- Leave out the views of what you don't have",
      'docs/your-register.md#text-ids.',
    ])
      expect(sql).toContain(line);
  });

  it('can be run again after an edit, with the table of withheld records that it names', async () => {
    const file = database(GUILDS);
    const sql = (await scaffold(file)).replaceAll('your_table', 'guild');
    const tables = sql.match(/(?<=^-- )CREATE TABLE .*$/gm) ?? [];
    expect(tables).toEqual([expect.stringMatching(/^CREATE TABLE IF NOT EXISTS withheld /)]);
    for (const edited of [sql, sql.replace('NULL AS name', "'edited' AS name")])
      changeRegister(file, `${edited} ${tables.join('')}`);
    changeRegister(file, `INSERT INTO guild VALUES (7, 'seven')`);
    const own = openDatabase(file);
    expect(own.prepare<[]>('SELECT name FROM groups').pluck().all()).toEqual(['edited']);
    own.close();
    changeRegister(file, 'DELETE FROM guild');
    const { code, stdout } = await inProcess('check', '--register', file, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { total: 0, absent: [] }]);
  });

  it('leaves alone what is there, names its missing columns, and writes nothing', async () => {
    const file = writeRegister(path('register.sqlite'), {});
    changeRegister(
      file,
      `ALTER TABLE groups DROP COLUMN verified; ALTER TABLE items DROP COLUMN measured_at;
       DROP TABLE usernames; PRAGMA user_version = 7`,
    );
    const before = sha256(readFileSync(file));
    const sql = await scaffold(file);
    expect(sql.match(/^CREATE .*$/gm)).toEqual(['CREATE VIEW usernames AS SELECT']);
    expect(sql).toMatch(/^-- groups lacks columns\..*\n-- {3}verified: 0 or 1; may be NULL\. .*\n\n/m);
    expect(sql).toMatch(
      /^-- items lacks columns\..*\n-- {3}measured_at: a time such as 2026-11-20T08:00:00Z; required\. .*\n\n/m,
    );
    expect(sql).toMatch(
      /^-- user_version is 7\..*\n-- .*#a-nightly-copy\..*\n-- PRAGMA user_version = 1;\n$/m,
    );
    expect(sha256(readFileSync(file))).toBe(before);
  });

  it('has nothing to add to a register, and refuses what is no database', async () => {
    const sql = await scaffold(writeRegister(path('register.sqlite'), {}));
    expect(sql).toMatch(/^-- .* has all tables and columns of the contract\.\n\nPRAGMA user_version = 1;\n$/);
    const refused = await inProcess('scaffold', '--register', path('none.db'));
    expect(refused).toMatchObject({ code: 3, stdout: '' });
  });
});
