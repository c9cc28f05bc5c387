import fs from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PROJECT_FOLDER } from '../generator/base/package.js';
import { SAMPLE_ID } from '../generator/register/database.js';
import { type Database, openDatabase, type Statement } from '../generator/base/sqlite/sqlite.js';
import { GROUP, USER } from './sample/accounts.js';
import { GAME, ITEM } from './sample/creations.js';
import { type Row, writeRecord, type Writer } from './sample/records.js';
import { type Register, registerOf } from './sample/register.js';

export interface SampleOptions {
  /** The register to write; the caller has checked that it doesn't exist. */
  readonly file: string;
  /** Number of groups, users, games and items together: an integer from 0. */
  readonly records: number;
  /** Any safe integer; another seed gives another register. */
  readonly seed: number;
  /** Called every few milliseconds and at the end; if it rejects, writing stops. */
  readonly onProgress?: (done: number, total: number) => void | Promise<void>;
}

export interface SampleSummary {
  readonly groups: number;
  readonly users: number;
  readonly games: number;
  readonly items: number;
  /** Rows in all tables. */
  readonly rows: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/** The ranges of ids don't suffice for more. */
export const MOST_RECORDS = 100_000_000;

/**
 * Records per transaction and per turn of the event loop, about 10 ms. A number of records instead
 * of milliseconds, because SQLite counts transactions in the file's header.
 */
const BATCH = 500;

/** In the order in which they are written. */
const WRITERS: readonly Writer[] = [GROUP, USER, GAME, ITEM];

/**
 * Writes a fictional register: 30 % groups, 40 % users, 10 % games, 20 % items, with histories. The
 * same records and seed give the same bytes on any machine and any day (with the same version of
 * SQLite, which is in the file). The file is written as `FILE.partial`, which is renamed when
 * complete, and removed if writing fails.
 */
export async function writeSample(options: SampleOptions): Promise<SampleSummary> {
  const { file, records, seed } = options;
  if (!Number.isInteger(records) || records < 0 || records > MOST_RECORDS) {
    throw new RangeError(
      `Cannot write "${records}" records: expected a whole number from 0 to ${MOST_RECORDS}`,
    );
  }
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`Cannot use the seed "${seed}": expected a whole number`);
  }
  const partial = `${file}.partial`;
  fs.rmSync(partial, { force: true });
  try {
    const register = registerOf(records, seed);
    const rows = await fill(partial, register, async (done) => options.onProgress?.(done, records));
    const { size: bytes } = fs.statSync(partial);
    fs.renameSync(partial, file);
    const { group: groups, user: users, game: games, item: items } = register.counts;
    return { groups, users, games, items, rows, bytes };
  } catch (error) {
    fs.rmSync(partial, { force: true });
    throw error;
  }
}

/** Fills a new database. @returns the number of rows */
async function fill(
  file: string,
  register: Register,
  onProgress: (done: number) => Promise<void>,
): Promise<number> {
  const db = openDatabase(file);
  try {
    // A half-written sample is discarded, so there is nothing to protect
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.pragma(`application_id = ${SAMPLE_ID}`);
    db.exec(fs.readFileSync(path.join(PROJECT_FOLDER, 'data', 'schema.sql'), 'utf8'));
    const { insert, rows } = insertingInto(db);
    const writeBatch = db.transaction((writer: Writer, from: number, to: number) => {
      for (let index = from; index < to; index++) writeRecord(writer, register, index, insert);
    });
    let done = 0;
    for (const writer of WRITERS) {
      const count = register.counts[writer.kind];
      for (let from = 0; from < count; from += BATCH) {
        const to = Math.min(from + BATCH, count);
        writeBatch(writer, from, to);
        done += to - from;
        await onProgress(done);
        await setImmediate();
      }
    }
    return rows();
  } finally {
    db.close();
  }
}

/** All rows of a table have the columns of its first one; others of the schema are NULL. */
function insertingInto(db: Database) {
  const statements = new Map<string, Statement<[object]>>();
  let rows = 0;
  const insert = (table: string, row: Row): void => {
    let statement = statements.get(table);
    if (statement === undefined) {
      const columns = Object.keys(row);
      const values = columns.map((column) => `@${column}`);
      statement = db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`);
      statements.set(table, statement);
    }
    statement.run(row);
    rows++;
  };
  return { insert, rows: () => rows };
}
