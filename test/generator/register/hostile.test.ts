/** A register that somebody prepared can do nothing but be read. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();

/** A register of which a view takes the place of the groups, so that its schema is looked into. */
function register(select: string): string {
  const file = writeRegister(path('hostile.sqlite'), { users: [{ id: 1 }] });
  changeRegister(file, `ALTER TABLE groups RENAME TO own; CREATE VIEW groups AS ${select}`);
  return file;
}

const READS = (file: string): readonly (readonly string[])[] => [
  ['check', '--register', file],
  ['diff', '--register', file, '--operator', OPERATOR, '--out', path('dist')],
  ['build', '--register', file, '--operator', OPERATOR, '--out', path('dist')],
  ['scaffold', '--register', file],
];

describe('a hostile register', () => {
  it('has texts in its schema that no command executes', async () => {
    const victim = path('victim.sqlite');
    openDatabase(victim).exec('CREATE TABLE kept (a); INSERT INTO kept VALUES (1)').close();
    const made = path('made.sqlite');
    const file = register('SELECT * FROM own');
    const writer = openDatabase(file).unsafeMode();
    writer.exec('CREATE TABLE unused (a); PRAGMA writable_schema = ON');
    writer.prepare(`UPDATE sqlite_schema SET sql = ? WHERE name = 'unused'`).run(
      `CREATE TABLE unused (a); ATTACH '${victim}' AS victim; DROP TABLE victim.kept;
         ATTACH '${made}' AS made; CREATE TABLE made.it (a)`,
    );
    writer.close();
    for (const args of READS(file)) expect(await inProcess(...args)).toMatchObject({ code: 0 });
    expect(openDatabase(victim).prepare<[]>('SELECT a FROM kept').pluck().all()).toEqual([1]);
    expect(existsSync(made)).toBe(false);
  });

  it.each([
    ['a function of ours', 'latest_time()', 'unsafe use of latest_time()'],
    [
      'a table of paths on this machine',
      '(SELECT file FROM pragma_database_list)',
      'unsafe use of virtual table "pragma_database_list"',
    ],
  ])('has a view that would call %s, and can’t be read', async (_, sql, message) => {
    const file = register(`SELECT id, ${sql} AS name, measured_at FROM own`);
    expect(await inProcess('check', '--register', file)).toMatchObject({
      code: 1,
      stdout: containing(`groups can't be read, expected a table, or a view that can be read\n`),
    });
    expect((await inProcess('check', '--register', file)).stdout).toContain(message);
  });
});
