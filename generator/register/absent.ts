/** Supplies what the contract lets a register lack, so that no query has to care. */
import { TABLES, WITHHELD } from '../schema/index.js';
import type { Table } from '../schema/index.js';
import type { Column } from '../schema/field.js';
import { isSqliteError } from '../sqlite/index.js';
import type { Database } from '../sqlite/index.js';
import { name } from './sql.js';

/** The type of a column in a STRICT table. */
export const sqlType = ({ type }: Column): 'INTEGER' | 'TEXT' =>
  type === 'text' || type === 'time' || type === 'enum' ? 'TEXT' : 'INTEGER';

/**
 * Gives a connection what its register lacks, until the end of the transaction: a table without
 * some nullable columns is covered by a temporary view in which they are NULL, and a missing list
 * of withheld records by an empty one. SQLite reads such a view like the table itself, by its key.
 * @param columnsIn see `columnReader`
 * @returns what was supplied: `groups.verified`, or `withheld` for the list
 */
export const supplyAbsent = (database: Database, columnsIn: ColumnReader): readonly string[] =>
  TABLES.flatMap((table) => {
    const found = columnsIn(table.name);
    // What can't be read, or must not be absent, is for the check to report.
    if (found === undefined) return [];
    if (found.length > 0) return supplyColumns(database, table, found);
    return table === WITHHELD ? supplyTable(database, table) : [];
  });

function supplyTable(database: Database, table: Table): readonly string[] {
  const key = table.key.map((column) => name(column.name)).join(', ');
  const columns = table.columns.map((column) => `${name(column.name)} ${sqlType(column)}`).join(', ');
  database.exec(`CREATE TABLE temp.${name(table.name)} (${columns}, PRIMARY KEY (${key})) WITHOUT ROWID`);
  return [table.name];
}

function supplyColumns(database: Database, table: Table, found: readonly string[]): readonly string[] {
  const present = new Set(found.map((column) => column.toLowerCase()));
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
