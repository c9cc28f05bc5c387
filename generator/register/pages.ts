/** SQL that reads a table page by page, for those that find rows by their key; others would be read as a whole for each page. */
import type { History, Resource, ValueType } from '../schema/field.js';
import { entriesQuery, isPublished, literal, name, recordsQuery } from './sql.js';

/** Behind each cell of a page's column, and in the place of an empty text: bytes that no UTF-8 has. */
export const END = 0xff;
export const EMPTY = 0xfe;

const byte = (value: number): string => `CAST(x'${value.toString(16)}' AS TEXT)`;

/** A column to be read. */
export interface PageColumn {
  readonly sql: string;
  readonly type: ValueType;
}

/** What a page has: keys above the first parameter, up to the second. */
const PAGE = 'WITH _page (above, up_to) AS (SELECT ?, ?)';

/** Condition that a key is within a page, as of a table that finds rows by it. */
const inPage = (key: string): string =>
  `${name(key)} > (SELECT above FROM _page) AND ${name(key)} <= (SELECT up_to FROM _page)`;

/** A value as it stands in CSV before anything is quoted; null is nothing. */
function asCell(value: string, type: ValueType): string {
  if (type === 'boolean') return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE '' END`;
  // Whatever collation the column has: by some, spaces alone are the same as nothing.
  if (type === 'text')
    return `ifnull(CASE ${value} COLLATE BINARY WHEN '' THEN ${byte(EMPTY)} ELSE ${value} END, '')`;
  return `ifnull(${value}, '')`;
}

/**
 * A page of records, or of a history's entries, as one row: how many they are, and each column as bytes, in order of
 * the key: the cells one behind the other, END behind each. That is much faster than rows that come one by one.
 * Parameters: see `PAGE`.
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

/** The key of a page's last row. Parameters: the key that the page before ended with, how many rows to pass over. */
export function pageEndQuery({ kind, plural }: Resource, history: History | undefined): string {
  const key = history?.key.name ?? 'id';
  return (
    `SELECT ${name(key)} FROM ${name(history?.table ?? plural)}` +
    ` WHERE ${name(key)} > ? AND ${isPublished(kind, key)} ORDER BY ${name(key)} LIMIT 1 OFFSET ?`
  );
}

/** Whether rows are found by some columns: 1 where these are, or begin, the primary key of a table; a view has none. */
export const isKeyQuery = (table: string, columns: readonly string[]): string =>
  `SELECT count(*) = ${columns.length} FROM pragma_table_info(${literal(table)})` +
  ` WHERE (name, pk) IN (VALUES ${columns.map((column, index) => `(${literal(column)}, ${index + 1})`).join(', ')})`;
