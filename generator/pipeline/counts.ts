/** Counts what is published of each table, so that the removal guard notices a loss. */
import type { Described } from '../state/schema.js';
import type { Register } from '../register/database.js';
import { isPublished, isWithheld, literal, name, publishedValue } from '../register/sql.js';
import type { Kind, Resource } from '../schema/field.js';
import { recordKey, resourceOf, tablesOf, type Table } from '../schema/schema.js';

/** By table. */
export type Counts = NonNullable<Described['counts']>;
export type TableCounts = Counts[string];

/** Counts in one pass over a table what the exclusions of the connection let be published. */
export function countTable(register: Register, kind: Kind, table: Table): TableCounts {
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

/** Counts the published records of a kind that were last measured after some time. */
export const countMeasuredAfter = (register: Register, { kind, plural }: Resource, time: string): number =>
  Number(
    register.integers(
      `SELECT count(*) FROM ${name(plural)} WHERE ${isPublished(kind)} AND measured_at > ${literal(time)}`,
    )[0],
  );

/** Counts the published records of a kind that refer to a withheld one, now or in a history. */
export function countReferring(register: Register, resource: Resource): number {
  const referring = tablesOf(resource).flatMap((table) =>
    [...new Set(table.columns.flatMap(({ identifies }) => identifies ?? []))].map(
      (reference) =>
        `SELECT ${name(recordKey(table))} FROM ${name(table.name)}` +
        ` WHERE ${isPublished(resource.kind, recordKey(table))} AND ${isWithheld(reference)}`,
    ),
  );
  if (referring.length === 0) return 0;
  return Number(register.integers(`SELECT count(*) FROM (${referring.join(' UNION ')})`)[0]);
}
