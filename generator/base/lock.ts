/**
 * Allows one builder per tree. The lock belongs to the operating system, through SQLite: it ends
 * with its process, however that ends, so there are no stale locks.
 */
import { closeSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { EXIT, Failure, codeOf, messageOf } from './errors.js';
import { follow, type Progress } from './progress.js';
import { isSqliteError, openDatabase, reasonOf, type Database } from './sqlite/sqlite.js';
import { makeFolder, replaceFile } from './files.js';
import { makePrivate } from './modes.js';

/** The cause of a Failure if the lock can't be created, as opposed to being held. */
const UNLOCKABLE = 'unlockable';

/** How often a waiting process looks whether the tree is free: 200 ms. */
const POLL_MS = 200;
/** A process that waits holds the lock for an instant to see whether it is free: 100 ms. */
const INSTANT_MS = 100;

export class Lock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Takes the lock of a tree.
   * @throws Failure busy: another process has it; environment: it can't be locked
   */
  static take(file: string): Lock {
    let database: Database | undefined;
    try {
      makeFolder(dirname(file));
      requirePrivate(file);
      database = openDatabase(file, { timeout: INSTANT_MS });
      // Nothing is ever written to the database, so it needs no journal file.
      database.exec('PRAGMA journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
      try {
        replaceFile(`${file}.pid`, String(pid));
      } catch (error) {
        // It is for messages alone, and a commit can be completed on a full disk.
        if (codeOf(error) !== 'ENOSPC') throw error;
      }
      return new Lock(database);
    } catch (error) {
      database?.close();
      const code = codeOf(error);
      if (code?.startsWith('SQLITE_BUSY') === true) {
        const held = holder(file);
        throw Failure.busy(
          `another process is at work on this tree (process ${held}): try again later, or use --wait`,
          held,
        );
      }
      if (code === undefined) throw error;
      const why = isSqliteError(error) ? reasonOf(error) : `${messageOf(error)} (${code})`;
      throw Failure.environment(`lock "${file}" can't be taken: ${why}`, UNLOCKABLE);
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

/**
 * Does some work on a tree, which begins with its lock. While another process has that, starts the work again and
 * again, so that no data becomes stale while it waits.
 * @param say reports the process that it waits for
 * @throws Failure interrupted: a signal ended the wait; and what the work throws
 */
export async function whenFree<T>(
  work: () => Promise<T>,
  progress: Progress,
  say: (line: string) => void,
): Promise<T> {
  let said: string | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.exitCode !== EXIT.busy) throw error;
      const line = `waiting for process ${String(error.cause)}, which is at work on this tree`;
      if (line !== said) say(line);
      said = line;
      await follow(setTimeout(POLL_MS), () => 0, progress);
    }
  }
}

/**
 * Creates the file, or closes it to others: whoever can read a file can keep it locked.
 *
 * HAZARD: whoever may write in its folder can put a link there afterwards; nothing is written through
 * that link.
 */
function requirePrivate(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    try {
      closeSync(openSync(file, 'wx', 0o600));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      // Another process has just created it.
      requirePrivate(file);
    }
  } else if (!found.isFile())
    throw Failure.environment(`lock "${file}" is not a regular file: remove it, and run this again`);
  // By its path: closing a descriptor of the file would drop a lock that this process has.
  else if ((found.mode & 0o077) !== 0) makePrivate(dirname(file), file);
}

/** The pid of the process that has the lock, for messages only, or `unknown`. */
function holder(file: string): string {
  const name = `${file}.pid`;
  try {
    const text = lstatSync(name).isFile() ? readFileSync(name, 'utf8') : '';
    return /^\d+$/.test(text) ? text : 'unknown';
  } catch {
    return 'unknown';
  }
}
