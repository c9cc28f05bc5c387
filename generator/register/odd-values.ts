/** Values that the contract allows and that are probably mistakes. */
import { closest } from '../closest.js';
import { number } from '../progress.js';
import { TABLES } from '../schema/index.js';
import type { Table } from '../schema/index.js';
import type { Column } from '../schema/field.js';
import type { Register } from './database.js';
import { literal, name } from './sql.js';
import { warningOf } from './warning.js';
import type { Warning } from './warning.js';

/** A table with fewer rows says little of what is usual. */
const FEW_ROWS = 10;
/** A value so many times as large as the next one stands out. */
const STANDS_OUT = 1000n;
/** Of two names, how many letters differ at most for one to be meant by the other. */
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
    const own = ownColumns(register, table);
    const read = table.columns.filter((column) => register.measured.has(`${table.name}.${column.name}`));
    return rows === 0 ? [] : [...misnamed(table, own, rows), ...oddColumns(register, table, read, rows)];
  }),
];

const notRead = (meant: string): string => `is not read, and ${meant} is absent: did you mean ${meant}?`;

/** Views of another name than the table that is absent. A table may be what views are made of. */
function misnamedViews(register: Register): readonly Warning[] {
  const views = [
    ...register.rows<[string]>(`SELECT name FROM main.sqlite_schema WHERE type = 'view'`),
  ].flat();
  const known = TABLES.map((table) => table.name);
  const absent = known.filter((table) => register.absent.includes(table));
  return views
    .filter((view) => !known.includes(view.toLowerCase()))
    .flatMap((view) => {
      const meant = closest(view.toLowerCase(), absent, SLIP);
      return meant === undefined
        ? []
        : [{ table: view, column: null, message: notRead(meant), count: 0, examples: [] }];
    });
}

/** The columns that the register itself has, in lower case. */
const ownColumns = (register: Register, table: Table): readonly string[] =>
  [
    ...register.rows<[string]>(`SELECT lower(name) FROM pragma_table_xinfo(${literal(table.name)}, 'main')`),
  ].flat();

/** Columns of another name than the one that is absent. */
function misnamed(
  { name: table, columns }: Table,
  own: readonly string[],
  count: number,
): readonly Warning[] {
  const known = columns.map((column) => column.name);
  const absent = known.filter((column) => !own.includes(column));
  return own
    .filter((column) => !known.includes(column))
    .flatMap((column) => {
      const meant = closest(column, absent, SLIP);
      return meant === undefined ? [] : [{ table, column, message: notRead(meant), count, examples: [] }];
    });
}

interface Oddity {
  /** A condition on a value. */
  readonly sql: (value: string) => string;
  readonly message: string;
}

const EPOCH: Oddity = {
  sql: (value) => `${value} BETWEEN '1970-01-01' AND '1970-01-02'`,
  message: 'is on 1 January 1970, which stands for no time in most databases',
};

/** A clock of another machine may be ahead by some time, and a time without a zone by hours. */
const FUTURE: Oddity = {
  sql: (value) => `${value} > strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+1 day')`,
  message: 'is in the future',
};

/** By the type of the column. */
const ODDITIES: Readonly<Partial<Record<Column['type'], readonly Oddity[]>>> = {
  text: [{ sql: (value) => `instr(${value}, char(0)) > 0`, message: 'has a NUL in it' }],
  time: [EPOCH, FUTURE],
};

const isOdd = (value: string, { type }: Column): string =>
  (ODDITIES[type] ?? []).map(({ sql }) => sql(value)).join(' OR ') || 'NULL';

/** What is asked of each column, in one query. */
const ASKED = {
  measured: (value: string) => `count(${value})`,
  largest: (value: string) => `max(${value})`,
  odd: (value: string, column: Column) => `count(nullif(${isOdd(value, column)}, 0))`,
};

function oddColumns(
  register: Register,
  table: Table,
  columns: readonly Column[],
  rows: number,
): readonly Warning[] {
  const from = name(table.name);
  const asked = columns.flatMap((column) =>
    Object.values(ASKED).map((ask) => ask(name(column.name), column)),
  );
  const values = register.integers(`SELECT ${asked.join(', ')} FROM ${from}`);
  const found = columns.map((column, index) => {
    const [measured, largest, odd] = values.slice(index * 3, index * 3 + 3);
    return { column, measured: Number(measured), largest, odd: Number(odd) };
  });
  const unmeasured = found.filter(({ measured }) => rows >= FEW_ROWS && measured === 0);
  const counts = found.flatMap(({ column, measured, largest }) =>
    column.type === 'count' && measured >= FEW_ROWS && typeof largest === 'bigint' && largest >= STANDS_OUT
      ? [{ column: column.name, largest }]
      : [],
  );
  return [
    ...found.flatMap(({ column, odd }) => {
      if (odd === 0) return [];
      return (ODDITIES[column.type] ?? []).flatMap(({ sql, message }) =>
        warningOf(register, table, column.name, { from: `${from} WHERE ${sql(name(column.name))}`, message }),
      );
    }),
    ...outstanding(register, table, counts),
    ...neverMeasured(
      table,
      unmeasured.map(({ column }) => column.name),
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
function neverMeasured(
  { name: table }: Table,
  columns: readonly string[],
  count: number,
): readonly Warning[] {
  if (columns.length === 0) return [];
  const message =
    columns.length === 1
      ? "is NULL in every row; if you don't measure it, say so (not_measured in operator.json)"
      : "are NULL in every row; if you don't measure them, say so (not_measured in operator.json)";
  return [{ table, column: columns.join(', '), message, count, examples: [] }];
}
