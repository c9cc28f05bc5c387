/** Steps that take long: which they are, and why, if a view is the cause. */
import type { Progress } from '../base/progress.js';
import type { Table } from '../schema/schema.js';
import type { Register } from './database.js';
import { slownessOf } from './slow-views.js';

/** A step that takes longer is explained: 10,000 ms (= 10 seconds). */
const SLOW_MS = 10_000;

/** What has been said of the views of a register. */
const SHOWN = new WeakMap<Register, Set<string>>();

export interface SlowStep {
  /** What it does, as `checking groups`. */
  readonly what: string;
  /** What it reads. */
  readonly tables: readonly Table[];
  /** Whether it may take long without a view to blame; then it is named only along with one. */
  readonly isLong?: boolean;
}

/**
 * Explains steps that run in other threads, while this one waits for them.
 * @param register a connection of this thread, for query plans and schema alone
 * @returns runs a step, which says when it starts
 */
export function explainer(
  register: Register,
  progress: Progress,
): <T>(step: SlowStep, run: (onStart: () => void) => Promise<T>) => Promise<T> {
  const shown = SHOWN.get(register) ?? new Set();
  SHOWN.set(register, shown);
  const explain = ({ what, tables, isLong = false }: SlowStep): void => {
    const lines = tables.flatMap((table) => slownessOf(register, table));
    if (lines.length > 0 || !isLong) progress.note(`${what} takes longer than ${SLOW_MS / 1000} s`);
    for (const line of lines) {
      if (!shown.has(line)) progress.note(`  ${line}`);
      shown.add(line);
    }
  };
  return async (step, run) => {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await run(() => (timer = setTimeout(() => explain(step), SLOW_MS)));
    } finally {
      clearTimeout(timer);
    }
  };
}
