/** The changes in the register's histories, by when they were measured. */
import {
  columnsOf,
  type Column,
  type ColumnField,
  type History,
  type ObjectField,
  type Resource,
} from '../../schema/field.js';
import { group } from '../../schema/group.js';
import { user } from '../../schema/user.js';
import type { Register } from '../../register/database.js';
import { isPublished, name, publishedValue } from '../../register/sql.js';

/** The values of a history entry, besides its times: up to three columns. */
export type Values = readonly (string | number | null)[];

/** A history in which every entry, except the first of each record, is a change. */
export interface ChangeSource {
  readonly resource: Resource;
  readonly history: History;
  /** The changed field, as it appears in entry ids. */
  readonly field: 'name' | 'owner' | 'username';
  /** The fields of a value, and their columns. */
  readonly fields: readonly (ColumnField | ObjectField)[];
  readonly values: readonly Column[];
  /** The history of names, if an entry says which name the record had. */
  readonly names?: History;
}

export const NAMES = source(group, 'names', 'name', ['name']);
export const OWNERS: ChangeSource = {
  ...source(group, 'owners', 'owner', ['owner_state', 'owner']),
  names: NAMES.history,
};
export const USERNAMES = source(user, 'usernames', 'username', ['username']);

export const GROUP_CHANGES: readonly ChangeSource[] = [NAMES, OWNERS];
export const USER_CHANGES: readonly ChangeSource[] = [USERNAMES];

function source(
  resource: Resource,
  historyName: string,
  field: ChangeSource['field'],
  names: readonly string[],
): ChangeSource {
  const history = resource.histories.find((candidate) => candidate.name === historyName);
  if (history === undefined) throw new TypeError(`${resource.kind} has no history "${historyName}"`);
  const fields = names.map((wanted) => {
    const found = history.fields.find((candidate) => candidate.name === wanted);
    if (found === undefined || found.is === 'computed')
      throw new TypeError(`history "${historyName}" has no column or object "${wanted}"`);
    return found;
  });
  return { resource, history, field, fields, values: columnsOf(fields) };
}

/** A change of a record's value. */
export interface ValueChange {
  readonly source: ChangeSource;
  readonly id: number;
  /** The new value's position in the history. */
  readonly position: number;
  readonly from: Values;
  readonly to: Values;
  /** When it happened, if the platform dates it. */
  readonly changedAt: string | null;
  /** The first reading with the new value. */
  readonly measuredAt: string;
  /** The last reading with the old value; null if both were learned at once. */
  readonly changedAfter: string | null;
  /** The record's name at that reading; null if it is unknown, or the source doesn't ask for it. */
  readonly name: string | null;
}

type ChangeRow = readonly [
  source: number,
  id: number,
  position: number,
  changedAt: string | null,
  measuredAt: string,
  changedAfter: string | null,
  name: string | null,
  ...values: (string | number | null)[],
];

/**
 * So many of the newest changes of published records, newest first; those from one reading in reverse
 * order of when they happened. Ties are broken by source, id and position, so the order is stable.
 */
export function* changes(
  register: Register,
  sources: readonly ChangeSource[],
  count: number,
): Generator<ValueChange> {
  const width = Math.max(...sources.map(({ values }) => values.length));
  const queries = sources.map((from, index) => query(from, index, width));
  const order = `ORDER BY ${ORDER.join(' DESC, ')} DESC`;
  // Names are looked up last, for these entries alone: a view may have to be scanned for each.
  const named = sources.flatMap(({ names }, index) =>
    names === undefined ? [] : ` WHEN ${index} THEN ${nameThen(names)}`,
  );
  const nameSql = named.length === 0 ? 'NULL' : `CASE source${named.join('')} END`;
  const rows = register.rows<ChangeRow>(
    `SELECT source, id, position, changed_at, measured_at, changed_after, ${nameSql}, ${valueNames(width).join(', ')}` +
      ` FROM (SELECT * FROM (${queries.join(' UNION ALL ')}) ${order} LIMIT ${count}) AS entry ${order}`,
  );
  for (const [index, id, position, changedAt, measuredAt, changedAfter, name, ...values] of rows) {
    const from = sources[index];
    if (from === undefined) throw new TypeError(`no source ${index} of changes`);
    const columns = from.values.length;
    yield {
      source: from,
      id,
      position,
      from: values.slice(width, width + columns),
      to: values.slice(0, columns),
      changedAt,
      measuredAt,
      changedAfter,
      name,
    };
  }
}

const ORDER = ['measured_at', 'coalesce(changed_at, measured_at)', 'source', 'id', 'position'];

/** The changes of one source, padded to the number of values of the widest source. */
function query({ resource, history, values }: ChangeSource, index: number, width: number): string {
  const places = Array.from({ length: width }, (_, place) => place);
  const own = (place: number): string | undefined => {
    const column = values[place];
    return column === undefined ? undefined : publishedValue(column);
  };
  const columns = columnsOf(history.fields).map((column) => column.name);
  const changedAt = columns.includes('changed_at') ? 'changed_at' : 'NULL';
  // Declared fields refer to neighbouring rows by these names.
  const entries =
    `SELECT ${name(history.key.name)} AS id, ${name(history.order.name)} AS position, first_measured_at,` +
    ` last_measured_at, ${changedAt} AS changed_at` +
    places.map((place) => `, ${own(place) ?? 'NULL'} AS to_${place}`).join('') +
    // Most records have a single entry, so no change: skipping them halves the time.
    ` FROM ${name(history.table)} WHERE ${name(history.key.name)} IN (SELECT ${name(history.key.name)}` +
    ` FROM ${name(history.table)} GROUP BY ${name(history.key.name)} HAVING count(*) > 1)` +
    ` AND ${isPublished(resource.kind, history.key.name)}`;
  const neighbours =
    `SELECT *, lag(last_measured_at) OVER w AS previous_last` +
    places
      .map((place) => `, ${place < values.length ? `lag(to_${place}) OVER w` : 'NULL'} AS from_${place}`)
      .join('') +
    ` FROM (${entries}) WINDOW w AS (PARTITION BY id ORDER BY position)`;
  return (
    `SELECT ${index} AS source, id, position, changed_at, first_measured_at AS measured_at, changed_after, ` +
    `${valueNames(width).join(', ')} FROM (SELECT *, ${afterSql(history)} AS changed_after FROM (${neighbours})` +
    ` WHERE previous_last IS NOT NULL)`
  );
}

/** The columns of new values, then those of old ones. */
const valueNames = (width: number): readonly string[] =>
  ['to', 'from'].flatMap((which) => Array.from({ length: width }, (_, place) => `${which}_${place}`));

/** The name that a record had when an entry was measured first: not the current one, which may change. */
const nameThen = ({ table, key, order }: History): string =>
  `(SELECT name FROM ${name(table)} AS named WHERE named.${name(key.name)} = entry.id` +
  ` AND named.first_measured_at <= entry.measured_at ORDER BY named.${name(order.name)} DESC LIMIT 1)`;

/** The lower bound, as in the history's own document. */
function afterSql({ name: history, fields }: History): string {
  const field = fields.find((candidate) => candidate.name === 'changed_after');
  if (field?.is !== 'computed')
    throw new TypeError(`history "${history}" has no time at which an entry changed`);
  return field.sql;
}
