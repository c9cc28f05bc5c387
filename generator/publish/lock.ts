/**
 * One builder per tree. The lock is the operating system's, held through SQLite: it ends with the process that
 * holds it, however that ends, so there is no dead lock to recognise and take over.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import Database from 'better-sqlite3';
import { Failure, codeOf, messageOf } from '../errors.js';
import { makeFolder } from './files.js';

export class Lock {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /**
   * Takes the lock of a tree, or says who has it.
   * @throws Failure environment: another process is at work on the tree
   */
  static take(file: string): Lock {
    let database: Database.Database | undefined;
    try {
      makeFolder(dirname(file));
      database = new Database(file, { timeout: 0 });
      // Nothing is ever written to it, so it needs no journal beside it.
      database.pragma('journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database?.close();
      const code = codeOf(error);
      if (code?.startsWith('SQLITE_BUSY') === true) {
        throw Failure.environment(`another build is at work on this tree (process ${holder(file)})`);
      }
      if (code?.startsWith('SQLITE_') !== true) throw error;
      throw Failure.environment(`lock "${file}" can't be taken: ${messageOf(error)} (${code})`);
    }
    writeFileSync(`${file}.pid`, String(pid));
    return new Lock(database);
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
