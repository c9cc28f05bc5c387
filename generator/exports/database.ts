/** Writes the published population as an SQLite database, and compresses that. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../base/errors.js';
import { chunksOf } from '../base/files.js';
import { GzipFile } from '../base/gzip.js';
import { isSqliteError, openDatabase, reasonOf } from '../base/sqlite/sqlite.js';
import type { Context } from '../register/context.js';
import { DATABASE, PLAIN_DATABASE } from '../routes/exports.js';
import { aboutSql, insertSql, tableSql, type About } from './database-schema.js';
import { batchesOf, type Row } from './rows.js';
import { exportsOf } from './tables.js';
import type { Written } from './downloads.js';

/**
 * The bytes follow from the rows and the version of SQLite: pages have one size, are filled in the
 * order of the keys, and have zeros wherever nothing was written.
 */
const PRAGMAS = [
  'page_size = 4096',
  'encoding = "UTF-8"',
  'auto_vacuum = NONE',
  // Otherwise unused parts of a page hold what was in memory before.
  'secure_delete = ON',
  // Nobody reads the file until it is complete; after an error it is deleted.
  'journal_mode = OFF',
  'synchronous = OFF',
  'locking_mode = EXCLUSIVE',
  'cache_size = -4000',
  // The rows of a table may come before those they refer to.
  'foreign_keys = OFF',
];

/**
 * Writes the database row by row, and compresses it. Reports its progress in rows.
 * @param input `folder`: below which the files are written, under their paths in the tree
 * @throws Failure environment: the disk is full or fails
 */
export function writeDatabase(
  { register, advance }: Context,
  { about, folder }: { readonly about: About; readonly folder: string },
): Readonly<Record<'sqlite' | 'sqlite.gz', Written>> {
  const plain = join(folder, PLAIN_DATABASE.file);
  mkdirSync(dirname(plain), { recursive: true });
  let rows = 0;
  const database = openDatabase(plain);
  try {
    for (const pragma of PRAGMAS) database.pragma(pragma);
    database.exec('BEGIN');
    for (const sql of aboutSql(about)) database.exec(sql);
    for (const table of exportsOf(register.measured)) {
      database.exec(tableSql(table));
      const insert = database.prepare<[Row]>(insertSql(table));
      for (const batch of batchesOf(register, table)) {
        for (const row of batch) insert.run(row);
        rows += batch.length;
        advance(batch.length);
      }
    }
    database.exec('COMMIT');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    throw Failure.environment(`the exports can't be written: ${reasonOf(error)}`, error.code);
  } finally {
    database.close();
  }
  return compressed(plain, join(folder, DATABASE.file), rows);
}

/** Compresses the database, and hashes both files in the same pass. */
function compressed(plain: string, file: string, rows: number): ReturnType<typeof writeDatabase> {
  const gzip = new GzipFile(file);
  const digest = createHash('sha256');
  try {
    for (const chunk of chunksOf(plain)) {
      digest.update(chunk);
      gzip.write(chunk);
    }
    return {
      sqlite: { bytes: gzip.raw, sha256: digest.digest('hex'), rows },
      'sqlite.gz': { ...gzip.finish(), rows },
    };
  } finally {
    gzip.close();
  }
}
