/** The functions that SQL gets from us, besides those of SQLite. */
import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { foldedName } from '../base/portable.js';
import type { Database } from '../base/sqlite/sqlite.js';

/** The text under which a name is withheld: that of the look-up, without outer spaces. */
export const withheldAs = (name: string): string => foldedName(name).trim();

/** The first hexadecimal digits of the SHA-256 of a text in UTF-8. */
const hashPrefix = (text: string, digits: number): string => hash('sha256', text).slice(0, digits);

/**
 * Adds the functions to a connection. All are deterministic, so SQLite may call them once for equal
 * arguments.
 *
 * - `is_utf8(blob)`: 1 if the bytes are valid UTF-8.
 * - `folded_name(name)`: see `foldedName`.
 * - `folded_after_prefix(name, digits)`: a prefix of the hash of the folded name, then that name
 *   itself. One text, since a call costs more than the sorting of a row.
 * - `hash_prefix(text, digits)`: see `hashPrefix`.
 * - `latest_time()`: the last time that can have been measured already; the same throughout a statement.
 * - `withheld_as(name)`: see `withheldAs`.
 */
export function addFunctions(database: Database, latestTime: () => string): void {
  const options = { deterministic: true };
  // A Buffer, as strings hide invalid bytes.
  database.function('is_utf8', options, (bytes: unknown) =>
    bytes instanceof Uint8Array && isUtf8(bytes) ? 1 : 0,
  );
  database.function('folded_name', options, (name: unknown) => foldedName(String(name)));
  database.function('folded_after_prefix', options, (name: unknown, digits: unknown) => {
    const folded = foldedName(String(name));
    return hashPrefix(folded, Number(digits)) + folded;
  });
  database.function('hash_prefix', options, (text: unknown, digits: unknown) =>
    hashPrefix(String(text), Number(digits)),
  );
  database.function('latest_time', options, latestTime);
  database.function('withheld_as', options, (name: unknown) => withheldAs(String(name)));
}
