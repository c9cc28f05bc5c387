/** Small registers, made from SQL or from row objects. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type Database } from '../../generator/base/sqlite/sqlite.js';
import { PROJECT } from './project.js';

type Value = string | number | bigint | null | Uint8Array;
type Row = Readonly<Record<string, Value>>;
/** Rows by table; what a row of records must have and doesn't is filled in. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

export const SCHEMA = readFileSync(join(PROJECT, 'data/schema.sql'), 'utf8');

/**
 * `strict`: data/schema.sql. `loose`: without STRICT, keys and NOT NULL, so that cells can hold what they
 * shouldn't. `untyped`: without column types too, so that '7' and 7 stay apart.
 */
export type Shape = 'strict' | 'loose' | 'untyped';

const LOOSE = SCHEMA.replaceAll(/--.*$/gm, '')
  .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
  .replaceAll(/,\s*PRIMARY KEY \([^)]*\)/g, '')
  .replaceAll(/ PRIMARY KEY| NOT NULL/g, '');

const SCHEMAS: Readonly<Record<Shape, string>> = {
  strict: SCHEMA,
  loose: LOOSE,
  untyped: LOOSE.replaceAll(/ (INTEGER|TEXT)\b/g, ''),
};

const RECORD_TABLES = new Set(['groups', 'users', 'games', 'items']);

/** Gives every other record of a sample, which has none, an id of the platform; half of these have paths. */
export const WITH_PLATFORM_IDS = [...RECORD_TABLES]
  .map((table) => `UPDATE ${table} SET platform_id = iif(id % 4 = 1, 'no. ', 'no.') || id WHERE id % 2;`)
  .join(' ');

const MEASURED: Row = {
  first_measured_at: '2026-11-01T08:00:00Z',
  measured_at: '2026-11-20T08:00:00Z',
  measurements: 2,
};

/** Writes a register, from SQL text (statements after the schema) or from rows. */
export function writeRegister(file: string, content: string | Rows, shape: Shape = 'strict'): string {
  const database = openDatabase(file);
  try {
    // Nobody reads a test's register after a power cut.
    database.pragma('synchronous = OFF');
    database.exec(SCHEMAS[shape]);
    database.exec('BEGIN');
    if (typeof content === 'string') database.exec(content);
    else insert(database, content);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
  return file;
}

export function changeRegister(file: string, sql: string): void {
  const database = openDatabase(file, { fileMustExist: true });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** Runs statements on a database of any kind, which is made if it is not there. @returns its path */
export function runSql(file: string, ...statements: readonly string[]): string {
  openDatabase(file).exec(statements.join('\n')).close();
  return file;
}

/** The rows of a query, each as a list. */
export function rowsOf(file: string, sql: string): unknown[] {
  const database = openDatabase(file, { readonly: true });
  try {
    return database.prepare<[]>(sql).raw(true).all();
  } finally {
    database.close();
  }
}

/** A number of JavaScript would arrive as a real, which a column without type keeps. */
const exact = (value: Value): Value => (Number.isSafeInteger(value) ? BigInt(Number(value)) : value);

function insert(database: Database, content: Rows): void {
  for (const [table, rows] of Object.entries(content)) {
    for (const row of rows) {
      const full = RECORD_TABLES.has(table) ? { ...MEASURED, ...row } : row;
      const columns = Object.keys(full);
      database
        .prepare(
          `INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        )
        .run(...Object.values(full).map(exact));
    }
  }
}
