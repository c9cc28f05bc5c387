/** Values that the contract allows and that are probably mistakes. */
import { closest } from '../base/closest.js';
import { number } from '../base/progress.js';
import { TABLES, type Table } from '../schema/schema.js';
import type { Column } from '../schema/field.js';
import type { Register } from './database.js';
import { literal, name } from './sql.js';
import { warningOf, type Warning } from './findings.js';

/** A table with fewer rows says little of what is usual. */
const FEW_ROWS = 10;
/** A value stands out if it is this many times the next largest one. */
const STANDS_OUT = 1000n;
/** The share of letters in which a misspelled name may differ. */
const SLIP = 1 / 3;

/**
 * Warns of odd values and names of columns, in one pass over each table, and another where counts
 * are large.
 * @param counts the rows of each table
 */
export const oddValues = (
  register: Register,
  counts: Readonly<Record<string, number>>,
): readonly Warning[] => [
  ...misnamedViews(register),
  ...TABLES.flatMap((table) => {
    const { [table.name]: rows = 0 } = counts;
    return rows === 0
      ? []
      : [...misnamedColumns(register, table, rows), ...oddColumns(register, table, rows)];
  }),
];

/**
 * Warns of what is not read, and has nearly the name of what is absent.
 * @param found names in the register
 * @param warn where it was found
 */
function misnamed(
  found: readonly string[],
  known: readonly string[],
  absent: readonly string[],
  warn: (name: string) => Pick<Warning, 'table' | 'column' | 'count'>,
): readonly Warning[] {
  return found.flatMap((own) => {
    if (known.includes(own.toLowerCase())) return [];
    const meant = closest(own.toLowerCase(), absent, SLIP);
    const message = `is not read, and ${meant} is absent: did you mean ${meant}?`;
    return meant === undefined ? [] : [{ ...warn(own), message, examples: [] }];
  });
}

/** Views of another name than the table that is absent. A table may be what views are made of. */
function misnamedViews(register: Register): readonly Warning[] {
  const views = register.rows<[string]>(`SELECT name FROM main.sqlite_schema WHERE type = 'view'`);
  const known = TABLES.map((table) => table.name);
  const absent = known.filter((table) => register.absent.includes(table));
  return misnamed([...views].flat(), known, absent, (table) => ({ table, column: null, count: 0 }));
}

/** Columns of another name than the one that is absent. */
function misnamedColumns(
  register: Register,
  { name: table, columns }: Table,
  count: number,
): readonly Warning[] {
  const sql = `SELECT lower(name) FROM pragma_table_xinfo(${literal(table)}, 'main')`;
  const own = [...register.rows<[string]>(sql)].flat();
  const known = columns.map((column) => column.name);
  const absent = known.filter((column) => !own.includes(column));
  return misnamed(own, known, absent, (column) => ({ table, column, count }));
}

interface Oddity {
  /** A condition on a value. */
  readonly sql: (value: string) => string;
  readonly message: string;
}

const EPOCH: Oddity = {
  sql: (value) => `${value} >= '1970-01-01' AND ${value} < '1970-01-02'`,
  message: 'is on 1 January 1970, which stands for no time in most databases',
};

const FUTURE: Oddity = { sql: (value) => `${value} > latest_time()`, message: 'is in the future' };

/** By the type of the column. */
const ODDITIES: Readonly<Partial<Record<Column['type'], readonly Oddity[]>>> = {
  text: [{ sql: (value) => `instr(${value}, char(0)) > 0`, message: 'has a NUL in it' }],
  time: [EPOCH, FUTURE],
  date: [EPOCH, FUTURE],
};

const isOdd = (value: string, { type }: Column): string =>
  (ODDITIES[type] ?? []).map(({ sql }) => sql(value)).join(' OR ') || 'NULL';

function oddColumns(register: Register, table: Table, rows: number): readonly Warning[] {
  const from = name(table.name);
  const columns = table.columns.filter((column) => register.measured.has(`${table.name}.${column.name}`));
  const values = columns.flatMap((column) => {
    const value = name(column.name);
    const largest = column.type === 'count' ? `max(${value})` : 'NULL';
    return [`count(${value})`, largest, `count(nullif(${isOdd(value, column)}, 0))`];
  });
  const found = register.integers(`SELECT ${values.join(', ')} FROM ${from}`);
  const read = columns.map((column, index) => {
    const [measured, largest, odd] = found.slice(index * 3, index * 3 + 3);
    return { ...column, measured: Number(measured), largest, isOdd: Number(odd) > 0 };
  });
  // Ids of the platform that are numbers need no others.
  const unmeasured = read.filter(
    ({ measured, isId }) => rows >= FEW_ROWS && measured === 0 && isId === undefined,
  );
  const counts = read.flatMap(({ name: column, type, measured, largest }) =>
    type === 'count' && measured >= FEW_ROWS && typeof largest === 'bigint' && largest >= STANDS_OUT
      ? [{ column, largest }]
      : [],
  );
  return [
    ...read
      .filter((column) => column.isOdd)
      .flatMap(({ name: column, type }) =>
        (ODDITIES[type] ?? []).flatMap(({ sql, message }) =>
          warningOf(register, table, column, { from: `${from} WHERE ${sql(name(column))}`, message }),
        ),
      ),
    ...outstanding(register, table, counts),
    ...neverMeasured(
      table.name,
      unmeasured.map((column) => column.name),
      rows,
    ),
  ];
}

/** Counts of which the largest is far from the next one. */
function outstanding(
  register: Register,
  table: Table,
  counts: readonly { readonly column: string; readonly largest: bigint }[],
): readonly Warning[] {
  if (counts.length === 0) return [];
  const from = name(table.name);
  const below = counts.map(
    ({ column, largest }) => `max(iif(${name(column)} < ${largest}, ${name(column)}, NULL))`,
  );
  const nexts = register.integers(`SELECT ${below.join(', ')} FROM ${from}`);
  return counts.flatMap(({ column, largest }, index) => {
    const next = nexts[index];
    if (typeof next !== 'bigint' || largest < STANDS_OUT * (next || 1n)) return [];
    const message = `is ${number(Number(largest))}, and the next largest is ${number(Number(next))}`;
    return warningOf(register, table, column, {
      from: `${from} WHERE ${name(column)} = ${largest}`,
      message,
    });
  });
}

/** Columns that could be left out, in one warning for all of a table. */
function neverMeasured(table: string, columns: readonly string[], count: number): readonly Warning[] {
  if (columns.length === 0) return [];
  const [are, them] = columns.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const message = `${are} NULL in every row; if you don't measure ${them}, say so (not_measured in operator.json)`;
  return [{ table, column: columns.join(', '), message, count, examples: [] }];
}
