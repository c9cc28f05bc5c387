/** The contract as SQL, derived from the declarations: rules for values, and between rows. */
import { columnsOf, type Column, type History, type Resource } from '../schema/field.js';
import { MAX_INTEGER, MAX_TEXT_BYTES } from '../schema/shape.js';
import { RESOURCES, TABLES, historyTable, type Table } from '../schema/schema.js';
import { hintFor } from './hints.js';
import { literal, name } from './sql.js';

/** A rule that a column's value may break. */
export interface ColumnRule {
  readonly column: string;
  /** True exactly if the value breaks the rule; never NULL. */
  readonly broken: string;
  readonly expected: string;
  /** What to do about a value, if known. @param clock when the register was read */
  readonly hintFor?: (value: string, clock: string) => string | undefined;
}

/** A rule between rows or tables; `from` yields a row `t` with the key for each violation. */
export interface RowRule {
  readonly table: Table;
  readonly column: string;
  readonly from: string;
  /** SQL for the offending value, as text. */
  readonly value: string;
  readonly expected: string;
  /** SQL for what the record has, as text, if that is expected. */
  readonly record?: string;
  /** What to do about it. */
  readonly hint?: string;
}

const integer = (value: string, least: number): string =>
  `(typeof(${value}) = 'integer' AND ${value} BETWEEN ${least} AND ${MAX_INTEGER})`;

const TIME_SHAPE = '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z';
const FORMAT = '%Y-%m-%dT%H:%M:%SZ';
/**
 * Date functions are slow, and needed only for days that some months lack. SQLite accepts hour 24,
 * which RFC 3339 does not, and stops reading at a NUL; hence the comparisons of hour and length.
 */
const isTime = (value: string): string =>
  `(typeof(${value}) = 'text' AND octet_length(${value}) = 20 AND ${value} GLOB '${TIME_SHAPE}' AND substr(${value}, 12, 2) < '24' AND` +
  ` (substr(${value}, 6, 2) BETWEEN '01' AND '12' AND substr(${value}, 9, 2) BETWEEN '01' AND '28'` +
  ` OR strftime('${FORMAT}', ${value}) IS ${value}))`;

const DAY_SHAPE = TIME_SHAPE.slice(0, TIME_SHAPE.indexOf('T'));
const isDay = (value: string): string =>
  `(typeof(${value}) = 'text' AND octet_length(${value}) = 10 AND ${value} GLOB '${DAY_SHAPE}' AND date(${value}) IS ${value})`;

const TIME_WORDS = 'a time in UTC and whole seconds such as 2026-11-20T08:00:00Z';

function condition({ type, values, name: column }: Column): { valid: string; expected: string } {
  const value = name(column);
  switch (type) {
    case 'id':
    case 'ordinal':
      return { valid: integer(value, 1), expected: `an integer from 1 to ${MAX_INTEGER}` };
    case 'count':
      return { valid: integer(value, 0), expected: `an integer from 0 to ${MAX_INTEGER}` };
    case 'boolean':
      return { valid: `(typeof(${value}) = 'integer' AND ${value} IN (0, 1))`, expected: '0 or 1' };
    case 'time':
      return { valid: isTime(value), expected: TIME_WORDS };
    case 'date':
      return {
        valid: `(${isTime(value)} OR ${isDay(value)})`,
        expected: `${TIME_WORDS}, or a day such as 2020-09-16`,
      };
    case 'text':
      return { valid: `typeof(${value}) = 'text'`, expected: 'text' };
    case 'enum': {
      const allowed = (values ?? []).map(literal).join(', ');
      return {
        // Published words are compared exactly, whatever the column's collation is.
        valid: `(typeof(${value}) = 'text' AND ${value} COLLATE BINARY IN (${allowed}))`,
        expected: `one of ${(values ?? []).join(', ')}`,
      };
    }
  }
}

/** Condition that a text or BLOB is longer than a text may be; NULL for NULL. */
export const isTooLong = (sql: string): string => `octet_length(${sql}) > ${MAX_TEXT_BYTES}`;

/** The rules for each value of a table, including the order of a row's times. */
export function columnRules(table: Table): ColumnRule[] {
  return table.columns.flatMap((column) => {
    const value = name(column.name);
    const { valid, expected } = condition(column);
    const rules: ColumnRule[] = [
      {
        column: column.name,
        broken: column.nullable ? `(${value} IS NOT NULL AND NOT ${valid})` : `(NOT ${valid})`,
        expected: column.nullable ? `${expected}, or NULL` : expected,
        hintFor: (wrong) => (wrong === 'NULL' ? unread(table, column) : hintFor(column, wrong)),
      },
    ];
    if (column.type === 'text') {
      rules.push({
        column: column.name,
        broken: `(typeof(${value}) = 'text' AND ${isTooLong(value)})`,
        expected: 'text of at most 1 MiB (1,048,576 bytes of UTF-8)',
      });
    }
    if (column.nullWhere !== undefined) {
      const { column: word, values } = column.nullWhere;
      rules.push({
        column: column.name,
        broken: `(${value} IS NOT NULL AND coalesce(${name(word)}, '') COLLATE BINARY IN (${values.map(literal).join(', ')}))`,
        expected: `NULL where ${word} is ${values.join(' or ')}`,
      });
    }
    if (column.notAfter !== undefined) {
      const later = name(column.notAfter);
      rules.push({
        column: column.name,
        broken: `(typeof(${value}) = 'text' AND typeof(${later}) = 'text' AND ${value} > ${later})`,
        expected: `not later than ${column.notAfter}`,
      });
    }
    // Times such as `last_measured_at`, as opposed to those that the platform states.
    if (column.type === 'time' && column.name.endsWith('measured_at')) {
      rules.push({
        column: column.name,
        broken: `(typeof(${value}) = 'text' AND ${value} > latest_time() AND ${valid})`,
        expected: 'at most 24 hours after the clock of this machine',
        hintFor: (_, clock) => `it is ${clock} by that clock, and nothing is measured in the future`,
      });
    }
    if (column.isId === true) {
      const number = `CAST(${value} AS INTEGER)`;
      rules.push({
        column: column.name,
        broken: `(typeof(${value}) = 'text' AND ${number} BETWEEN 0 AND ${MAX_INTEGER} AND CAST(${number} AS TEXT) = ${value} COLLATE BINARY)`,
        expected: `text that is no number up to ${MAX_INTEGER}`,
        hintFor: () => `a number that can be the id itself: leave ${column.name} NULL`,
      });
    }
    return rules;
  });
}

/** The hint for NULL in a history, where a value that was not read is no row. */
const unread = ({ key }: Table, { name: column, type }: Column): string | undefined =>
  key.length > 1 && !['id', 'ordinal', 'time'].includes(type)
    ? `what was not read is no row: leave it out, by WHERE ${column} IS NOT NULL`
    : undefined;

/** The text columns of a table, which must be valid UTF-8. */
export const textColumns = (table: Table): string[] =>
  table.columns.filter((column) => column.type === 'text').map((column) => column.name);

/** Condition that a text, or several joined ones, is valid UTF-8; NULL is valid. */
export const isUtf8 = (sql: string): string => `is_utf8(CAST(coalesce(${sql}, '') AS BLOB))`;

/**
 * A value as a single line of text for `shorten` in findings.ts: texts as JSON, which escapes
 * control characters and does not stop at a NUL; invalid UTF-8 as a blob. A text that is too long is
 * cut, since the whole may be more than JavaScript can hold.
 */
export const asText = (sql: string): string =>
  `CASE WHEN ${isTooLong(sql)} THEN ${inFull(`substr(${sql}, 1, ${SHOWN_OF_LONG})`)} ELSE ${inFull(sql)} END`;

/** More than findings show of a value. */
const SHOWN_OF_LONG = 200;

const inFull = (sql: string): string =>
  `CASE WHEN typeof(${sql}) <> 'text' THEN quote(${sql})` +
  ` WHEN ${isUtf8(sql)} THEN json_quote(${sql}) ELSE quote(CAST(${sql} AS BLOB)) END`;

/** Keys must be unique. Tables declare this, but views and differently declared tables may not. */
function duplicates(table: Table): RowRule {
  const key = table.key.map((column) => name(column.name)).join(', ');
  const columns = table.key.map((column) => column.name);
  return {
    table,
    column: columns.join(', '),
    from: `(SELECT ${key}, count(*) AS "rows" FROM ${name(table.name)} GROUP BY ${key} HAVING count(*) > 1) AS t`,
    value: `"rows" || ' rows'`,
    expected: 'one row for each key',
  };
}

/** Rows that share an id of the platform: one sort finds them all. */
const sharedIds = (table: Table): readonly RowRule[] =>
  table.columns.flatMap(({ name: column, isId }): readonly RowRule[] => {
    if (isId !== true || table.kind === null) return [];
    const [value, key] = [name(column), table.key.map((each) => name(each.name)).join(', ')];
    const counted =
      `SELECT ${key}, ${value}, count(*) OVER (PARTITION BY ${value} COLLATE BINARY) AS records` +
      ` FROM ${name(table.name)} WHERE ${value} IS NOT NULL`;
    const from = `(SELECT * FROM (${counted}) WHERE records > 1) AS t`;
    return [{ table, column, from, value: asText(`t.${value}`), expected: 'the id of no other record' }];
  });

function historyRules(resource: Resource, history: History): RowRule[] {
  const table = historyTable(resource, history);
  const records = name(resource.plural);
  const entries = name(table.name);
  const key = name(history.key.name);
  const order = name(history.order.name);
  const orphan: RowRule = {
    table,
    column: history.key.name,
    from:
      `${entries} AS t WHERE ${key} IS NOT NULL` +
      // One list for all rows, since a view would be read in full for each.
      ` AND ${key} NOT IN (SELECT id FROM ${records} WHERE id IS NOT NULL)`,
    value: asText(`t.${key}`),
    expected: `the id of a row in ${resource.plural}`,
  };
  // With max(), SQLite takes the other columns from that row: each record's newest entry.
  const last = columnsOf(history.fields).some((column) => column.name === 'last_measured_at')
    ? 'last_measured_at'
    : history.order.name;
  const compared = [...new Set([history.key.name, history.order.name, last, ...Object.keys(history.agrees)])];
  const newest = `SELECT ${compared.map(name).join(', ')}, max(${order}) AS newest FROM ${entries} GROUP BY ${key}`;
  const pairs = `(${newest}) AS t JOIN ${records} AS r ON r.id = t.${key}`;
  const disagreements = Object.entries(history.agrees).map(([entryColumn, recordColumn]): RowRule => {
    const entry = `t.${name(entryColumn)}`;
    const record = `r.${name(recordColumn)}`;
    return {
      table,
      column: entryColumn,
      from: `${pairs} WHERE ${entry} <> ${record} COLLATE BINARY`,
      value: asText(entry),
      expected: `${recordColumn} of the record`,
      record: asText(record),
      hint:
        `the record has what was read last: (SELECT ${entryColumn} FROM ${history.table} WHERE ${history.key.name} = id` +
        ` ORDER BY ${history.order.name} DESC LIMIT 1) AS ${recordColumn}; or the newest reading is not in ${history.table} yet`,
    };
  });
  const late: RowRule = {
    table,
    column: last,
    // If entries are ordered by this time, checking the newest is enough.
    from:
      last === history.order.name
        ? `${pairs} WHERE t.${name(last)} > r.measured_at`
        : `${entries} AS t JOIN ${records} AS r ON r.id = t.${key} WHERE t.${name(last)} > r.measured_at`,
    value: asText(`t.${name(last)}`),
    expected: 'not later than measured_at of the record',
    record: asText('r.measured_at'),
    hint:
      `what is read of a record measures it: write the later of both times as its measured_at, such as` +
      ` max(measured_at, (SELECT max(${last}) FROM ${history.table} WHERE ${history.key.name} = id))`,
  };
  return [orphan, ...disagreements, late];
}

/** All rules between rows and tables. */
export const ROW_RULES: readonly RowRule[] = [
  ...TABLES.flatMap((table) => [duplicates(table), ...sharedIds(table)]),
  ...RESOURCES.flatMap((resource) =>
    resource.histories.flatMap((history) => historyRules(resource, history)),
  ),
];
