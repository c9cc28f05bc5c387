/** SQL that pages through a table by its key. Without an index, each page would scan the table. */
import type { History, Resource } from '../schema/field.js';
import type { ValueType } from '../schema/shape.js';
import { entriesQuery, isPublished, literal, name, recordsQuery } from './sql.js';

/** END follows each cell of a page's column, EMPTY is an empty text; UTF-8 has neither byte. */
export const END = 0xff;
export const EMPTY = 0xfe;

const byte = (value: number): string => `CAST(x'${value.toString(16)}' AS TEXT)`;

export interface PageColumn {
  readonly sql: string;
  readonly type: ValueType;
}

/** A page's bounds: keys above the first parameter, up to the second. */
const PAGE = 'WITH _page (above, up_to) AS (SELECT ?, ?)';

/** Condition that a key is within a page, for a table with an index on the key. */
const inPage = (key: string): string =>
  `${name(key)} > (SELECT above FROM _page) AND ${name(key)} <= (SELECT up_to FROM _page)`;

/** A value as unquoted CSV; NULL is empty. */
function asCell(value: string, type: ValueType): string {
  if (type === 'boolean') return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE '' END`;
  // Some collations equate spaces with nothing.
  if (type === 'text')
    return `ifnull(CASE ${value} COLLATE BINARY WHEN '' THEN ${byte(EMPTY)} ELSE ${value} END, '')`;
  return `ifnull(${value}, '')`;
}

/**
 * Selects a page of records, or of a history's entries, as one row: the number of rows, and each
 * column as bytes in key order, with END after each cell. Much faster than row by row. Parameters:
 * see `PAGE`.
 */
export function pageQuery(
  resource: Resource,
  history: History | undefined,
  columns: readonly PageColumn[],
): string {
  const { kind } = resource;
  const key = history?.key.name ?? 'id';
  const page = `${inPage(key)} AND ${isPublished(kind, key)}`;
  const named = columns.map(({ sql }, index) => `${sql} AS c${index}`);
  const rows =
    history === undefined
      ? recordsQuery(resource, named, 'all', page)
      : entriesQuery(kind, history, named, page);
  const end = byte(END);
  const cells = columns.map(
    ({ type }, index) => `CAST(group_concat(${asCell(`c${index}`, type)}, ${end}) || ${end} AS BLOB)`,
  );
  return `${PAGE} SELECT ${['count(*)', ...cells].join(', ')} FROM (${rows})`;
}

/** The key of a page's last row. Parameters: the previous page's last key, the rows to skip. */
export function pageEndQuery({ kind, plural }: Resource, history: History | undefined): string {
  const key = history?.key.name ?? 'id';
  return (
    `SELECT ${name(key)} FROM ${name(history?.table ?? plural)}` +
    ` WHERE ${name(key)} > ? AND ${isPublished(kind, key)} ORDER BY ${name(key)} LIMIT 1 OFFSET ?`
  );
}

/**
 * Selects 1 if the columns are the primary key of a table or its prefix; views have none. A view
 * that only supplies absent columns (see absent.ts) is read by the key of its table.
 */
export const isKeyQuery = (table: string, columns: readonly string[]): string =>
  `SELECT count(*) = ${columns.length} FROM pragma_table_info(${literal(table)}, 'main')` +
  ` WHERE (name, pk) IN (VALUES ${columns.map((column, index) => `(${literal(column)}, ${index + 1})`).join(', ')})`;
