/** Where the bulk downloads have the fields of a document. */
import { exportsOf } from '../../exports/tables.js';
import type { Measured } from '../../schema/measured.js';
import type { Schema } from './schemas.js';

/**
 * `x-csv-columns` of the operation that gets a document: for each table that is made of such documents,
 * the columns whose name is not that of the field, by the place of that as in `datapackage.json`: `owner.id`.
 */
export function columnsOf(route: string, measured: Measured): Schema {
  const tables = exportsOf(measured)
    .filter(({ document }) => document === route)
    .map(({ name: table, columns }) => {
      const others = columns.filter(({ json, value: { name } }) => json !== name);
      return [table, Object.fromEntries(others.map(({ json, value: { name } }) => [json, name]))] as const;
    });
  return tables.length === 0 ? {} : { 'x-csv-columns': Object.fromEntries(tables) };
}
