/** Counts what is published of each table, so that the removal guard notices a loss. */
import type { TableCounts } from '../publish/state.js';
import type { Context } from '../register/context.js';
import { isPublished, name, publishedValue } from '../register/sql.js';
import type { Kind } from '../schema/field.js';
import { recordKey, resourceOf, type Table } from '../schema/schema.js';

/** Counts in one pass over a table what the exclusions of the connection let be published. */
export function countTable(
  { register }: Context,
  { kind, table }: { readonly kind: Kind; readonly table: Table },
): TableCounts {
  const isOfRecords = table.name === resourceOf(kind).plural;
  const nullable = table.columns.filter((column) => column.nullable);
  const [rows, newest, ...values] = register.integers(
    `SELECT count(*), ${isOfRecords ? 'max(measured_at)' : 'NULL'}` +
      nullable.map((column) => `, count(${publishedValue(column)})`).join('') +
      ` FROM ${name(table.name)} WHERE ${isPublished(kind, recordKey(table))}`,
  );
  return {
    rows: Number(rows),
    values: Object.fromEntries(nullable.map((column, index) => [column.name, Number(values[index])])),
    ...(isOfRecords && { newest: typeof newest === 'string' ? newest : null }),
  };
}
