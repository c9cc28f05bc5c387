/** The rows of an export, in one ordered pass over its table and the histories that it is computed from. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/database.js';
import { countsQuery, historyQuery } from '../register/sql.js';
import type { Computed, DerivedField } from '../schema/field.js';
import type { Export } from './tables.js';

/** A value as in the register: booleans are 0 and 1; null means "not measured". */
export type Cell = string | number | null;

/** The cells of a row, in the order of the export's columns. */
export type Row = Cell[];

/** Larger batches take more memory and save little. */
const BATCH_ROWS = 1000;
/** The characters of texts that a batch has before its last row: 4 Mi. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** All rows of an export, ordered by key, in batches. */
export function* batchesOf(register: Register, table: Export): Generator<readonly Row[], void, undefined> {
  const sql = table.query(table.columns.map(({ from }) => ('sql' in from ? from.sql : 'NULL')));
  const derived = derivedIn(register, table);
  try {
    let [batch, characters]: [Row[], number] = [[], 0];
    for (const row of register.rows<Row>(sql)) {
      for (const each of derived) complete(row, each);
      for (const cell of row) if (typeof cell === 'string') characters += cell.length;
      if (batch.push(row) < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
      yield batch;
      [batch, characters] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  } finally {
    for (const { cursor } of derived) cursor.close();
  }
}

/** A column's place in the rows, and the path to its values in those of a derived field. */
interface DerivedColumn {
  readonly at: number;
  readonly place: readonly string[];
}

/** The derived fields that one history gives, with their columns. */
interface Derived {
  readonly cursor: HistoryCursor;
  readonly fields: readonly (readonly [DerivedField, readonly DerivedColumn[]])[];
}

function derivedIn(register: Register, { resource, columns }: Export): readonly Derived[] {
  const all = new Map<DerivedField, DerivedColumn[]>();
  for (const [at, { from }] of columns.entries()) {
    if ('sql' in from) continue;
    const { derived, place } = from;
    all.set(derived, [...(all.get(derived) ?? []), { at, place }]);
  }
  return resource.histories.flatMap((history) => {
    const fields = [...all].filter(([field]) => field.history === history.name);
    if (fields.length === 0) return [];
    const query = fields.some(([{ reads }]) => reads.length > 0) ? historyQuery : countsQuery;
    return { cursor: new HistoryCursor(register, query(resource.kind, history, 'all')), fields };
  });
}

/** Fills the columns of a record's row, whose first cell is the id. */
function complete(row: Row, { cursor, fields }: Derived): void {
  const entries = cursor.entriesOf(Number(row[0]));
  for (const [field, columns] of fields) {
    const computed = field.compute(entries);
    for (const { at, place } of columns) row[at] = valueAt(computed, place);
  }
}

/** The member at a path of a computed value; null if an object on the path is null. */
function valueAt(whole: Computed, place: readonly string[]): Cell {
  let value = whole;
  for (const member of place) {
    if (value === null) return null;
    if (typeof value !== 'object') throw new TypeError(`"${member}" is looked for in ${String(value)}`);
    value = value[member] ?? null;
  }
  if (typeof value === 'object' && value !== null)
    throw new TypeError('an object was found, expected a value');
  return value;
}
