/** What a register that keeps the contract has: counts, and what may be a mistake all the same. */
import type { History, Resource } from '../schema/field.js';
import { columnsOf } from '../schema/field.js';
import { RESOURCES, TABLES, WITHHELD } from '../schema/index.js';
import { keyText, SHOWN_EXAMPLES } from './findings.js';
import type { Register } from './database.js';
import { literal, name } from './sql.js';

/** Something that may be a mistake. */
export interface Warning {
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  /** How many records. */
  readonly count: number;
  /** At most `SHOWN_EXAMPLES` of them, as `id = 7`. */
  readonly examples: readonly string[];
}

/** The rows of each table. */
export type RowsByTable = Readonly<Record<string, number>>;

export const countRows = (register: Register): RowsByTable =>
  Object.fromEntries(
    TABLES.map((table) => {
      const [rows] = register.integers(`SELECT count(*) FROM ${name(table.name)}`);
      return [table.name, Number(rows)];
    }),
  );

/** Finds what doesn't fit the records. @param counts see `countRows` */
export const warningsOf = (register: Register, counts: RowsByTable): readonly Warning[] => [
  ...unfitHistories(counts, register),
  ...unknownWithheld(register),
];

const unfitHistories = (counts: RowsByTable, register: Register): readonly Warning[] =>
  RESOURCES.flatMap((resource) =>
    resource.histories.flatMap((history): readonly Warning[] => {
      const { [resource.plural]: records = 0, [history.table]: entries = 0 } = counts;
      if (records === 0) return [];
      const { table } = history;
      if (entries > 0) return disagreements(register, resource, history);
      const message = `is empty, though ${resource.plural} has records: their histories of ${history.name} will be empty`;
      return [{ table, column: null, message, count: records, examples: [] }];
    }),
  );

/** Ids in the list of withheld records that have no record. They may be mistyped. */
export const unknownWithheld = (register: Register): readonly Warning[] =>
  RESOURCES.flatMap(({ kind, plural }) => {
    const ids = `SELECT id FROM ${name(WITHHELD.name)} WHERE kind = ${literal(kind)}`;
    // A view may be slow to search, so it is read once.
    const unknown = `(${ids} EXCEPT SELECT id FROM ${name(plural)} WHERE id IN (${ids}))`;
    return warning(register, WITHHELD.name, 'id', {
      from: unknown,
      message: `has ids without a row in ${plural}`,
    });
  });

/** Records with a history of names and no current one, or with a name and no history. */
function disagreements(register: Register, resource: Resource, history: History): readonly Warning[] {
  const { plural } = resource;
  const names = new Set(
    columnsOf(history.fields).flatMap((c) => (c.type === 'text' && !c.nullable ? [c.name] : [])),
  );
  const key = name(history.key.name);
  const listed = `SELECT ${key} FROM ${name(history.table)} WHERE ${key} IS NOT NULL`;
  return Object.entries(history.agrees)
    .filter(([column]) => names.has(column))
    .flatMap(([, column]) => [
      ...warning(register, plural, column, {
        from: `${name(plural)} WHERE ${name(column)} IS NULL AND id IN (${listed})`,
        message: `is NULL in records that have rows in ${history.table}`,
      }),
      ...warning(register, plural, column, {
        from: `${name(plural)} WHERE ${name(column)} IS NOT NULL AND id NOT IN (${listed})`,
        message: `is not NULL in records without a row in ${history.table}, whose histories will be empty`,
      }),
    ]);
}

function warning(
  register: Register,
  table: string,
  column: string,
  { from, message }: { readonly from: string; readonly message: string },
): readonly Warning[] {
  const count = Number(register.integers(`SELECT count(*) FROM ${from}`)[0]);
  if (count === 0) return [];
  const examples = [...register.rows<[number]>(`SELECT id FROM ${from} ORDER BY id LIMIT ${SHOWN_EXAMPLES}`)];
  return [{ table, column, message, count, examples: examples.map((row) => keyText(['id'], row)) }];
}
