/** Why a view is slow: what SQLite reads again for each row, and which index would help. */
import type { Table } from '../schema/schema.js';
import { isSqliteError, openDatabase, type Database } from '../base/sqlite/sqlite.js';
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

/** Columns of an index, at most. */
const MOST_COLUMNS = 3;

/**
 * Says which tables a view scans for each of its rows, each in a sentence, with the index that would
 * help if there is one. SQLite itself is asked, on a copy of the schema without rows: an index helps
 * if the whole view then finds the rows of that table by equality.
 */
export function slownessOf(register: Register, table: Table): readonly string[] {
  if (!isView(register, table)) return [];
  const database = emptyCopy(register.schema());
  try {
    const present = new Set(columnsOf(database, table.name).map((column) => column.toLowerCase()));
    const all = table.columns.map((column) => column.name).filter((column) => present.has(column));
    const planFor = (columns: readonly string[]): readonly PlanStep[] =>
      repeated(planOf(database, `SELECT ${columns.map(name).join(', ')} FROM ${name(table.name)}`));
    const whole = planFor(all);
    const scanned = new Set(whole.filter(isScan).flatMap((step) => step.table ?? []));
    return [...scanned].flatMap((scan) => {
      if (!isLarge(register, scan)) return [];
      const columns = all.filter((column) => scansOf(scan, planFor([column])).length > 0);
      const column = columns.length === all.length ? null : columns.join(', ');
      const part = scansOf(scan, whole).every(isOfRange) ? 'a range of ' : '';
      const index = helpfulIndex(database, scan, () => planFor(all));
      const help = index.length === 0 ? '' : `; an index on ${scan}(${index.join(', ')}) would help`;
      return [`${placeOf({ table: table.name, column })}: scans ${part}${scan} for each row${help}`];
    });
  } catch (error) {
    // A view that can't be read is reported by the check.
    if (isSqliteError(error)) return [];
    throw error;
  } finally {
    database.close();
  }
}

/** Whether a table is a view of the register. */
function isView(register: Register, { name: table }: Table): boolean {
  const sql = `SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = ${literal(table)} COLLATE NOCASE`;
  return [...register.rows(sql)].length > 0;
}

/** A database in memory with the same tables, views and indexes, all empty. */
function emptyCopy(schema: readonly string[]): Database {
  const database = openDatabase(':memory:');
  // What needs a later statement succeeds the second time.
  for (const sql of [...schema, ...schema]) {
    try {
      database.exec(sql);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    }
  }
  return database;
}

const columnsOf = (database: Database, table: string): readonly string[] =>
  database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);

/** The plan of a query. In it tables are called by their aliases, so its code says which they are. */
function planOf(database: Database, sql: string): readonly PlanStep[] {
  const roots = database.prepare<[], [number, string]>('SELECT rootpage, tbl_name FROM sqlite_schema');
  const tables = new Map(roots.raw(true).all());
  const code = database.prepare<[], Instruction>(`EXPLAIN ${sql}`).all();
  const steps = database.prepare<[], Omit<PlanStep, 'table'>>(`EXPLAIN QUERY PLAN ${sql}`).all();
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

/** Fewer sorts are better, then searches by more columns. */
const costOf = (steps: readonly PlanStep[]): number =>
  1000 * steps.filter(({ detail }) => detail.startsWith('USE TEMP B-TREE')).length -
  steps.flatMap(({ detail }) => detail.match(/[=<>]\?/g) ?? []).length;

/**
 * Finds the index with which a view scans a table no more and costs least, column by column.
 * @param plan the repeated steps of the view
 * @returns its columns; none if no index helps
 */
function helpfulIndex(database: Database, table: string, plan: () => readonly PlanStep[]): readonly string[] {
  const planWith = (columns: readonly string[]): readonly PlanStep[] => {
    database.exec(`CREATE INDEX ${name(HELP)} ON ${name(table)} (${columns.map(name).join(', ')})`);
    try {
      return plan();
    } finally {
      database.exec(`DROP INDEX ${name(HELP)}`);
    }
  };
  let best: { columns: readonly string[]; cost: number } = { columns: [], cost: Number.POSITIVE_INFINITY };
  while (best.columns.length < MOST_COLUMNS) {
    const { columns: before } = best;
    const [next] = columnsOf(database, table)
      .filter((column) => !before.includes(column))
      .flatMap((column) => {
        const columns = [...before, column];
        const steps = planWith(columns);
        const isSearched = steps.some(({ detail }) => detail.includes(`${HELP} (${columns[0]}=?`));
        return isSearched && scansOf(table, steps).length === 0 ? [{ columns, cost: costOf(steps) }] : [];
      })
      .toSorted((a, b) => a.cost - b.cost);
    if (next === undefined || next.cost >= best.cost) break;
    best = next;
  }
  return best.columns;
}

const HELP = 'an index that may help';
