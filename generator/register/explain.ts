/** Says what a slow step reads, and which tables its views scan for each of their rows. */
import { Failure } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import type { Table } from '../schema/schema.js';
import type { Register } from './database.js';
import { name } from './sql.js';

/** A step that takes longer is explained: 10,000 ms (= 10 seconds). */
const SLOW_MS = 10_000;

const ADVICE = 'docs/your-register.md#views-that-stay-fast';

/** The lines that were written about a register, each of them once. */
const SAID = new WeakMap<Register, Set<string>>();

/**
 * Explains steps that run in other threads, while this one waits for them.
 * @param register a connection of this thread, which is only asked for query plans
 * @returns runs a step, such as `checking groups`, which says when it starts
 */
export function explainer(
  register: Register,
  progress: Progress,
): <T>(what: string, tables: readonly Table[], run: (onStart: () => void) => Promise<T>) => Promise<T> {
  const said = SAID.get(register) ?? new Set();
  SAID.set(register, said);
  const explain = (what: string, tables: readonly Table[]): void => {
    const names = tables.map((table) => table.name).join(', ');
    const slow = `${what} takes longer than ${SLOW_MS / 1000} s; it reads ${names}`;
    for (const line of [slow, ...tables.flatMap((table) => scansIn(register, table))]) {
      if (!said.has(line)) progress.note(line);
      said.add(line);
    }
  };
  return async (what, tables, run) => {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await run(() => (timer = setTimeout(() => explain(what, tables), SLOW_MS)));
    } finally {
      clearTimeout(timer);
    }
  };
}

/** A step of a query plan (sqlite.org/eqp.html): its id, the id of the step above, and what it does. */
type PlanStep = readonly [id: number, parent: number, unused: number, detail: string];

/** What reading a table scans again for each row, by the names that its view gives to tables. */
export function scansIn(register: Register, { name: table }: Table): readonly string[] {
  try {
    const steps = [...register.rows<PlanStep>(`EXPLAIN QUERY PLAN SELECT * FROM ${name(table)}`)];
    const isRepeated = ([id, parent]: PlanStep): boolean => {
      // The inner loops of a join come after the outer one.
      if (steps.some(([other, above, , detail]) => above === parent && other < id && LOOP.test(detail)))
        return true;
      const above = steps.find(([other]) => other === parent);
      if (above === undefined || ONCE.test(above[3])) return false;
      return above[3].startsWith('CORRELATED') || isRepeated(above);
    };
    const scans = steps.filter(isRepeated).flatMap(([, , , detail]) => SCAN.exec(detail)?.[1] ?? []);
    return [...new Set(scans)].map((scan) => `  ${table}: scans ${scan} for each row (${ADVICE})`);
  } catch (error) {
    // A view that can't be read is reported by the check.
    if (error instanceof Failure) return [];
    throw error;
  }
}

const LOOP = /^(?:SCAN|SEARCH) /;
/** Subqueries that are run once, whatever is above them. */
const ONCE = /^(?:SCALAR SUBQUERY|LIST SUBQUERY|CO-ROUTINE|MATERIALIZE) /;
/** Reads all of a table, or looks for the least or greatest value without an index. */
const SCAN = /^(?:SCAN|SEARCH(?!.* USING )) (?!CONSTANT ROW)(\S+)/;
