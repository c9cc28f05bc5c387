/** A consistent snapshot for several connections, while a writer may commit at any time. */
import { statSync } from 'node:fs';
import { Failure } from '../base/errors.js';
import { openDatabase } from '../base/sqlite/sqlite.js';
import { translated } from './database.js';

/** A connection with one read transaction, in this or another thread. */
export interface Connection {
  /** Starts a new read transaction. */
  restartRead(clock: Date): void | Promise<void>;
}

/** Identifies the file at a path; empty if there is none, which opening it will report. */
export function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

/** An attempt takes about 1 ms, so failing means a writer with hundreds of commits per second. */
const ATTEMPTS = 2000;

/**
 * Begins the read transactions of all connections at the same state and time. SQLite's snapshots can't be
 * shared between connections here. Instead, a watching connection reads `PRAGMA data_version`
 * before and after; if a commit happened in between, the values differ
 * (sqlite.org/pragma.html#pragma_data_version), and all transactions start over.
 * @param identity of the file, before any connection was opened
 * @throws Failure environment: there was a commit during every attempt, or the file was replaced
 */
export async function openConsistentSnapshot(
  file: string,
  identity: string,
  connections: readonly Connection[],
  clock: Date,
): Promise<void> {
  const watcher = translated(file, () => openDatabase(file, { readonly: true, fileMustExist: true }));
  const asked = translated(file, () => watcher.prepare<[]>('PRAGMA data_version').pluck());
  const version = (): unknown => translated(file, () => asked.get());
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const before = version();
      for (const connection of connections) await connection.restartRead(clock);
      if (version() !== before) continue;
      if (identityOf(file) === identity) return;
      throw Failure.environment(
        `register "${file}" was replaced while the build began, expected it to stay (start the build again)`,
      );
    }
  } finally {
    watcher.close();
  }
  throw Failure.environment(
    `register "${file}" was written to in each of ${ATTEMPTS} attempts to read it at one state, expected a pause`,
  );
}
