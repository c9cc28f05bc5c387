/** Writes the published population as an SQLite database, and compresses that. */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../errors.js';
import { DATABASE } from '../routes/exports.js';
import { chunksOf } from '../publish/files.js';
import { isSqliteError, openDatabase } from '../sqlite/index.js';
import type { Database } from '../sqlite/index.js';
import type { Context } from '../workers/context.js';
import { blocks } from './blocks.js';
import { valuesOf } from './cells.js';
import type { Block, Cell } from './cells.js';
import { aboutSql, insertSql, tableSql } from './database-schema.js';
import type { About } from './database-schema.js';
import { GzipFile } from './gzip-file.js';
import type { WrittenFile } from './gzip-file.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';

export interface DatabaseJob {
  readonly about: About;
  /** The folder below which the file is written, under its path in the tree. */
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
 * Writes the file. Reports its progress in rows.
 * @throws Failure environment: the disk is full or fails
 */
export function writeDatabase({ register, advance }: Context, { about, folder }: DatabaseJob): WrittenFile {
  const file = join(folder, DATABASE.file);
  const plain = file.slice(0, -'.gz'.length);
  mkdirSync(dirname(plain), { recursive: true });
  let rows = 0;
  const database = openDatabase(plain);
  try {
    for (const pragma of PRAGMAS) database.pragma(pragma);
    database.exec('BEGIN');
    for (const sql of aboutSql(about)) database.exec(sql);
    for (const table of EXPORTS) {
      database.exec(tableSql(table));
      const insert = inserter(database, table);
      for (const block of blocks(register, table)) {
        insert(block);
        rows += block.rows;
        advance(block.rows);
      }
    }
    database.exec('COMMIT');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    const why = error.code === 'SQLITE_FULL' ? 'the disk is full' : error.message;
    throw Failure.environment(`the exports can't be written: ${why} (${error.code})`, error.code);
  } finally {
    database.close();
  }
  return compressed(plain, file, rows);
}

/** Inserts the rows of a block. */
function inserter(database: Database, table: Export): (block: Block) => void {
  const statement = database.prepare<[readonly Cell[]]>(insertSql(table));
  const types = table.columns.map(({ value }) => value.type);
  return ({ rows, columns }) => {
    const lists = columns.map((cells, index) => valuesOf(cells, types[index] ?? 'text'));
    for (let row = 0; row < rows; row += 1) statement.run(lists.map((list) => list[row] ?? null));
  };
}

function compressed(plain: string, file: string, rows: number): WrittenFile {
  const gzip = new GzipFile(file);
  try {
    for (const chunk of chunksOf(plain)) gzip.write(chunk);
    // It takes several times the room of what is published.
    rmSync(plain);
    return gzip.finish(rows);
  } finally {
    gzip.close();
  }
}
