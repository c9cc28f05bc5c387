/** Reads a register in several threads, outside of a build. */
import { Failure } from '../../base/errors.js';
import { follow, number, type Progress } from '../../base/progress.js';
import type { TakeStep } from '../../register/check.js';
import { Register } from '../../register/database.js';
import { MOST_MS } from '../../register/least-time.js';
import { explainer } from '../../register/slow-steps.js';
import { slownessOf } from '../../register/slow-views.js';
import { identityOf, openConsistentSnapshot } from '../../register/snapshot.js';
import { TABLES } from '../../schema/schema.js';
import type { Pool, RegisterSource } from './pool.js';

/** What a command provides of its process. */
interface Readers {
  readonly startPool: (register: string, notMeasured: readonly string[]) => Pool;
  readonly now: () => Date;
}

/** Opens a register in this thread and in others, all at the same state, for as long as the work takes. */
export async function inThreads<T>(
  { file, notMeasured }: RegisterSource,
  { startPool, now }: Readers,
  work: (register: Register, pool: Pool) => Promise<T>,
): Promise<T> {
  const identity = identityOf(file);
  const register = Register.open(file, notMeasured);
  const pool = startPool(file, notMeasured);
  try {
    await openConsistentSnapshot(file, identity, [register, ...pool.threads], now());
    return await work(register, pool);
  } finally {
    await pool.close();
    register.close();
  }
}

/** Has the steps of a check run by threads. */
export const stepsIn =
  (pool: Pool): TakeStep =>
  (step, onStart) =>
    pool.run('check', step, { onStart });

/**
 * Times the views that scan a table for each row, of which a build or check reads every row.
 * @param readers how many threads share the rows of a view
 * @throws Failure invalid: reading one takes too long
 */
export async function requireTime(
  register: Register,
  pool: Pool,
  progress: Progress,
  readers = 1,
): Promise<void> {
  const slow = TABLES.map((table) => ({ table, why: slownessOf(register, table) })).filter(
    ({ why }) => why.length > 0,
  );
  if (slow.length === 0) return;
  const explained = explainer(register, progress);
  progress.start('timing slow views, to end early if there is no hope', slow.length, 'views');
  for (const { table, why } of slow) {
    const what = `reading ${table.name}`;
    const ms = await explained({ what, tables: [table] }, (onStart) =>
      follow(pool.run('leastTime', table, { onStart }), () => 0, progress),
    );
    const least = ms / readers;
    if (least > MOST_MS)
      throw Failure.invalid(
        `${what} takes at least ${roughly(least)}: ${why.join('; ')} (--no-time-limit goes on)`,
      );
    await progress.advance(1);
  }
  progress.finish();
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `3 hours`, `14 minutes`. */
const roughly = (ms: number): string =>
  ms < 2 * HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} minutes` : `${number(Math.floor(ms / HOUR_MS))} hours`;
