/**
 * Allows one builder per tree. The lock belongs to the operating system, through SQLite: it ends
 * with its process, however that ends, so there are no stale locks.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import { Failure, codeOf, messageOf } from '../errors.js';
import { openDatabase, type Database } from '../sqlite/index.js';
import { makeFolder } from './files.js';

/** The cause of a Failure if the lock can't be created, as opposed to being held. */
const UNLOCKABLE = 'unlockable';

export class Lock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Takes the lock of a tree.
   * @throws Failure environment: another process is at work on the tree
   */
  static take(file: string): Lock {
    let database: Database | undefined;
    try {
      makeFolder(dirname(file));
      database = openDatabase(file, { timeout: 0 });
      // Nothing is ever written to the database, so it needs no journal file.
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

  /** Takes the lock for reading only: a tree on a read-only file system needs none. */
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

/** For the error message only; the lock does not depend on this file. */
function holder(file: string): string {
  try {
    return readFileSync(`${file}.pid`, 'utf8');
  } catch {
    return 'unknown';
  }
}
