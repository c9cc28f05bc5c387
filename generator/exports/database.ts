/** Writes the published population as an SQLite database, and compresses that. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../base/errors.js';
import { chunksOf } from '../base/files.js';
import { GzipFile } from '../base/gzip.js';
import {
  isSqliteError,
  openDatabase,
  reasonOf,
  type Database,
  type Statement,
} from '../base/sqlite/sqlite.js';
import type { Context } from '../register/context.js';
import type { Register } from '../register/database.js';
import { literal, name } from '../register/sql.js';
import { DATABASE, PLAIN_DATABASE } from '../routes/exports.js';
import { aboutSql, insertSql, tableSql, type About } from './database-schema.js';
import { batchesOf, type Row } from './rows.js';
import { exportsOf, type Export } from './tables.js';
import type { WrittenFiles } from './downloads.js';

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

/** Creates an empty database; an earlier file of that name is deleted. */
function createDatabase(file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  const database = openDatabase(file);
  for (const pragma of PRAGMAS) database.pragma(pragma);
  return database;
}

/** @throws Failure environment: the disk is full or fails */
function writeSql<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    throw Failure.environment(`the exports can't be written: ${reasonOf(error)}`, error.code);
  }
}

const partOf = (folder: string, table: Export): string => join(folder, 'parts', `${table.name}.sqlite`);

/**
 * One table of the database, in a file of its own: its rows are read once for all formats, and SQLite copies
 * them from there in a tenth of the time.
 */
export class DatabasePart {
  readonly #database: Database;
  readonly #insert: Statement<[Row]>;

  constructor(folder: string, table: Export) {
    this.#database = createDatabase(partOf(folder, table));
    this.#database.exec('BEGIN');
    this.#database.exec(tableSql(table));
    this.#insert = this.#database.prepare<[Row]>(insertSql(table));
  }

  add(rows: readonly Row[]): void {
    writeSql(() => {
      for (const row of rows) this.#insert.run(row);
    });
  }

  finish(): void {
    writeSql(() => this.#database.exec('COMMIT'));
    this.close();
  }

  close(): void {
    this.#database.close();
  }
}

/** Writes the part of a table whose files are kept as they are published. */
function writePart(register: Register, folder: string, table: Export): void {
  const part = new DatabasePart(folder, table);
  try {
    for (const batch of batchesOf(register, table)) part.add(batch);
    part.finish();
  } finally {
    part.close();
  }
}

/**
 * Joins the parts of the database, compresses it, and reports its progress in rows.
 * @param input `folder`: below it, each file has its path in the tree
 */
export function writeDatabase(
  { register, advance }: Context,
  { about, folder }: { readonly about: About; readonly folder: string },
): WrittenFiles {
  const plain = join(folder, PLAIN_DATABASE.file);
  let rows = 0;
  const database = createDatabase(plain);
  try {
    writeSql(() => {
      for (const sql of aboutSql(about)) database.exec(sql);
    });
    for (const table of exportsOf(register.measured)) {
      const part = partOf(folder, table);
      if (!existsSync(part)) writePart(register, folder, table);
      const { changes } = writeSql(() => {
        database.exec(`ATTACH ${literal(part)} AS part`);
        database.exec(tableSql(table));
        const copied = database
          .prepare(`INSERT INTO main.${name(table.name)} SELECT * FROM part.${name(table.name)}`)
          .run();
        database.exec('DETACH part');
        return copied;
      });
      rmSync(part);
      rows += changes;
      advance(changes);
    }
  } finally {
    database.close();
  }
  return compress(folder, rows);
}

/** Compresses the database, and hashes both files in the same pass. */
function compress(folder: string, rows: number): WrittenFiles {
  const gzip = new GzipFile(join(folder, DATABASE.file));
  const digest = createHash('sha256');
  try {
    for (const chunk of chunksOf(join(folder, PLAIN_DATABASE.file))) {
      digest.update(chunk);
      gzip.write(chunk);
    }
    return {
      [PLAIN_DATABASE.file]: { bytes: gzip.raw, sha256: digest.digest('hex'), rows },
      [DATABASE.file]: { ...gzip.finish(), rows },
    };
  } finally {
    gzip.close();
  }
}
