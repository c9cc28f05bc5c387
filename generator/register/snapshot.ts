/** Several connections at one state of the register, though a writer may commit at any time. */
import { statSync } from 'node:fs';
import { Failure } from '../errors.js';
import { openDatabase } from '../sqlite/index.js';
import { translated } from './database.js';

/** Something that reads the register in one transaction, here or in another thread. */
export interface Renewable {
  /** Ends its read transaction and begins another. */
  renew(): void | Promise<void>;
}

/** Which file a path leads to; empty where it leads to none, which opening it will tell. */
export function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

/** A round takes about a millisecond, so who fails here has a writer that commits some hundred times a second. */
const ATTEMPTS = 2000;

/**
 * Begins the read transactions of all connections at the same state. SQLite's snapshots can't be handed from one
 * connection to another here, so it is proven instead: a connection that only watches asks for `PRAGMA
 * data_version` before and after, and this value differs if anybody has committed in between
 * (sqlite.org/pragma.html#pragma_data_version). Where it does, all begin anew.
 * @param identity what the path led to before any of them was opened
 * @throws Failure environment: no moment without a commit was found, or another file was put in the register's place
 */
export async function openConsistentSnapshot(
  file: string,
  identity: string,
  connections: readonly Renewable[],
): Promise<void> {
  const watcher = translated(file, () => openDatabase(file, { readonly: true, fileMustExist: true }));
  const asked = translated(file, () => watcher.prepare<[]>('PRAGMA data_version').pluck());
  const version = (): unknown => translated(file, () => asked.get());
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const before = version();
      for (const connection of connections) await connection.renew();
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
