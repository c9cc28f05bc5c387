/**
 * SQL derived from the declarations. SQLite itself renders the JSON: measured, that is twice as
 * fast as building objects in JavaScript.
 */
import type { KeyRange } from '../routes/keys.js';
import {
  KINDS,
  columnsOf,
  type Column,
  type EntryField,
  type History,
  type Kind,
  type LinksField,
  type Reference,
  type Resource,
} from '../schema/field.js';
import type { ColumnType } from '../schema/shape.js';
import { resourceOf } from '../schema/schema.js';
import { ROUTES, routeNamed } from '../routes/routes.js';
import { halves } from '../routes/route.js';

/** What is not published, by kind: temporary tables of the connection, never of the register. */
const EXCLUSIONS = {
  /** Ids of withheld records. */
  withheld: 'INTEGER',
  /**
   * Past and present names of withheld users and groups, and each spelling of one that a reference
   * without an id has (see `markWithheld`).
   */
  withheld_name: 'TEXT',
  /** Ids of withheld and invalid records; the latter may be of any type. */
  excluded: 'BLOB',
  /** Ids of records whose ids on the platform have no paths, since they differ by case alone. */
  clashing: 'INTEGER',
} as const;

/** The table of an exclusion, for use after IN: SQLite searches it without making a copy. */
export const exclusion = (list: keyof typeof EXCLUSIONS, kind: Kind): string => `temp._${list}_${kind}`;

export const EXCLUSION_TABLES = KINDS.flatMap((kind) =>
  (['withheld', 'withheld_name', 'excluded', 'clashing'] as const).map((list) => ({
    table: exclusion(list, kind),
    type: EXCLUSIONS[list],
  })),
);

/** Creates the temporary tables. */
export const TEMPORARY: readonly string[] = EXCLUSION_TABLES.map(
  ({ table, type }) => `CREATE TABLE ${table} (value ${type} PRIMARY KEY) WITHOUT ROWID`,
);

/** Double-quoted identifier: \`groups\` is a keyword. */
export const name = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;

/** Single-quoted text. */
export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** A selection of records. */
export type Scope = 'all' | KeyRange;

/** A table or view, restricted to the rows of a scope's records, for a FROM clause. */
const rowsIn = (scope: Scope, table: string, key: string): string =>
  scope === 'all'
    ? name(table)
    : `(SELECT * FROM ${name(table)} WHERE ${name(key)} BETWEEN ${scope.low} AND ${scope.high})`;

/** Condition that a record may be published: neither withheld nor invalid. */
export const isPublished = (kind: Kind, column = 'id'): string =>
  // The plus removes the column's affinity: '7' must not match 7. A text that is no UTF-8 can't be excluded.
  `(typeof(${name(column)}) = 'integer' AND +${name(column)} NOT IN ${exclusion('excluded', kind)})`;

/** Condition that a reference points to a withheld record, by id or, without an id, by name. */
function isWithheld({ id, name: nameColumn, kind }: Reference): string {
  const points = (to: Kind): string =>
    `(${name(id)} IN ${exclusion('withheld', to)}` +
    // An exact comparison, whatever the column's collation is.
    ` OR (${name(id)} IS NULL AND ${name(nameColumn)} COLLATE BINARY IN ${exclusion('withheld_name', to)}))`;
  if (kind === 'user') return points('user');
  // If the kind was not measured, the reference may be to either.
  const type = name(kind.column);
  return `((${type} IS NOT 'group' AND ${points('user')}) OR (${type} IS NOT 'user' AND ${points('group')}))`;
}

/** A column's value as it may be published. */
export function publishedValue(column: Pick<Column, 'name' | 'identifies'>): string {
  const value = name(column.name);
  return column.identifies === undefined
    ? value
    : `CASE WHEN ${isWithheld(column.identifies)} THEN NULL ELSE ${value} END`;
}

const asJson = (type: ColumnType, sql: string): string =>
  type === 'boolean' ? `CASE ${sql} WHEN 1 THEN json('true') WHEN 0 THEN json('false') END` : sql;

/** A field that is one SQL expression. */
export type PlainField = EntryField | LinksField;

/** Whether a register has documents at a route of its records. */
type IsThere = (route: string) => boolean;

function fieldValue(field: PlainField, isThere: IsThere): string {
  switch (field.is) {
    case 'column':
      return asJson(field.column.type, publishedValue(field.column));
    case 'computed':
      return asJson(field.type, field.sql);
    case 'links':
      return jsonObject(
        Object.entries(field.targets).map(([link, target]) => [
          link,
          typeof target !== 'string' ? pathTo(target) : isThere(target) ? pathOf(target, 'id') : 'NULL',
        ]),
      );
    case 'object': {
      const parts = field.fields.map((part) => [part.name, fieldValue(part, isThere)] as const);
      const unmeasured = parts.map(([, value]) => `${value} IS NULL`).join(' AND ');
      return `CASE WHEN ${unmeasured} THEN NULL ELSE ${jsonObject(parts)} END`;
    }
  }
}

/** The path of a route by id. @param id SQL; the path is null if the id is */
function pathOf(route: string, id: string): string {
  const [before, after] = halves(routeNamed(ROUTES, route).path);
  return `${literal(before)} || ${id} || ${literal(after)}`;
}

/** The kinds of records that other records refer to. */
export const REFERRED = ['user', 'group'] as const;

/** The path of the record that a row refers to; null if its id or kind is not published. */
function pathTo(reference: Reference): string {
  const { id, kind } = reference;
  const path = (to: Kind): string =>
    pathOf(resourceOf(to).record.route, publishedValue({ name: id, identifies: reference }));
  if (kind === 'user') return path(kind);
  const paths = REFERRED.map((to) => `WHEN ${literal(to)} THEN ${path(to)}`);
  return `CASE ${name(kind.column)} ${paths.join(' ')} END`;
}

const jsonObject = (members: readonly (readonly [string, string])[]): string =>
  `json_object(${members.map(([key, value]) => `${literal(key)}, ${value}`).join(', ')})`;

/** SQL for the JSON object of some fields. @param isThere of a link that is to no document, the path is null */
export const objectOf = (fields: readonly PlainField[], isThere: IsThere = () => true): string =>
  jsonObject(fields.map((field) => [field.name, fieldValue(field, isThere)]));

/** The rows of a history in order, with values of neighbouring rows if needed. */
function historyRows(
  kind: Kind,
  history: History,
  scope: Scope,
  condition = isPublished(kind, history.key.name),
): string {
  const key = name(history.key.name);
  const order = name(history.order.name);
  const columns = new Set(
    [history.key, history.order, ...columnsOf(history.fields)].map((c) => name(c.name)),
  );
  // Reading neighbours multiplies the cost of a row, so only histories that need them do.
  const neighbours = Object.entries(NEIGHBOURS)
    .filter(([column]) =>
      history.fields.some((field) => field.is === 'computed' && field.sql.includes(column)),
    )
    .map(([column, sql]) => `, ${sql} AS ${column}`)
    .join('');
  const window = neighbours === '' ? '' : `WINDOW w AS (PARTITION BY ${key} ORDER BY ${order})`;
  return (
    `SELECT ${[...columns].join(', ')}${neighbours} FROM ${rowsIn(scope, history.table, history.key.name)}` +
    ` WHERE ${condition} ${window} ORDER BY ${key}, ${order}`
  );
}

/** What computed fields may use of an entry's neighbours (see `History`). */
const NEIGHBOURS = {
  previous_last: 'lag(last_measured_at) OVER w',
  is_last: 'lead(1, 1, 0) OVER w = 0',
};

/**
 * A history as rows of (record id, number of entries, JSON list), ordered by id, so that one merge
 * pairs it with the records. A query per record is three times slower, and far worse on a view.
 *
 * An aggregate takes the rows in the order of its subquery: SQLite keeps that order for all
 * aggregates but count, min and max, and driver.test.ts holds each driver to it. ORDER BY inside the
 * aggregate would sort again: measured, half as long again.
 * @param condition which entries to list, instead of those of all published records
 */
export function historyQuery(kind: Kind, history: History, scope: Scope, condition?: string): string {
  const key = name(history.key.name);
  return (
    `SELECT ${key}, count(*), json_group_array(${objectOf(history.fields)})` +
    ` FROM (${historyRows(kind, history, scope, condition)}) GROUP BY ${key}`
  );
}

/** The same rows with an empty list, if only the number of entries is needed. */
export const countsQuery = (kind: Kind, { table, key }: History): string =>
  `SELECT ${name(key.name)}, count(*), '[]' FROM ${name(table)} WHERE ${isPublished(kind, key.name)}` +
  ` GROUP BY ${name(key.name)} ORDER BY ${name(key.name)}`;

/** A history's entries one by one, ordered by record id and position. */
export const entriesQuery = (kind: Kind, history: History, columns: readonly string[]): string =>
  `SELECT ${columns.join(', ')} FROM (${historyRows(kind, history, 'all')})`;

/** The records of a kind, ordered by id. */
export const recordsQuery = (
  { kind, plural }: Resource,
  columns: readonly string[],
  scope: Scope = 'all',
  condition = isPublished(kind),
): string =>
  `SELECT ${columns.join(', ')} FROM ${rowsIn(scope, plural, 'id')} WHERE ${condition} ORDER BY id`;
