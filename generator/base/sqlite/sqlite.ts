/**
 * The SQLite driver. Only this module imports better-sqlite3, because no version of it runs on
 * every supported Node:
 *
 * - 13 uses Node-API, ships its binaries and needs Node 22. On Node 20 it crashes (SIGSEGV).
 * - 12 runs on Node 20. From Node 24.19 on it aborts as soon as a statement is garbage-collected
 *   ("Assertion failed: (env) != nullptr" in node::RemoveEnvironmentCleanupHook).
 *
 * npm installs 12 on Node 20 alone: it is an optional dependency of the package in `node20/`, whose
 * `engines` exclude other versions. Remove both when Node 20 is no longer supported.
 */
import { sep } from 'node:path';
import { versions } from 'node:process';
import type BetterSqlite3 from 'better-sqlite3';
import { Failure } from '../errors.js';
import { PROJECT_FOLDER } from '../package.js';

export type Database = BetterSqlite3.Database;
export type Statement<Parameters extends unknown[], Row = unknown> = BetterSqlite3.Statement<Parameters, Row>;

/** The first Node version that better-sqlite3 13 supports. */
const FIRST_NODE_OF_13 = 22;

const isNode20 = Number.parseInt(versions.node, 10) < FIRST_NODE_OF_13;

/** Undefined if npm could not install the driver for Node 20. */
const driver = await (isNode20 ? import('better-sqlite3-node20') : import('better-sqlite3')).then(
  (module) => module.default,
  (error: unknown) => {
    if (isNode20) return undefined;
    throw error;
  },
);

/**
 * Opens a database. What is stored in it can do nothing but be read: its views, triggers and generated
 * columns may call only functions and virtual tables that SQLite calls innocuous, and no statement
 * changes its schema by `writable_schema` (the driver opens it as defensive).
 * @throws Failure environment: this Node has no driver; SQLite's errors, see {@link isSqliteError}
 */
export function openDatabase(file: string, options?: BetterSqlite3.Options): Database {
  if (driver === undefined) {
    const isPackage = PROJECT_FOLDER.split(sep).includes('node_modules');
    throw Failure.environment(
      isPackage
        ? `an installed package needs Node 22 or newer, this is ${versions.node}: only a clone has the SQLite driver for Node 20`
        : `the SQLite driver for Node ${versions.node} is not installed: run "npm ci" again where github.com can be ` +
            'reached or make, a C++ compiler and Python 3 are installed, or use Node 22 or newer, which need neither',
    );
  }
  const database = new driver(file, options);
  database.exec('PRAGMA trusted_schema = OFF');
  return database;
}

/** Whether SQLite threw an error; `code` is the extended result code, such as SQLITE_BUSY_RECOVERY. */
export function isSqliteError(error: unknown): error is Error & { readonly code: string } {
  return driver !== undefined && error instanceof driver.SqliteError;
}

/** What result codes mean (sqlite.org/rescode.html) if no statement is at fault; SQLite's own words are terse. */
const REASONS: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'another process has locked it',
  SQLITE_LOCKED: 'another process has locked it',
  SQLITE_PROTOCOL: 'other processes kept it locked',
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR_SHMSIZE: 'the disk is full',
  SQLITE_IOERR: 'the disk or the network fails',
  SQLITE_CANTOPEN: "a file can't be opened, or not be made next to it",
  SQLITE_PERM: 'permission denied',
  SQLITE_READONLY: "it or its folder can't be written",
  SQLITE_READONLY_DBMOVED: 'it was moved or replaced meanwhile',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_NOTADB: 'it is no SQLite database',
  SQLITE_NOMEM: 'there is too little memory',
  SQLITE_TOOBIG: 'a text or row is longer than 512 MiB',
};

/** The primary result code of an extended one. */
export const primaryCode = (code: string): string => /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;

/** Why SQLite failed, in words, with its code. */
export const reasonOf = ({ code, message }: Error & { readonly code: string }): string =>
  `${REASONS[code] ?? REASONS[primaryCode(code)] ?? message} (${code})`;

/** The version of SQLite itself: `3.53.2`. */
export function sqliteVersion(): string {
  const database = openDatabase(':memory:');
  try {
    return String(database.prepare<[]>('SELECT sqlite_version()').pluck().get());
  } finally {
    database.close();
  }
}
