/** What a register that keeps the contract has: counts, and what may be a mistake all the same. */
import type { History, Resource } from '../schema/field.js';
import { columnsOf } from '../schema/field.js';
import { RESOURCES, TABLES } from '../schema/index.js';
import { keyText, SHOWN_EXAMPLES } from './findings.js';
import type { Register } from './database.js';
import { name } from './sql.js';

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

/** Finds histories that don't fit their records. @param counts see `countRows` */
export const warningsOf = (register: Register, counts: RowsByTable): readonly Warning[] =>
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
        where: `${name(column)} IS NULL AND id IN (${listed})`,
        message: `is NULL in records that have rows in ${history.table}`,
      }),
      ...warning(register, plural, column, {
        where: `${name(column)} IS NOT NULL AND id NOT IN (${listed})`,
        message: `is not NULL in records without a row in ${history.table}, whose histories will be empty`,
      }),
    ]);
}

function warning(
  register: Register,
  table: string,
  column: string,
  { where, message }: { readonly where: string; readonly message: string },
): readonly Warning[] {
  const from = `FROM ${name(table)} WHERE ${where}`;
  const count = Number(register.integers(`SELECT count(*) ${from}`)[0]);
  if (count === 0) return [];
  const examples = [...register.rows<[number]>(`SELECT id ${from} ORDER BY id LIMIT ${SHOWN_EXAMPLES}`)];
  return [{ table, column, message, count, examples: examples.map((row) => keyText(['id'], row)) }];
}
