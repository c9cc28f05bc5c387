/** One state of a register for several connections, while a writer may commit at any time. */
import { statSync } from 'node:fs';
import { Failure } from '../base/errors.js';
import { openDatabase, type Database } from '../base/sqlite/sqlite.js';
import { translated } from './database.js';

/** A connection with one read transaction, in this or another thread. */
export interface Connection {
  /** Starts a new read transaction. */
  restartRead(clock: Date): void | Promise<void>;
}

/** Identifies the file at a path; empty if there is none, which opening it will report. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

/** An attempt takes about 1 ms, so failing means a writer with hundreds of commits per second. */
const ATTEMPTS = 2000;

/**
 * Notices commits to a register. SQLite's snapshots can't be shared between connections here. Instead, a
 * connection of its own reads `PRAGMA data_version`, which differs after each commit of another
 * (sqlite.org/pragma.html#pragma_data_version).
 */
export class Watcher {
  readonly #file: string;
  readonly #identity: string;
  #database: Database | undefined;
  /** The version at which connections were last opened. */
  #opened: unknown;

  /** Created before any connection is opened, since it remembers which file that will be. */
  constructor(file: string) {
    this.#file = file;
    this.#identity = identityOf(file);
  }

  #version(): unknown {
    return translated(this.#file, () => {
      this.#database ??= openDatabase(this.#file, { readonly: true, fileMustExist: true });
      return this.#database.prepare<[]>('PRAGMA data_version').pluck().get();
    });
  }

  /** Whether nothing was committed since connections were last opened at one state. */
  isCurrent(): boolean {
    return this.#version() === this.#opened;
  }

  /**
   * Begins the read transactions of all connections at the same state and time.
   * @returns whether that is the state at which connections were last opened
   * @throws Failure environment: there was a commit during every attempt, or the file was replaced
   */
  async openAll(connections: readonly Connection[], clock: Date): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const before = this.#version();
      for (const connection of connections) await connection.restartRead(clock);
      if (this.#version() !== before) continue;
      if (identityOf(this.#file) !== this.#identity)
        throw Failure.environment(
          `register "${this.#file}" was replaced while the build began, expected it to stay (start the build again)`,
        );
      const isSame = before === this.#opened;
      this.#opened = before;
      return isSame;
    }
    throw Failure.environment(
      `register "${this.#file}" was written to in each of ${ATTEMPTS} attempts to read it at one state, expected a pause`,
    );
  }

  close(): void {
    this.#database?.close();
  }
}
