/** The register: opened to be read, with what it may lack supplied. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, onOneLine, reading } from '../base/errors.js';
import { chunksOf } from '../base/files.js';
import { isSqliteError, openDatabase, primaryCode, reasonOf, type Database } from '../base/sqlite/sqlite.js';
import { RESOURCES, TABLES, WITHHELD } from '../schema/schema.js';
import { Measured } from '../schema/measured.js';
import { columnReader, coverTables, type ColumnReader } from './absent.js';
import { latestAt, timeAt } from '../schema/time.js';
import { addFunctions } from './functions.js';
import { EXCLUSION_TABLES, TEMPORARY } from './sql.js';

/** The supported version of the contract, which is in `PRAGMA user_version`. */
export const CONTRACT_VERSION = 1;

/** "SAMP", the `PRAGMA application_id` of a register that `sample` wrote. */
export const SAMPLE_ID = 0x53414d50;

/** How long to wait for a writer's lock on the register: 5000 ms (= 5 seconds). */
const BUSY_TIMEOUT_MS = 5000;

const SQLITE_MAGIC = 'SQLite format 3\0';
/** The place of the read version in an SQLite file's header, which is 2 in WAL mode. */
const READ_VERSION_AT = 19;
const WAL = 2;

/**
 * A register open for reading: one read transaction from opening to closing, so that all queries
 * see the same state even while a writer is active (WAL).
 */
export class Register {
  readonly file: string;
  readonly #database: Database;
  /** Begins a read transaction (see `transactions`). */
  readonly #begin: () => readonly string[];
  #absent: readonly string[];
  #measured: Measured;
  /** When the state was read. Without a clock, nothing is ahead of it. */
  #clock = new Date('9999-12-30T00:00:00Z');

  private constructor(file: string, database: Database, notMeasured: readonly string[]) {
    this.file = file;
    this.#database = database;
    addFunctions(database, () => this.latestTime);
    this.#begin = transactions(database, file, notMeasured);
    this.#absent = this.#begin();
    this.#measured = new Measured(this.#absent);
  }

  /** What the register doesn't measure, which all queries find empty (see absent.ts). */
  get absent(): readonly string[] {
    return this.#absent;
  }

  get measured(): Measured {
    return this.#measured;
  }

  /** Whether `sample` wrote it. */
  get isSample(): boolean {
    return this.integers('PRAGMA application_id')[0] === BigInt(SAMPLE_ID);
  }

  /** When the state was read, by the clock of this machine. */
  get clock(): string {
    return timeAt(this.#clock.getTime());
  }

  /** The last time that can have been measured when the state was read. */
  get latestTime(): string {
    return latestAt(this.#clock);
  }

  /**
   * Opens a register.
   * @param notMeasured what counts as missing even if the register has it (see `MEASURABLE`)
   * @throws Failure environment: the file is missing, a folder, unreadable or locked; invalid: it
   * is not an SQLite database, is encrypted or truncated, has another contract version, or no records
   * of any kind
   */
  static open(file: string, notMeasured: readonly string[] = []): Register {
    const isInWalMode = requireDatabase(file);
    try {
      return Register.join(file, notMeasured);
    } catch (error) {
      const isUnwritable =
        error instanceof Failure && /^SQLITE_(CANTOPEN|READONLY(?!_ROLLBACK))/.test(String(error.cause));
      if (!isInWalMode || !isUnwritable) throw error;
      throw Failure.environment(
        `register "${file}" is in WAL mode, which even readers need a writable folder for: make "${dirname(file)}" ` +
          `writable for this user, or run PRAGMA journal_mode = DELETE on the register (${String(error.cause)})`,
      );
    }
  }

  /**
   * Opens another connection to a register that this process has open, in any thread. It does not
   * open the file itself, since closing that would drop all locks of the process (fcntl(2); section
   * 2.2 of sqlite.org/howtocorrupt.html), and a writer could change what the others read.
   */
  static join(file: string, notMeasured: readonly string[] = []): Register {
    return translated(file, () => {
      const database = openDatabase(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
      try {
        // Sorting a view may take more space than memory should provide.
        database.exec('PRAGMA temp_store = FILE');
        // 4 MB instead of the driver's 16 MB per connection, which don't help full table scans.
        database.exec('PRAGMA cache_size = -4000');
        for (const sql of TEMPORARY) database.exec(sql);
        const register = new Register(file, database, notMeasured);
        const encoding = database.prepare<[]>('PRAGMA encoding').pluck().get();
        if (encoding !== 'UTF-8') {
          throw Failure.invalid(`register "${file}" is encoded as ${String(encoding)}, expected UTF-8`);
        }
        return register;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  /** The columns of a table as it is in the register, whatever counts as absent (see `columnReader`). */
  columnsIn(table: string): readonly string[] | undefined {
    return columnReader(this.#database)(table);
  }

  /** Rows one by one, as arrays in column order. `Row` must match the SQL. */
  *rows<Row extends readonly unknown[]>(sql: string): Generator<Row, void, undefined> {
    try {
      for (const row of this.#database.prepare<[], Row>(sql).raw(true).iterate()) yield row;
    } catch (error) {
      throw failureOf(this.file, error);
    }
  }

  /** The first row of a query for integers, exact beyond 2^53. */
  integers(sql: string): readonly (bigint | string | null)[] {
    const row = translated(this.file, () =>
      this.#database.prepare<[], (bigint | string | null)[]>(sql).raw(true).safeIntegers(true).get(),
    );
    return row ?? [];
  }

  /**
   * Prepares a query that returns the first row for its parameters, as an array in column order.
   * `Row` must match the SQL.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in `rows`, SQL has no types of its own
  asked<Asked extends number[] = number[], Row extends readonly unknown[] = readonly unknown[]>(
    sql: string,
  ): (...asked: Asked) => Row | undefined {
    const statement = translated(this.file, () => this.#database.prepare<Asked, Row>(sql).raw(true));
    return (...asked) => translated(this.file, () => statement.get(...asked));
  }

  /** Starts a new read transaction, which sees the register's current state. @param clock the time now */
  restartRead(clock: Date): void {
    this.#clock = clock;
    translated(this.file, () => {
      this.#database.exec('ROLLBACK');
      this.#absent = this.#begin();
      this.#measured = new Measured(this.#absent);
    });
  }

  /** The CREATE statements of all tables, views and indexes, and what is not measured. */
  schema(): readonly string[] {
    const sql = `SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name`;
    return [...[...this.rows<[string]>(sql)].flat(), ...this.#absent];
  }

  /** This connection's exclusions. */
  exclusions(): Exclusions {
    return translated(this.file, () =>
      Object.fromEntries(
        EXCLUSION_TABLES.map(({ table }) => [
          table,
          // An invalid id may be of any type, and up to 64 bits long.
          this.#database.prepare<[]>(`SELECT value FROM ${table}`).pluck().safeIntegers(true).all(),
        ]),
      ),
    );
  }

  /** Replaces exclusions of this connection by those of another one at the same state. */
  exclude(exclusions: Exclusions): void {
    translated(this.file, () => {
      for (const [list, values] of Object.entries(exclusions)) {
        this.#database.exec(`DELETE FROM ${list}`);
        const insert = this.#database.prepare(`INSERT OR IGNORE INTO ${list} VALUES (?)`);
        for (const value of values) insert.run(value);
      }
    });
  }

  /** Adds rows of two columns to a temporary table. */
  insert(table: string, rows: Iterable<readonly [unknown, unknown]>): void {
    translated(this.file, () => {
      const insert = this.#database.prepare(`INSERT INTO ${table} VALUES (?, ?)`);
      for (const row of rows) insert.run(...row);
    });
  }

  /** Runs statements on the temporary tables; the register itself is read-only. */
  execute(sql: string): void {
    translated(this.file, () => this.#database.exec(sql));
  }

  close(): void {
    this.#database.close();
  }
}

/** Values by name of the exclusion table (see sql.ts). */
export type Exclusions = Readonly<Record<string, readonly unknown[]>>;

/**
 * Prepares read transactions. The state of one is that of its first read, of the contract version.
 * @returns a function that begins one, and returns what the register lacks and is supplied until its end
 */
function transactions(
  database: Database,
  file: string,
  notMeasured: readonly string[],
): () => readonly string[] {
  const version = database.prepare<[]>('PRAGMA user_version').pluck();
  const columnsIn = columnReader(database);
  return () => {
    database.exec('BEGIN');
    const found = version.get();
    if (found === 0) throw Failure.invalid(notYet(file, hasAllTables(columnsIn)));
    if (found !== CONTRACT_VERSION) {
      throw Failure.invalid(
        `register "${file}" has user_version ${String(found)}, expected ${CONTRACT_VERSION}: if your` +
          ` software needs its own, publish a copy (docs/your-register.md#a-nightly-copy)`,
      );
    }
    const absent = coverTables(database, columnsIn, notMeasured);
    if (RESOURCES.every(({ plural }) => absent.includes(plural)))
      throw Failure.invalid(
        `register "${file}" measures nothing, expected at least one of ${RESOURCES.map(({ plural }) => plural).join(', ')}`,
      );
    return absent;
  };
}

/** What to do with a database that no one has declared to be a register. */
const notYet = (file: string, isComplete: boolean): string =>
  isComplete
    ? `"${file}" has every table of a register, but user_version 0: sqlite3 ${quoted(file)}` +
      ` 'PRAGMA user_version = ${CONTRACT_VERSION}' declares it to be one`
    : `"${file}" is not a register yet: \`scaffold --register ${quoted(file)}\` prints the` +
      ` views it needs; when it follows the contract: PRAGMA user_version = ${CONTRACT_VERSION} (see docs/your-register.md)`;

const hasAllTables = (columnsIn: ColumnReader): boolean =>
  TABLES.every((table) => table === WITHHELD || (columnsIn(table.name)?.length ?? 0) > 0);

/** A path as a word of a shell command. */
const quoted = (file: string): string =>
  /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Distinguishes cases that SQLite reports as "unable to open" or, for an empty name, accepts.
 * @returns whether the database is in WAL mode
 * @throws Failure as `Register.open` does
 */
export function requireDatabase(file: string): boolean {
  const header = reading(`register "${file}"`, () => {
    const found = statSync(file);
    if (found.isDirectory())
      throw Failure.environment(`register "${file}" is a folder, expected an SQLite file`);
    if (!found.isFile()) throw Failure.environment(`register "${file}" is not a regular file`);
    const [start = Buffer.alloc(0)] = chunksOf(file);
    return start;
  });
  if (header.toString('latin1', 0, SQLITE_MAGIC.length) !== SQLITE_MAGIC)
    throw Failure.invalid(`register "${file}" is not an SQLite database, or is encrypted`);
  return header[READ_VERSION_AT] === WAL;
}

/** Runs an action and translates SQLite's errors into one-line messages. */
export function translated<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw failureOf(file, error);
  }
}

/** What to do about a register that can't be read, by SQLite's primary result code. */
const REMEDIES: Readonly<Record<string, string>> = {
  SQLITE_PROTOCOL: 'try again',
  SQLITE_FULL:
    'SQLite sorts in the folder for temporary files, make room there or name another by SQLITE_TMPDIR',
  SQLITE_IOERR: 'see the log of the system, or read a copy on a local disk',
  SQLITE_CANTOPEN:
    'expected a register, and a folder for temporary files (SQLITE_TMPDIR), that this user can open',
  SQLITE_READONLY: 'try again',
};

function failureOf(file: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  const { code } = error;
  // The message may quote a name, which may have any character in it.
  const message = onOneLine(error.message);
  const primary = primaryCode(code);
  const register = `register "${file}"`;
  if (primary === 'SQLITE_NOTADB')
    return Failure.invalid(`${register} is not an SQLite database, or is encrypted`);
  if (primary === 'SQLITE_CORRUPT')
    return Failure.invalid(
      `${register} is damaged or truncated: ${message} (restore it from a copy; PRAGMA integrity_check tells what is damaged)`,
    );
  if (primary === 'SQLITE_BUSY' || primary === 'SQLITE_LOCKED')
    return Failure.environment(
      `${register} is locked by a writer (waited ${BUSY_TIMEOUT_MS} ms): try again when it has committed;` +
        ` with PRAGMA journal_mode = WAL, readers don't wait`,
    );
  if (code === 'SQLITE_READONLY_ROLLBACK')
    return Failure.environment(
      `${register} was left within a transaction by a writer that was killed: only a program that may write` +
        ` can undo it by "${file}-journal", such as sqlite3 ${quoted(file)} 'PRAGMA quick_check' (${code})`,
      code,
    );
  const { [primary]: remedy } = REMEDIES;
  const problem = `${register} can't be read: ${onOneLine(reasonOf(error))}${remedy === undefined ? '' : `: ${remedy}`}`;
  return /^SQLITE_(IOERR|CANTOPEN|PERM|READONLY|FULL|NOMEM|PROTOCOL)/.test(code)
    ? Failure.environment(problem, code)
    : Failure.invalid(problem, code);
}
