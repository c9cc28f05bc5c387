/**
 * Covers the tables of a register for all queries of a connection: what the contract lets a register
 * lack is supplied, and texts are read as SQLite stores them.
 */
import { TABLES, type Table } from '../schema/schema.js';
import { withHistories } from '../schema/measured.js';
import type { Column } from '../schema/field.js';
import { isSqliteError, type Database } from '../base/sqlite/sqlite.js';
import { name } from './sql.js';

/** The type of a column in a STRICT table. */
const sqlType = ({ type }: Column): 'INTEGER' | 'TEXT' =>
  ['text', 'time', 'date', 'enum'].includes(type) ? 'TEXT' : 'INTEGER';

/**
 * Covers each table by a temporary view of its columns, in which absent nullable ones are NULL, and a
 * missing table by an empty one, as is the list of withheld records, until the end of the transaction.
 * SQLite reads such a view like the table itself, by its key.
 * @param columnsIn see `columnReader`
 * @param notMeasured what counts as missing even if the register has it (see `MEASURABLE`)
 * @returns what was supplied: `groups.verified`, `items` for a table
 */
export function coverTables(
  database: Database,
  columnsIn: ColumnReader,
  notMeasured: readonly string[],
): readonly string[] {
  const missing = TABLES.map(({ name: table }) => table).filter((table) => columnsIn(table)?.length === 0);
  const absent = withHistories([...notMeasured, ...missing]);
  return TABLES.flatMap((table) =>
    absent.includes(table.name)
      ? supplyTable(database, table)
      : coverTable(database, table, columnsIn(table.name), absent),
  );
}

function supplyTable(database: Database, table: Table): readonly string[] {
  const key = table.key.map((column) => name(column.name)).join(', ');
  const columns = table.columns.map((column) => `${name(column.name)} ${sqlType(column)}`).join(', ');
  database.exec(`CREATE TABLE temp.${name(table.name)} (${columns}, PRIMARY KEY (${key})) WITHOUT ROWID`);
  return [table.name];
}

function coverTable(
  database: Database,
  table: Table,
  found: readonly string[] | undefined,
  columnsAbsent: readonly string[],
): readonly string[] {
  // The check reports what can't be read, or must not be absent.
  if (found === undefined) return [];
  const present = new Set(
    found
      .map((column) => column.toLowerCase())
      .filter((each) => !columnsAbsent.includes(`${table.name}.${each}`)),
  );
  const columns = table.columns
    .filter((column) => column.nullable || present.has(column.name))
    .map((column) => `${present.has(column.name) ? stored(column) : 'NULL'} AS ${name(column.name)}`);
  database.exec(
    `CREATE TEMP VIEW ${name(table.name)} AS SELECT ${columns.join(', ')} FROM main.${name(table.name)}`,
  );
  return table.columns
    .filter((column) => column.nullable && !present.has(column.name))
    .map((column) => `${table.name}.${column.name}`);
}

/**
 * A column's value without a subtype. A text that a JSON function made for a generated column or a view
 * has one, and SQLite would nest it as JSON in the JSON of a record. The plus keeps value, type and
 * collation, and makes an expression of the column: those lose subtypes at the border of a view, which
 * test/generator/exports/tables.test.ts holds each driver to. A CAST keeps them.
 */
const stored = ({ name: column, type }: Column): string => `${type === 'text' ? '+' : ''}${name(column)}`;

/** The columns of a table or view; none if it is missing, undefined if it can't be read. */
export type ColumnReader = (table: string) => readonly string[] | undefined;

/** Reads columns of the database itself, whatever temporary tables there are. */
export function columnReader(database: Database): ColumnReader {
  const columns = database
    .prepare<[string], string>(`SELECT name FROM pragma_table_xinfo(?, 'main')`)
    .pluck();
  return (table) => {
    try {
      return columns.all(table);
    } catch (error) {
      // A view of something that is gone.
      if (isSqliteError(error) && error.code === 'SQLITE_ERROR') return undefined;
      throw error;
    }
  };
}
