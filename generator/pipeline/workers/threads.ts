/** Reads a register in several threads, outside of a build. */
import type { TakeStep } from '../../register/check.js';
import { Register } from '../../register/database.js';
import { identityOf, openConsistentSnapshot } from '../../register/snapshot.js';
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
