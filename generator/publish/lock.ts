/**
 * One builder per tree. The lock is the operating system's, held through SQLite: it ends with the process that
 * holds it, however that ends, so there is no dead lock to recognise and take over.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import { Failure, codeOf, messageOf } from '../errors.js';
import { openDatabase, type Database } from '../sqlite/index.js';
import { makeFolder } from './files.js';

/** The cause of a failure to make the lock, as opposed to finding it taken. */
const UNLOCKABLE = 'unlockable';

export class Lock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Takes the lock of a tree, or says who has it.
   * @throws Failure environment: another process is at work on the tree
   */
  static take(file: string): Lock {
    let database: Database | undefined;
    try {
      makeFolder(dirname(file));
      database = openDatabase(file, { timeout: 0 });
      // Nothing is ever written to it, so it needs no journal beside it.
      database.exec('PRAGMA journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
      writeFileSync(`${file}.pid`, String(pid));
      return new Lock(database);
    } catch (error) {
      database?.close();
      const code = codeOf(error);
      if (code?.startsWith('SQLITE_BUSY') === true) {
        throw Failure.environment(`another build is at work on this tree (process ${holder(file)})`);
      }
      if (code === undefined) throw error;
      throw Failure.environment(`lock "${file}" can't be taken: ${messageOf(error)} (${code})`, UNLOCKABLE);
    }
  }

  /** The same for who only reads: a tree on a read-only file system has no builder to wait for. */
  static takeIfWritable(file: string): Lock | undefined {
    try {
      return Lock.take(file);
    } catch (error) {
      if (error instanceof Failure && error.cause === UNLOCKABLE) return undefined;
      throw error;
    }
  }

  release(): void {
    this.#database.close();
  }
}

/** Only for the message; the lock itself does not depend on it. */
function holder(file: string): string {
  try {
    return readFileSync(`${file}.pid`, 'utf8');
  } catch {
    return 'unknown';
  }
}
