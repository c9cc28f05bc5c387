/**
 * The tables of the bulk downloads, derived from the declarations of fields: one for each kind of record and
 * each history. All formats and the Data Package use these.
 */
import { entriesQuery, publishedValue, recordsQuery } from '../register/sql.js';
import type { Column, Field, History, Resource, DerivedField } from '../schema/field.js';
import type { Value, Shape } from '../schema/shape.js';
import { RESOURCES } from '../schema/schema.js';
import { DOWNLOADS } from '../routes/exports.js';
import { isMeasured } from '../routes/routes.js';
import type { Measured } from '../schema/measured.js';

/** Where a column's values come from: SQL, or a path in a derived field's value. */
export type ColumnSource =
  { readonly sql: string } | { readonly derived: DerivedField; readonly place: readonly string[] };

/** A column of an export. Nested fields are flattened to register names; links are left out. */
export interface ExportColumn {
  readonly value: Value;
  /** Where the JSON of the document has it: `owner.id`, or `members[].measured_at` of a history. */
  readonly json: string;
  readonly from: ColumnSource;
}

/** A table of the bulk downloads: all records or entries, ordered by key. */
export interface Export {
  /** The register's table, and the base name of the files. */
  readonly name: string;
  readonly description: string;
  readonly resource: Resource;
  /** The route of the documents that have its rows. */
  readonly document: string;
  /** Set for a table of history entries; otherwise it holds records. */
  readonly history: History | undefined;
  readonly key: readonly string[];
  readonly columns: readonly ExportColumn[];
  /** The query for its rows, ordered by key, with these columns, as SQL. */
  readonly query: (columns: readonly string[]) => string;
}

function recordExport(resource: Resource): Export {
  const { kind, plural, record } = resource;
  return {
    name: plural,
    description: `The measured record of every ${kind}, one row each.`,
    resource,
    document: record.route,
    history: undefined,
    key: ['id'],
    columns: record.fields.flatMap(columnsOf),
    query: (columns) => recordsQuery(resource, columns),
  };
}

function historyExport(resource: Resource, history: History): Export {
  const { key, order, table, fields, description } = history;
  const rest = fields.filter(({ name }) => name !== order.name);
  const document = resource.history?.route;
  if (document === undefined) throw new TypeError(`no document has the histories of a ${resource.kind}`);
  return {
    name: table,
    description,
    resource,
    document,
    history,
    key: [key.name, order.name],
    query: (columns) => entriesQuery(resource.kind, history, columns),
    columns: [
      columnOf(key, 'id'),
      ...[columnOf(order), ...rest.flatMap(columnsOf)].map((column) => ({
        ...column,
        json: `${history.name}[].${column.json}`,
      })),
    ],
  };
}

function columnOf(column: Column, json = column.name): ExportColumn {
  return { value: column, json, from: { sql: publishedValue(column) } };
}

function columnsOf(field: Field): ExportColumn[] {
  switch (field.is) {
    case 'column':
      return [columnOf(field.column, field.name)];
    case 'object':
      // If the object is null, all its members are.
      return field.fields.flatMap(columnsOf).map(({ value, json, from }) => ({
        value: nullWith(value, field.nullMeans),
        json: `${field.name}.${json}`,
        from,
      }));
    case 'computed':
      return [{ value: field, json: field.name, from: { sql: field.sql } }];
    case 'derived':
      return leaves(field.shape, []).map(({ value, place }) => ({
        value,
        json: [field.shape.name, ...place].join('.'),
        from: { derived: field, place },
      }));
    case 'links':
    case 'list':
      return [];
  }
}

/** The leaf values of a shape, named by path: `peak` and `measured_at` give `peak_measured_at`. */
function leaves(
  shape: Shape,
  way: readonly string[],
): { readonly value: Value; readonly place: readonly string[] }[] {
  if (shape.is === 'list' || shape.is === 'values' || shape.is === 'map')
    throw new TypeError(`"${shape.name}" is a list or map, expected values to flatten`);
  const here = [...way, shape.name];
  // The path starts inside the computed value.
  if (shape.is === 'value') return [{ value: { ...shape, name: here.join('_') }, place: here.slice(1) }];
  const inside = shape.members.flatMap((member) => leaves(member, here));
  return shape.nullable
    ? inside.map(({ value, place }) => ({ value: nullWith(value, shape.nullMeans), place }))
    : inside;
}

/** A value that is null if its object is. */
function nullWith(value: Value, nullMeans: string | undefined): Value {
  return { ...value, nullable: true, ...(nullMeans === undefined ? {} : { nullMeans }) };
}

/** All exports, in display order. */
export const EXPORTS: readonly Export[] = RESOURCES.flatMap((resource) => [
  recordExport(resource),
  ...resource.histories.map((history) => historyExport(resource, history)),
]);

export function exportNamed(name: string): Export {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  return table;
}

/** The exports of what a register measures. */
export const exportsOf = (measured: Measured): readonly Export[] =>
  EXPORTS.filter(({ name }) =>
    DOWNLOADS.some((download) => download.name === name && isMeasured(download, measured)),
  );
