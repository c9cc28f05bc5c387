/** How long a slow view takes to read: a lower bound, known after seconds. */
import { Failure } from '../base/errors.js';
import type { Table } from '../schema/schema.js';
import type { Register } from './database.js';
import { name } from './sql.js';

/** A view is read so long, until it has been named as slow: 10,500 ms. */
const TRIED_MS = 10_500;
/** Its rate is that of the fastest time of this length: 1000 ms (= 1 second). */
const WINDOW_MS = 1000;
/** Its other rows are counted so long, once they are too many: 2000 ms (= 2 seconds). */
const COUNTED_MS = 2000;
/** What takes longer is hopeless: 600,000 ms (= 10 minutes). */
export const MOST_MS = 600_000;

const END = new Error('the rows that matter have been read');

/**
 * Reads a view for some seconds, then counts its other rows without looking up anything for them.
 *
 * HAZARD: of what SQLite numbers, limits or makes distinct first, rows are counted no faster than they are
 * read, so a hopeless view is known as such only after ten minutes; one that is grouped first, once it is.
 * @returns the milliseconds that reading all of it takes at least: its rows at the fastest rate seen
 */
export function leastTime(register: Register, table: Table): number {
  const startedAt = performance.now();
  let window: { readonly at: number; rows: number } | undefined;
  let tried: number | undefined;
  let [fastest, left] = [0, 0];
  register.define('is_read', () => {
    const now = performance.now();
    const elapsed = now - startedAt;
    if (elapsed < TRIED_MS || fastest === 0) {
      // The first row may have waited for what is done once.
      window ??= { at: now, rows: -1 };
      window.rows += 1;
      if (now - window.at < WINDOW_MS) return 1;
      fastest = Math.max(fastest, window.rows / (now - window.at));
      window = { at: now, rows: 0 };
      return 1;
    }
    tried ??= elapsed;
    left += 1;
    const isKnown = tried + left / fastest > MOST_MS && elapsed - tried > COUNTED_MS;
    if (isKnown || elapsed > MOST_MS) throw END;
    return 0;
  });
  try {
    // SQLite calls is_read() for each row of the outermost loop, before anything is looked up for that.
    for (const _ of register.rows(`SELECT * FROM ${name(table.name)} WHERE is_read()`));
  } catch (error) {
    // The check reports a view that can't be read.
    if (error !== END && !(error instanceof Failure && error.cause === 'SQLITE_ERROR')) throw error;
  }
  const elapsed = performance.now() - startedAt;
  return tried === undefined ? elapsed : Math.max(elapsed, tried + left / fastest);
}
