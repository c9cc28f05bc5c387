/** Why a view is slow: what SQLite scans again for each row, and which index would help. */
import type { Table } from '../schema/index.js';
import { isSqliteError, openDatabase } from '../sqlite/index.js';
import type { Database } from '../sqlite/index.js';
import type { Register } from './database.js';
import { placeOf } from './findings.js';
import { name } from './sql.js';

/** A step of a query plan (sqlite.org/eqp.html). */
interface PlanStep {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** Scanning a table with fewer rows is fast. */
const FEW_ROWS = 100;

/** Columns of an index, at most. */
const MOST_COLUMNS = 3;

/**
 * Says which tables a view scans for each of its rows, each in a sentence, with the index that would
 * help if there is one. SQLite itself is asked, on a copy of the schema without rows: an index helps
 * if the plan with it scans less.
 */
export function slownessOf(register: Register, table: Table): readonly string[] {
  const database = emptyCopy(register.schema());
  try {
    const present = new Set(columnsOf(database, table.name).map((column) => column.toLowerCase()));
    const all = table.columns.map((column) => column.name).filter((column) => present.has(column));
    const planOf = (columns: readonly string[]): readonly PlanStep[] =>
      database
        .prepare<[], PlanStep>(
          `EXPLAIN QUERY PLAN SELECT ${columns.map(name).join(', ')} FROM ${name(table.name)}`,
        )
        .all();
    const scanned = new Set(repeated(planOf(all)).flatMap((step) => scannedBy(step) ?? []));
    const found = [...scanned].map((alias) => ({
      scan: tableOf(register.schema(), database, alias),
      columns: all.filter((column) => repeated(planOf([column])).some((step) => scannedBy(step) === alias)),
    }));
    return found.flatMap(({ scan, columns }) => {
      const isKnown = isTable(database, scan);
      if (isKnown && !isLarge(register, scan)) return [];
      const column = columns.length === all.length ? null : columns.join(', ');
      const index = isKnown ? helpfulIndex(database, scan, () => costOf(planOf(all))) : [];
      const help = index.length === 0 ? '' : `; an index on ${scan}(${index.join(', ')}) would help`;
      return [`${placeOf({ table: table.name, column })}: scans ${scan} for each row${help}`];
    });
  } catch (error) {
    // A view that can't be read is reported by the check.
    if (isSqliteError(error)) return [];
    throw error;
  } finally {
    database.close();
  }
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
  const results = new Set(steps.flatMap(({ detail }) => RESULT.exec(detail)?.[1] ?? []));
  return steps.filter((step) => isRepeated(step) && !results.has(NAMED.exec(step.detail)?.[1] ?? ''));
}

const isLoop = ({ detail }: PlanStep): boolean => /^(?:SCAN|SEARCH) /.test(detail);
/** Subqueries that are run once, whatever is above them. */
const ONCE = /^(?:SCALAR SUBQUERY|LIST SUBQUERY|CO-ROUTINE|MATERIALIZE) /;
/** Results of subqueries, which have no index. */
const RESULT = /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/;
const NAMED = /^(?:SCAN|SEARCH) (\(\S+\)|\S+)/;

/** The table, or its alias, that a step reads from its beginning to its end. */
function scannedBy({ detail }: PlanStep): string | undefined {
  // A search for the least or greatest value without an index is a scan.
  const isScan = detail.startsWith('SCAN ')
    ? !/ CONSTANT ROW| VIRTUAL TABLE /.test(detail)
    : !/ USING /.test(detail);
  return isScan ? NAMED.exec(detail)?.[1] : undefined;
}

/** The table of that name or alias; the alias itself if it is not known. */
function tableOf(schema: readonly string[], database: Database, alias: string): string {
  if (isTable(database, alias) || !/^\w+$/.test(alias)) return alias;
  const named = new RegExp(String.raw`(\w+)\W?\s+(?:AS\s+)?\W?${alias}\b`, 'gi');
  const candidates = schema.flatMap((sql) => [...sql.matchAll(named)].map(([, table = '']) => table));
  return candidates.find((table) => isTable(database, table)) ?? alias;
}

const isTable = (database: Database, table: string): boolean =>
  database
    .prepare<[string]>(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE`)
    .get(table) !== undefined;

/** Whether the register has many rows in a table. */
function isLarge(register: Register, table: string): boolean {
  const [row] = register.rows<[number]>(`SELECT 1 FROM main.${name(table)} LIMIT 1 OFFSET ${FEW_ROWS}`);
  return row !== undefined;
}

/** Scans, sorts, and searches by few columns; less of an earlier one is better. */
type PlanCost = readonly [scans: number, sorts: number, searched: number];

function costOf(steps: readonly PlanStep[]): PlanCost {
  const again = repeated(steps);
  const searched = again.flatMap(({ detail }) => detail.match(/[=<>]\?/g) ?? []);
  return [
    again.filter((step) => scannedBy(step) !== undefined).length,
    again.filter(({ detail }) => detail.startsWith('USE TEMP B-TREE')).length,
    -searched.length,
  ];
}

const compare = (a: PlanCost, b: PlanCost): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/**
 * Finds the index that lowers the cost most, column by column.
 * @returns its columns; none if no index helps
 */
function helpfulIndex(database: Database, table: string, cost: () => PlanCost): readonly string[] {
  const create = (columns: readonly string[]): void =>
    void database.exec(`CREATE INDEX ${HELP} ON ${name(table)} (${columns.map(name).join(', ')})`);
  const costWith = (columns: readonly string[]): PlanCost => {
    create(columns);
    try {
      return cost();
    } finally {
      database.exec(`DROP INDEX ${HELP}`);
    }
  };
  let best: { readonly columns: readonly string[]; readonly cost: PlanCost } = { columns: [], cost: cost() };
  while (best.columns.length < MOST_COLUMNS) {
    const { columns } = best;
    const [next] = columnsOf(database, table)
      .filter((column) => !columns.includes(column))
      .map((column) => ({ columns: [...columns, column], cost: costWith([...columns, column]) }))
      .toSorted((a, b) => compare(a.cost, b.cost));
    if (next === undefined || compare(next.cost, best.cost) >= 0) break;
    best = next;
  }
  return best.columns;
}

const HELP = name('an index that may help');
