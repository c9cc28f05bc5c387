/** A register that can't be read: the cause and what to do about it, in words of ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../generator/base/errors.js';
import { Register } from '../../../generator/register/database.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister } from '../../support/register.js';
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

describe('a register whose writer was killed within a transaction', () => {
  it.each(['DELETE', 'TRUNCATE', 'PERSIST'])('is read once it is rolled back (%s)', async (mode) => {
    const file = await leftByWriter(mode);
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
    const database = openDatabase(file);
    database.pragma('quick_check');
    database.close();
    const register = Register.open(file);
    expect([...register.rows('SELECT DISTINCT display_name FROM users')]).toEqual([['as it was']]);
    register.close();
  });

  it('is read as it was before the transaction, in WAL mode', async () => {
    const register = Register.open(await leftByWriter('WAL'));
    expect([...register.rows('SELECT DISTINCT display_name FROM users')]).toEqual([['as it was']]);
    register.close();
  });
});

it.each([
  [
    'CREATE TEMP TABLE full (x); PRAGMA temp.max_page_count = 50;' +
      ' INSERT INTO full SELECT zeroblob(1000000)',
    EXIT.environment,
    "can't be read: the disk is full (SQLITE_FULL): SQLite sorts in the folder for temporary files",
  ],
  [
    `COMMIT; ATTACH '/nowhere/at/all' AS other`,
    EXIT.environment,
    "can't be read: a file can't be opened, or not be made next to it (SQLITE_CANTOPEN): expected a register",
  ],
  [
    'SELECT count(*) FROM (SELECT zeroblob(1e9) || zeroblob(1e9) AS long) WHERE long IS NOT NULL',
    EXIT.invalid,
    "can't be read: a text or row is longer than 512 MiB (SQLITE_TOOBIG)",
  ],
  ['SELECT * FROM nowhere', EXIT.invalid, "can't be read: no such table: nowhere (SQLITE_ERROR)"],
])('an error of SQLite says the cause in words, and what to do, for %s', async (sql, exitCode, message) => {
  const register = Register.open(writeRegister(path('register.sqlite'), ''));
  try {
    const found = await failureOf(Promise.resolve().then(() => register.execute(sql)));
    expect(found).toMatchObject({ exitCode, message: containing(message) });
  } finally {
    register.close();
  }
});

it('a damaged register is said to be damaged in WAL mode, too', () => {
  const file = writeRegister(path('wal.sqlite'), '');
  const database = openDatabase(file);
  database.pragma('journal_mode = WAL');
  database.close();
  // The first page, after the header of the file.
  writeFileSync(file, readFileSync(file).fill(0xff, 100, 200));
  expect(() => Register.open(file)).toThrow('is damaged or truncated');
});
