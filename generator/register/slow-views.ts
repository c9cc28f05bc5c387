/** Why a view is slow: what SQLite reads again for each row. */
import type { Table } from '../schema/schema.js';
import { Failure, onOneLine } from '../base/errors.js';
import type { Register } from './database.js';
import { placeOf } from './findings.js';
import { literal, name } from './sql.js';

/** A step of a query plan (sqlite.org/eqp.html). */
interface PlanStep {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
  /** The table that it reads, if it reads one. */
  readonly table: string | undefined;
}

/** An instruction of SQLite's virtual machine (sqlite.org/opcode.html). */
interface Instruction {
  readonly addr: number;
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
}

/** Reading a table with fewer rows is fast. */
const FEW_ROWS = 100;

/** Says which tables a view scans for each of its rows, each in a sentence, by SQLite's own plan. */
export function slownessOf(register: Register, table: Table): readonly string[] {
  if (!isView(register, table)) return [];
  try {
    const sql = `SELECT lower(name) FROM pragma_table_xinfo(${literal(table.name)}, 'main')`;
    const present = new Set([...register.rows<[string]>(sql)].flat());
    const all = table.columns.map((column) => column.name).filter((column) => present.has(column));
    const planFor = (columns: readonly string[]): readonly PlanStep[] =>
      repeated(planOf(register, `SELECT ${columns.map(name).join(', ')} FROM main.${name(table.name)}`));
    const whole = planFor(all);
    const scanned = new Set(whole.filter(isScan).flatMap((step) => step.table ?? []));
    return [...scanned].flatMap((scan) => {
      if (!isLarge(register, scan)) return [];
      const columns = all.filter((column) => scansOf(scan, planFor([column])).length > 0);
      const column = columns.length === all.length ? null : columns.join(', ');
      const part = scansOf(scan, whole).every(isOfRange) ? 'a range of ' : '';
      return [`${placeOf({ table: table.name, column })}: scans ${part}${onOneLine(scan)} for each row`];
    });
  } catch (error) {
    // A view that can't be read is reported by the check.
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** Whether a table is a view of the register. */
function isView(register: Register, { name: table }: Table): boolean {
  const sql = `SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = ${literal(table)} COLLATE NOCASE`;
  return [...register.rows(sql)].length > 0;
}

/** The plan of a query. In it tables are called by their aliases, so its code says which they are. */
function planOf(register: Register, sql: string): readonly PlanStep[] {
  const roots = register.rows<[number, string]>(
    'SELECT rootpage, CAST(tbl_name AS TEXT) FROM main.sqlite_schema',
  );
  const tables = new Map(roots);
  const code = [...register.rows<[number, string, number, number]>(`EXPLAIN ${sql}`)].map(
    ([addr, opcode, p1, p2]): Instruction => ({ addr, opcode, p1, p2 }),
  );
  const steps = [...register.rows<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${sql}`)].map(
    ([id, parent, , detail]) => ({ id, parent, detail }),
  );
  return steps
    .toSorted((a, b) => a.id - b.id)
    .map((step, before) => {
      // The id of a step is the address of its code if each step before it were an instruction, too.
      const loop = code.find(({ addr, opcode }) => addr >= step.id - before && LOOP.test(opcode));
      const opened = code.findLast(
        ({ addr, opcode, p1 }) =>
          loop !== undefined && addr < loop.addr && OPEN.test(opcode) && p1 === loop.p1,
      );
      return { ...step, table: opened?.opcode === 'OpenRead' ? tables.get(opened.p2) : undefined };
    });
}

/** Begins to read rows: of what was opened, of a subquery, or of a virtual table. */
const LOOP = /^(?:Rewind|Last|Seek|InitCoroutine|Yield|VFilter)/;
const OPEN = /^V?Open|^InitCoroutine/;

/** The steps that are taken for each row of another: in correlated subqueries and inner loops. */
function repeated(steps: readonly PlanStep[]): readonly PlanStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const isRepeated = (step: PlanStep): boolean => {
    const above = byId.get(step.parent);
    if (steps.some((other) => other.parent === step.parent && other.id < step.id && isLoop(other)))
      return true;
    if (above === undefined || ONCE.test(above.detail)) return false;
    return above.detail.startsWith('CORRELATED') || isRepeated(above);
  };
  return steps.filter(isRepeated);
}

const isLoop = ({ detail }: PlanStep): boolean => /^(?:SCAN|SEARCH) /.test(detail);
/** Subqueries that are run once, whatever is above them. */
const ONCE = /^(?:SCALAR SUBQUERY|LIST SUBQUERY|CO-ROUTINE|MATERIALIZE) /;

/** Whether a step reads a range, which may be much of a table: nothing is searched by equality. */
const isOfRange = ({ detail }: PlanStep): boolean => /^SEARCH [^=]*[<>]\?[^=]*$/.test(detail);

/** Whether a step reads much of a table, or all. The least or greatest value without an index needs all. */
const isScan = (step: PlanStep): boolean =>
  step.table !== undefined &&
  (/^SCAN (?!CONSTANT ROW)|^SEARCH (?!.* USING )/.test(step.detail) || isOfRange(step));

const scansOf = (table: string, steps: readonly PlanStep[]): readonly PlanStep[] =>
  steps.filter((step) => step.table === table && isScan(step));

/** Whether the register has many rows in a table. */
function isLarge(register: Register, table: string): boolean {
  const [row] = register.rows<[number]>(`SELECT 1 FROM main.${name(table)} LIMIT 1 OFFSET ${FEW_ROWS}`);
  return row !== undefined;
}
