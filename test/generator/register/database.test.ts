/** A register that can't be read: the cause and what to do about it, in words of ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../generator/base/errors.js';
import { Register } from '../../../generator/register/database.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { failureOf } from '../../support/site.js';
import { containing } from '../../support/values.js';

const path = temporary();

/** Changes every row in a transaction that is too large for its cache, and is killed within it. */
const WRITER = `
  const { openDatabase } = await import(process.argv[1]);
  const database = openDatabase(process.argv[2]);
  database.pragma('journal_mode = ' + process.argv[3]);
  database.pragma('cache_size = 2');
  database.exec('BEGIN IMMEDIATE; UPDATE users SET display_name = hex(randomblob(3000))');
  process.kill(process.pid, 'SIGKILL');`;

async function leftByWriter(mode: string): Promise<string> {
  const users = Array.from({ length: 200 }, (_, index) => ({ id: index + 1, display_name: 'as it was' }));
  const file = writeRegister(path('left register.sqlite'), { users });
  const driver = join(PROJECT, 'build/generator/base/sqlite/sqlite.js');
  const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, driver, file, mode]);
  expect(await once(writer, 'exit')).toEqual([null, 'SIGKILL']);
  return file;
}

function namesIn(file: string): unknown[] {
  const register = Register.open(file);
  onTestFinished(() => register.close());
  return [...register.rows('SELECT DISTINCT display_name FROM users')].flat();
}

describe('a register whose writer was killed within a transaction', () => {
  it('is read once it is rolled back', async () => {
    const file = await leftByWriter('DELETE');
    expect(existsSync(`${file}-journal`)).toBe(true);
    for (const command of ['check', 'scaffold', 'build']) {
      const out = command === 'build' ? ['--out', path('dist')] : [];
      const { code, stderr } = await inProcess(command, '--register', file, ...out);
      expect([code, stderr]).toEqual([
        EXIT.environment,
        `error: register "${file}" was left within a transaction by a writer that was killed: only a program` +
          ` that may write can undo it by "${file}-journal", such as sqlite3 '${file}' 'PRAGMA quick_check'` +
          ` (SQLITE_READONLY_ROLLBACK)${command === 'build' ? '; the published tree is what it was' : ''}\n`,
      ]);
    }
    changeRegister(file, 'PRAGMA quick_check');
    expect(namesIn(file)).toEqual(['as it was']);
  });

  it('is read as it was before the transaction, in WAL mode', async () => {
    expect(namesIn(await leftByWriter('WAL'))).toEqual(['as it was']);
  });
});

it.each([
  [
    'CREATE TEMP TABLE full (x); PRAGMA temp.max_page_count = 50; INSERT INTO full SELECT zeroblob(1000000)',
    EXIT.environment,
    'the disk is full (SQLITE_FULL): SQLite sorts in the folder for temporary files',
  ],
  [
    `COMMIT; ATTACH '/nowhere/at/all' AS other`,
    EXIT.environment,
    "a file can't be opened, or not be made next to it (SQLITE_CANTOPEN): expected a register",
  ],
  [
    'SELECT count(*) FROM (SELECT zeroblob(1e9) || zeroblob(1e9) AS long) WHERE long IS NOT NULL',
    EXIT.invalid,
    'a text or row is longer than 512 MiB (SQLITE_TOOBIG)',
  ],
  ['SELECT * FROM nowhere', EXIT.invalid, 'no such table: nowhere (SQLITE_ERROR)'],
])('an error of SQLite says the cause in words, and what to do, for %s', async (sql, exitCode, cause) => {
  const register = Register.open(writeRegister(path('register.sqlite'), ''));
  onTestFinished(() => register.close());
  const found = await failureOf(Promise.resolve().then(() => register.execute(sql)));
  expect(found).toMatchObject({ exitCode, message: containing(`can't be read: ${cause}`) });
});

it('a damaged register is said to be damaged in WAL mode, too', () => {
  const file = writeRegister(path('wal.sqlite'), '');
  changeRegister(file, 'PRAGMA journal_mode = WAL');
  // The first page, after the header of the file.
  writeFileSync(file, readFileSync(file).fill(0xff, 100, 200));
  expect(() => Register.open(file)).toThrow('is damaged or truncated');
});
