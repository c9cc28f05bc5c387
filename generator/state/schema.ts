/**
 * state.sqlite: what is published, how the last commits changed it, and what it was made from. Its
 * COMMIT is the point of no return of a build (see publish/commit.ts).
 */
import { statSync, statfsSync } from 'node:fs';
import { z } from 'zod';
import { Failure } from '../base/errors.js';
import { ifExists } from '../base/files.js';
import { isSqliteError, openDatabase, primaryCode, reasonOf, type Database } from '../base/sqlite/sqlite.js';

/** Another version is not read: the state is rebuilt from the tree. */
const VERSION = 2;
/** "regs" in ASCII, for file(1). */
const APPLICATION = 0x72656773;

/** Entries of documents and fingerprints, in the shape in which they are compared. */
const ENTRY = 'key INTEGER NOT NULL, bytes INTEGER NOT NULL, hash BLOB NOT NULL';

/** The comments are within the statements, where `.schema` of the sqlite3 shell shows them. */
const SCHEMA = `
  CREATE TABLE route ( -- of documents; position in the table of the last snapshot, null if only an earlier one has it
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL, position INTEGER, json TEXT NOT NULL);
  CREATE TABLE document ( -- published; key is the number in its name, a hash of zeros says that it is damaged
    route INTEGER NOT NULL, ${ENTRY}, PRIMARY KEY (route, key)) WITHOUT ROWID;
  CREATE TABLE chunk ( -- of neighbouring documents, under the first key: their number and size, and the leaf of the digest
    route INTEGER NOT NULL, key INTEGER NOT NULL, documents INTEGER NOT NULL, bytes INTEGER NOT NULL, leaf BLOB NOT NULL,
    PRIMARY KEY (route, key)) WITHOUT ROWID;
  CREATE TABLE source ( -- of what fingerprints are
    id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE fingerprint ( -- of rows that documents are made from; bytes is the number of records in a chunk of rows
    source INTEGER NOT NULL, ${ENTRY}, PRIMARY KEY (source, key)) WITHOUT ROWID;
  CREATE TABLE snapshot ( -- a commit; stage is published once its moves are done, reported is yes once operators have
    -- their lists, changes is a sum of what the table change has of it; null if everything may have changed
    number INTEGER PRIMARY KEY, tree TEXT NOT NULL, sequence INTEGER NOT NULL, digest TEXT NOT NULL, stage TEXT NOT NULL,
    reported TEXT NOT NULL, changes TEXT, described TEXT NOT NULL, sum TEXT NOT NULL);
  CREATE TABLE change ( -- of a document by a commit: how many files it has, with compressed siblings, and how many it had
    snapshot INTEGER NOT NULL, route INTEGER NOT NULL, key INTEGER NOT NULL, files INTEGER NOT NULL, replaced INTEGER NOT NULL,
    PRIMARY KEY (snapshot, route, key)) WITHOUT ROWID;
  CREATE TABLE own_file ( -- that is no document, put or deleted by a commit; whether caches may hold another response
    snapshot INTEGER NOT NULL, name TEXT NOT NULL, is_put INTEGER NOT NULL, is_cached INTEGER NOT NULL);
  CREATE INDEX own_file_of ON own_file (snapshot);
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${VERSION};`;

/** What threads write, each in one transaction: see compare.ts. */
export const DIFFERENCES = `
  PRAGMA journal_mode = OFF;
  CREATE TABLE document (route INTEGER NOT NULL, key INTEGER NOT NULL, bytes INTEGER, hash BLOB, files INTEGER NOT NULL, replaced INTEGER NOT NULL, PRIMARY KEY (route, key)) WITHOUT ROWID;
  CREATE TABLE fingerprint (source INTEGER NOT NULL, key INTEGER NOT NULL, bytes INTEGER, hash BLOB, PRIMARY KEY (source, key)) WITHOUT ROWID;`;

const texts = z.record(z.string(), z.string());

/** What a snapshot was made from, and its files that are no documents. */
export const describedSchema = z.object({
  /**
   * Hashes of everything documents are made from besides the register's rows. Without it, nothing
   * is known about the sources, so everything is rendered.
   */
  buildKey: z.object({ code: z.string(), schema: z.string(), operator: z.string() }).exactOptional(),
  /** Whether there are fingerprints of the register. */
  fingerprints: z.boolean(),
  /** The exported tables that are as new as the snapshot, with the code that wrote them. */
  exports: texts,
  /** Marks of the withheld records, as `user 1042`, and of their names (see pipeline/takedown.ts); nothing if they are not known. */
  withheld: z
    .object({ records: z.array(z.string().regex(/^[a-z]+ \d+$/)), names: z.array(z.string()) })
    .exactOptional(),
  /** What the register lacked (see absent.ts in register/); nothing if it is not known. */
  absent: z.array(z.string()),
  /** The ids of records that were left out as invalid, per kind; nothing if there are too many. */
  invalid: z.record(z.string(), z.array(z.int())).exactOptional(),
  /** What was published of each table of the register (see counts.ts), if it is known. */
  counts: z
    .record(
      z.string(),
      z.object({
        rows: z.int(),
        /** How often each column that may be null was not. */
        values: z.record(z.string(), z.int()),
        /** The newest measurement of a table of records; null if it had no rows. */
        newest: z.string().nullable().exactOptional(),
      }),
    )
    .exactOptional(),
  /** What identifies the published snapshot.json (see tree/manifest.ts). */
  manifest: z.string().exactOptional(),
  /** The digest over the chunks, if a repair has marked documents as damaged. */
  marked: z.string().exactOptional(),
  /** How many snapshots ago each earlier asset was current (see publish/former-assets.ts). */
  assets: z.record(z.string(), z.int()).exactOptional(),
  /** What notices a loss or another number in the tables of routes, documents and fingerprints. */
  tables: z.string().exactOptional(),
  /** The files of the snapshot feed, with their SHA-256 in hex. */
  snapshotFeed: texts.exactOptional(),
});
export type Described = Readonly<z.infer<typeof describedSchema>>;
/** Marks of withheld records, and of their past and present names. */
export type WithheldMarks = NonNullable<Described['withheld']>;

export const NOTHING_KNOWN: Described = { fingerprints: false, exports: {}, absent: [] };

/** The cause of a Failure if the state is not what a commit wrote; it can be rebuilt from the tree. */
export const DAMAGED_STATE = 'damaged state';

export const damagedState = (file: string, what: string): Failure =>
  Failure.invalid(`the state "${file}" is damaged: ${what}`, DAMAGED_STATE);

export const isDamagedState = (error: unknown): boolean =>
  error instanceof Failure && error.cause === DAMAGED_STATE;

const DAMAGED_CODES = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_MISMATCH']);

/** An error of SQLite as a one-line Failure; other errors are returned unchanged. */
export function asStateFailure(error: unknown, file: string): unknown {
  if (!isSqliteError(error)) return error;
  const code = primaryCode(error.code);
  if (DAMAGED_CODES.has(code)) return damagedState(file, error.message);
  return Failure.environment(`the state "${file}" can't be written or read: ${reasonOf(error)}`, code);
}

/** Does something with the state. @throws Failure environment, invalid: SQLite can't */
export function withState<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStateFailure(error, file);
  }
}

/** How long another process may lock it: 5000 ms (= 5 seconds), for readers with a shell. */
const PATIENCE_MS = 5000;

const pragma = (database: Database, name: string): unknown => database.pragma(name, { simple: true });

/**
 * Opens the state to read what was committed last, also while another process writes.
 * @returns undefined if there is none, or none of this version
 * @throws Failure environment; invalid: it is damaged
 */
export function readState(file: string): Database | undefined {
  const found = ifExists(() => statSync(file));
  if (found === undefined) return undefined;
  if (!found.isFile()) throw Failure.environment(`the state "${file}" is no file`);
  return withState(file, () => {
    try {
      return openToRead(file);
    } catch (error) {
      // A power failure has left a rollback journal, which only somebody who may write can apply.
      if (!isSqliteError(error) || error.code !== 'SQLITE_READONLY_ROLLBACK') throw error;
      const database = openDatabase(file, { timeout: PATIENCE_MS });
      try {
        pragma(database, 'user_version');
      } finally {
        database.close();
      }
      return openToRead(file);
    }
  });
}

function openToRead(file: string): Database | undefined {
  const database = openDatabase(file, { readonly: true, timeout: PATIENCE_MS });
  let isOpen = false;
  try {
    // 2 MB instead of the driver's 16: entries are read in their order.
    database.exec('PRAGMA cache_size = -2048');
    isOpen = isOfThisVersion(database);
    return isOpen ? database : undefined;
  } finally {
    if (!isOpen) database.close();
  }
}

/** The tables of a state as SQLite knows them: a flipped bit may rename a column without breaking a statement. */
const tablesIn = (database: Database): unknown =>
  database
    .prepare(
      `SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name)`,
    )
    .pluck()
    .get();

let expectedTables: unknown;

function tablesOfThisVersion(): unknown {
  const database = emptyState();
  try {
    return tablesIn(database);
  } finally {
    database.close();
  }
}

const isOfThisVersion = (database: Database): boolean =>
  pragma(database, 'application_id') === APPLICATION &&
  pragma(database, 'user_version') === VERSION &&
  tablesIn(database) === (expectedTables ??= tablesOfThisVersion());

/** Opens the state to write, and creates it if it is missing. */
export function writeState(file: string): Database {
  return withState(file, () => {
    const database = openDatabase(file, { timeout: PATIENCE_MS });
    try {
      // EXTRA flushes the folder too, once a rollback journal is deleted: it would undo what was committed.
      database.exec('PRAGMA synchronous = EXTRA; PRAGMA cache_size = -8192');
      if (pragma(database, 'user_version') === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** An empty state in memory, in place of one that is missing, for what is only compared. */
export const emptyState = (): Database => openDatabase(':memory:').exec(SCHEMA);

/** SQLite takes room for the shared memory of WAL by one byte in each 4096. */
const SHARED_PAGE_BYTES = 4096;

/**
 * Lets others read what was committed last while a build writes. Where WAL can't be used, the build
 * keeps what it writes in memory until its COMMIT: on a file system without shared memory, and on one
 * of smaller blocks, on which a full disk would have no room for the rest of a page, and end the
 * process by SIGBUS.
 */
export function allowReaders(database: Database): void {
  const isRoomTaken = statfsSync(database.name).bsize >= SHARED_PAGE_BYTES;
  if (isRoomTaken && pragma(database, 'journal_mode = WAL') === 'wal') return;
  database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA cache_spill = OFF');
}

/** Leaves one file that can be read where nothing can be written. If somebody reads it now, the next build does that. */
export function closeState(database: Database): void {
  try {
    if (database.open && !database.readonly && !database.memory) {
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.pragma('journal_mode = DELETE');
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error;
  } finally {
    database.close();
  }
}
