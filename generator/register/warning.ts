import type { Table } from '../schema/index.js';
import { asText } from './contract.js';
import type { Register } from './database.js';
import { keyText, SHOWN_EXAMPLES } from './findings.js';
import { name } from './sql.js';

/** Something that may be a mistake. */
export interface Warning {
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  /** How many records, or rows of a history; 0 for a view that is not read. */
  readonly count: number;
  /** At most `SHOWN_EXAMPLES` of them, as `id = 7`. */
  readonly examples: readonly string[];
}

/** Warns of the rows that a FROM clause has, if there are any. It yields the columns of the key. */
export function warningOf(
  register: Register,
  { name: table, key }: Pick<Table, 'name' | 'key'>,
  column: string,
  { from, message }: { readonly from: string; readonly message: string },
): readonly Warning[] {
  const count = Number(register.integers(`SELECT count(*) FROM ${from}`)[0]);
  if (count === 0) return [];
  const columns = key.map((each) => each.name);
  const shown = `SELECT ${columns.map((each) => asText(name(each))).join(', ')} FROM ${from}`;
  const order = `ORDER BY ${columns.map(name).join(', ')} LIMIT ${SHOWN_EXAMPLES}`;
  const examples = [...register.rows<(string | null)[]>(`${shown} ${order}`)];
  return [{ table, column, message, count, examples: examples.map((row) => keyText(columns, row)) }];
}
