/** Supplies what the contract lets a register lack, so that no query has to care. */
import { TABLES } from '../schema/index.js';
import { withHistories } from '../schema/measured.js';
import type { Table } from '../schema/index.js';
import type { Column } from '../schema/field.js';
import { isSqliteError } from '../sqlite/index.js';
import type { Database } from '../sqlite/index.js';
import { name } from './sql.js';

/** The type of a column in a STRICT table. */
export const sqlType = ({ type }: Column): 'INTEGER' | 'TEXT' =>
  type === 'text' || type === 'time' || type === 'enum' ? 'TEXT' : 'INTEGER';

/**
 * Gives a connection what its register doesn't measure, until the end of the transaction: a table
 * without some nullable columns is covered by a temporary view in which they are NULL, and a missing
 * table by an empty one, as is the list of withheld records. SQLite reads such a view like the table
 * itself, by its key.
 * @param columnsIn see `columnReader`
 * @param notMeasured what counts as missing even if the register has it (see `MEASURABLE`)
 * @returns what was supplied: `groups.verified`, `items` for a table
 */
export function supplyAbsent(
  database: Database,
  columnsIn: ColumnReader,
  notMeasured: readonly string[],
): readonly string[] {
  const missing = TABLES.map(({ name: table }) => table).filter((table) => columnsIn(table)?.length === 0);
  const absent = withHistories([...notMeasured, ...missing]);
  return TABLES.flatMap((table) =>
    absent.includes(table.name)
      ? supplyTable(database, table)
      : supplyColumns(database, table, columnsIn(table.name), absent),
  );
}

function supplyTable(database: Database, table: Table): readonly string[] {
  const key = table.key.map((column) => name(column.name)).join(', ');
  const columns = table.columns.map((column) => `${name(column.name)} ${sqlType(column)}`).join(', ');
  database.exec(`CREATE TABLE temp.${name(table.name)} (${columns}, PRIMARY KEY (${key})) WITHOUT ROWID`);
  return [table.name];
}

function supplyColumns(
  database: Database,
  table: Table,
  found: readonly string[] | undefined,
  columnsAbsent: readonly string[],
): readonly string[] {
  // What can't be read, or must not be absent, is for the check to report.
  if (found === undefined) return [];
  const present = new Set(
    found
      .map((column) => column.toLowerCase())
      .filter((each) => !columnsAbsent.includes(`${table.name}.${each}`)),
  );
  const absent = table.columns.filter((column) => column.nullable && !present.has(column.name));
  if (absent.length === 0) return [];
  const columns = table.columns
    .filter((column) => column.nullable || present.has(column.name))
    .map((column) => `${present.has(column.name) ? name(column.name) : 'NULL'} AS ${name(column.name)}`);
  database.exec(
    `CREATE TEMP VIEW ${name(table.name)} AS SELECT ${columns.join(', ')} FROM main.${name(table.name)}`,
  );
  return absent.map((column) => `${table.name}.${column.name}`);
}

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
