/** Writes the published population as an SQLite database, and compresses that. */
import { createReadStream, createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Failure } from '../errors.js';
import { rangesOf } from '../register/sql.js';
import type { Register } from '../register/database.js';
import { name } from '../register/sql.js';
import type { KindRange } from '../register/sql.js';
import { DATABASE } from '../routes/exports.js';
import type { Kind } from '../schema/field.js';
import { chunksOf } from '../files.js';
import { isSqliteError, openDatabase, reasonOf, type Database } from '../sqlite/index.js';
import type { Context } from '../register/context.js';
import { blocks } from './blocks.js';
import { valuesOf } from './cells.js';
import type { Block, Cell } from './cells.js';
import { aboutSql, followSql, insertSql, tableSql } from './database-schema.js';
import type { About } from './database-schema.js';
import { GzipFile } from '../publish/gzip.js';
import type { WrittenFile } from '../publish/gzip.js';
import { changedIn, isIntact } from './last-file.js';
import type { LastFile } from './last-file.js';
import { exportsOf } from './tables.js';
import type { Export } from './tables.js';

export interface DatabaseJob {
  readonly about: About;
  /** The folder below which the file is written, under its path in the tree. */
  readonly folder: string;
  /** Set if the file is to be made from its last version. */
  readonly last?:
    | {
        readonly file: LastFile;
        /** The patches of the fingerprints of each kind's records: those that changed. */
        readonly patches: readonly (readonly [kind: Kind, files: readonly string[]])[];
      }
    | undefined;
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
 * Writes the file: from its last version if that is given and intact, else row by row. Reports its
 * progress in rows.
 * @throws Failure environment: the disk is full or fails
 */
export async function writeDatabase(
  context: Context,
  { about, folder, last }: DatabaseJob,
): Promise<WrittenFile> {
  const file = join(folder, DATABASE.file);
  const plain = file.slice(0, -'.gz'.length);
  const inflated = `${plain}-last`;
  mkdirSync(dirname(plain), { recursive: true });
  const isFollowed = last !== undefined && isIntact(last.file);
  if (isFollowed)
    await pipeline(createReadStream(last.file.file), createGunzip(), createWriteStream(inflated));
  let rows = 0;
  const database = openDatabase(plain);
  try {
    for (const pragma of PRAGMAS) database.pragma(pragma);
    if (isFollowed) attachLast(database, inflated, context.register, last);
    database.exec('BEGIN');
    for (const sql of aboutSql(about)) database.exec(sql);
    for (const table of exportsOf(context.register.measured)) {
      database.exec(tableSql(table));
      const write = isFollowed ? followTable : fillTable;
      rows += write(database, table, context);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    throw Failure.environment(`the exports can't be written: ${reasonOf(error)}`, error.code);
  } finally {
    database.close();
    rmSync(inflated, { force: true });
  }
  return compressed(plain, file, rows);
}

/** Inserts all rows. @returns their number */
function fillTable(database: Database, table: Export, { register, advance }: Context): number {
  return insertBlocks(database, `main.${name(table.name)}`, table, blocks(register, table), advance);
}

/** Attaches the last version, and lists the changed records. */
function attachLast(
  database: Database,
  file: string,
  register: Register,
  { patches }: NonNullable<DatabaseJob['last']>,
): void {
  database.prepare('ATTACH ? AS last').run(file);
  database.pragma('last.cache_size = -4000');
  database.exec('CREATE TEMP TABLE changed (kind TEXT, id INTEGER, PRIMARY KEY (kind, id)) WITHOUT ROWID');
  const insert = database.prepare('INSERT INTO temp.changed VALUES (?, ?)');
  const ranges = function* (): Generator<KindRange> {
    for (const [kind, files] of patches) yield* rangesOf(kind, changedIn(files));
  };
  for (const [kind, files] of patches) for (const id of changedIn(files)) insert.run(kind, id);
  register.scope('changed', ranges());
}

/** Inserts the rows of the last version, and those of changed records. @returns their number */
function followTable(database: Database, table: Export, { register, advance }: Context): number {
  database.exec(`CREATE TEMP TABLE fresh AS SELECT * FROM main.${name(table.name)}`);
  insertBlocks(database, 'temp.fresh', table, blocks(register, table, 'changed'), () => undefined);
  const { changes } = database.prepare(followSql(table)).run();
  database.exec('DROP TABLE temp.fresh');
  advance(changes);
  return changes;
}

/** Inserts rows. @returns their number */
function insertBlocks(
  database: Database,
  into: string,
  table: Export,
  inserted: Iterable<Block>,
  advance: Context['advance'],
): number {
  const statement = database.prepare<[readonly Cell[]]>(insertSql(into, table));
  const types = table.columns.map(({ value }) => value.type);
  let count = 0;
  for (const { rows, columns } of inserted) {
    const lists = columns.map((cells, index) => valuesOf(cells, types[index] ?? 'text'));
    for (let row = 0; row < rows; row += 1) statement.run(lists.map((list) => list[row] ?? null));
    count += rows;
    advance(rows);
  }
  return count;
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
