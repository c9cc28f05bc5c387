/** Whether a table can be read by ranges of the ids of records, without a scan of all of it for each range. */
import { recordKey, type Table } from '../schema/schema.js';
import type { Register } from './database.js';
import { name } from './sql.js';

/** Whether SQLite searches a table, or all that a view reads, by the id of the record. */
export function isReadByRange(register: Register, table: Table): boolean {
  const plan = register.rows<[number, number, number, string]>(
    `EXPLAIN QUERY PLAN SELECT ${table.columns.map((column) => name(column.name)).join(', ')}` +
      ` FROM ${name(table.name)} WHERE ${name(recordKey(table))} BETWEEN 1 AND 2`,
  );
  return searches([...plan].map(([, , , step]) => step));
}

/**
 * Whether a query plan (sqlite.org/eqp.html) searches every table it reads, and scans only the
 * results. The format of plans is not stable: an unknown step counts as a table scan.
 */
function searches(steps: readonly string[]): boolean {
  const found = new Set(steps.flatMap((step) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(step)?.[1] ?? []));
  const scanned = steps.flatMap((step) => /^SCAN (\(\S+\)|\S+)/.exec(step)?.[1] ?? []);
  return steps.some((step) => step.startsWith('SEARCH')) && scanned.every((each) => found.has(each));
}
