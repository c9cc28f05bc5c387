/** A register that somebody prepared can do nothing but be read. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR } from '../../support/build.js';
import { newFolder, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { has } from '../../support/programs.js';
import { always as it, isThorough } from '../../support/thorough.js';
import { changeRegister, rowsOf, runSql, writeRegister } from '../../support/register.js';
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
    const victim = runSql(path('victim.sqlite'), 'CREATE TABLE kept (a); INSERT INTO kept VALUES (1)');
    const made = path('made.sqlite');
    const file = register('SELECT * FROM own');
    const writer = openDatabase(file).unsafeMode();
    writer.exec('CREATE TABLE unused (a); PRAGMA writable_schema = ON');
    writer.prepare(`UPDATE sqlite_schema SET sql = ? WHERE name = 'unused'`).run(
      `CREATE TABLE unused (a); ATTACH '${victim}' AS victim; DROP TABLE victim.kept;
         ATTACH '${made}' AS made; CREATE TABLE made.it (a)`,
    );
    writer.close();
    for (const args of READS(file)) {
      const { code, stderr } = await inProcess(...args);
      // Newer versions of SQLite refuse such a schema; others ignore what follows its first statement.
      const isRefused = stderr.includes('malformed database schema (unused)');
      expect(code, stderr).toBe(isRefused ? 1 : 0);
    }
    expect(rowsOf(victim, 'SELECT a FROM kept')).toEqual([[1]]);
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

/** What ends a comment, a text or a statement, and what must not be run then. */
const FRAGMENTS = [
  ...'\n|\r\n|\u2028|\u0085|\u202e|\t| |\'|"|`|]|;|--|/*|*/|current_time'.split('|'),
  '\n.shell touch canary\n',
  '\nDELETE FROM kept;\n',
  `';\n.shell touch canary\n`,
];
const hostile = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 3 }).map((all) => all.join(''));
const value = fc.oneof(
  hostile,
  fc.constantFrom('ok', 'gone', '2026-11-20T08:00:00Z', 1763625600, 1.5, null),
  fc.constant(Buffer.from([255, 10, 46])),
);

/** Tables and columns with likely names, each followed by something else. */
const tables = fc.record({
  tails: fc.array(hostile, { minLength: 9, maxLength: 9 }),
  key: fc.constantFrom('gid', 'gid, name', 'id, name'),
  values: fc.array(value, { minLength: 6, maxLength: 6 }),
});

type Tables = typeof tables extends fc.Arbitrary<infer T> ? T : never;

function writeTables(file: string, { tails, key, values }: Tables) {
  let tail = 0;
  const named = (word: string): string => `"${`${word}${tails[tail++] ?? ''}`.replaceAll('"', '""')}"`;
  const own = openDatabase(file);
  const keys = key.split(', ').map(named);
  const guild = named('guild');
  const columns = ['title', 'status', 'boss', 'last_seen'].map(named);
  own.exec(
    `CREATE TABLE kept (a); INSERT INTO kept VALUES (1); CREATE TABLE ${guild} (${[...keys, ...columns].join(', ')}, PRIMARY KEY (${keys.join(', ')}));
     CREATE TABLE ${named('headcount')} (${[...keys, named('at'), 'n'].join(', ')})`,
  );
  const row = [...keys.map((_, index) => values[index] ?? 1), ...values.slice(2, 6)];
  own.prepare(`INSERT INTO ${guild} VALUES (${row.map(() => '?').join(', ')})`).run(...row);
  own.close();
}

/** What the sqlite3 shell finds in its input: its own commands, and statements without their comments. */
function inputsOf(text: string): readonly string[] {
  const inputs = [''];
  const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*.*?\*\/|^\.[^\n]*|;|./gms;
  for (const [token] of text.matchAll(tokens)) {
    if (token === ';') inputs.push('');
    else if (!token.startsWith('--')) inputs.push(`${inputs.pop() ?? ''}${token}`.trimStart());
  }
  return inputs.filter((input) => input !== '');
}

const MEANT =
  /^(?:(?:DROP VIEW IF EXISTS|CREATE VIEW) \w+|CREATE TABLE IF NOT EXISTS "?ids_|INSERT OR IGNORE INTO "?ids_|CREATE INDEX IF NOT EXISTS|PRAGMA user_version = 1$)/;

const hasShell = isThorough && has('test/generator/register/hostile', 'sqlite3');

it('what scaffold prints of hostile names and values is comments and the statements that it means', async () => {
  await fc.assert(
    fc.asyncProperty(tables, async (content) => {
      const folder = newFolder(path('own'));
      const file = `${folder}/own.db`;
      writeTables(file, content);
      const { code, stdout } = await inProcess('scaffold', '--register', file);
      expect(code).toBe(0);
      for (const input of inputsOf(stdout)) expect(input).toMatch(MEANT);
      if (hasShell) spawnSync('sqlite3', ['own.db'], { cwd: folder, input: stdout });
      else changeRegister(file, stdout);
      expect(existsSync(`${folder}/canary`)).toBe(false);
      expect(rowsOf(file, 'SELECT a FROM kept')).toEqual([[1]]);
    }),
    { numRuns: isThorough ? 150 : 50 },
  );
});
