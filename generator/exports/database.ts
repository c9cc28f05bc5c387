/** Writes the published population as an SQLite database, and compresses that. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../base/errors.js';
import { DATABASE, PLAIN_DATABASE } from '../routes/exports.js';
import { chunksOf } from '../base/files.js';
import { isSqliteError, openDatabase, reasonOf } from '../base/sqlite/sqlite.js';
import type { Context } from '../register/context.js';
import { blocks } from './blocks.js';
import { valuesOf, type Cell } from './cells.js';
import { aboutSql, insertSql, tableSql, type About } from './database-schema.js';
import { GzipFile, type WrittenFile } from '../publish/gzip.js';
import { exportsOf } from './tables.js';

export interface DatabaseJob {
  readonly about: About;
  /** The folder below which the files are written, under their paths in the tree. */
  readonly folder: string;
}

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
 * Writes the database row by row. Reports its progress in rows.
 * @returns the compressed file and the plain one
 * @throws Failure environment: the disk is full or fails
 */
export function writeDatabase(
  { register, advance }: Context,
  { about, folder }: DatabaseJob,
): readonly [WrittenFile, WrittenFile] {
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
      const insert = database.prepare<[readonly Cell[]]>(insertSql(table));
      for (const block of blocks(register, table)) {
        const lists = block.columns.map((cells, index) =>
          valuesOf(cells, table.columns[index]?.value.type ?? 'text'),
        );
        for (let row = 0; row < block.rows; row += 1) insert.run(lists.map((list) => list[row] ?? null));
        rows += block.rows;
        advance(block.rows);
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

/** Compresses a file, and hashes both in the same pass. */
function compressed(plain: string, file: string, rows: number): readonly [WrittenFile, WrittenFile] {
  const gzip = new GzipFile(file);
  const digest = createHash('sha256');
  try {
    for (const chunk of chunksOf(plain)) {
      digest.update(chunk);
      gzip.write(chunk);
    }
    return [gzip.finish(rows), { bytes: gzip.raw, sha256: digest.digest('hex'), rows }];
  } finally {
    gzip.close();
  }
}
