/** The columns of an export that are computed from its records' histories. */
import type { Register } from '../register/database.js';
import type { Scope } from '../register/sql.js';
import type { Computed, DerivedField } from '../schema/field.js';
import { CellWriter, valuesOf } from './cells.js';
import type { Cell, Cells } from './cells.js';
import { entriesReader } from './entries.js';
import type { EntriesReader } from './entries.js';
import type { Export } from './tables.js';

/** Inserts the computed columns among those from SQL. */
export class DerivedColumns {
  readonly #columns: Export['columns'];
  readonly #writer = new CellWriter();
  /** The fields to compute, by the history they are computed from. */
  readonly #fields = new Map<EntriesReader, DerivedField[]>();

  constructor(register: Register, { columns, resource }: Export, scope: Scope) {
    this.#columns = columns;
    const fields = new Set(columns.flatMap(({ from }) => ('sql' in from ? [] : [from.derived])));
    for (const history of resource.histories) {
      const own = [...fields].filter((field) => field.history === history.name);
      const reads = new Set(own.flatMap((field) => field.reads));
      if (own.length > 0)
        this.#fields.set(entriesReader(register, resource, history, [...reads], scope), own);
    }
  }

  /**
   * @param stored the columns from SQL; the first has the records' ids, which ascend across all
   * calls
   */
  complete(stored: readonly Cells[]): readonly Cells[] {
    const [first] = stored;
    if (this.#fields.size === 0 || first === undefined) return stored;
    const ids = valuesOf(first, 'id');
    const computed = new Map<DerivedField, Computed[]>();
    for (const [reader, fields] of this.#fields) {
      const own = fields.map((field) => {
        const values: Computed[] = [];
        computed.set(field, values);
        return { field, values };
      });
      for (const id of ids) {
        const entries = reader.entriesOf(Number(id));
        for (const { field, values } of own) values.push(field.compute(entries));
      }
    }
    const rest = stored.values();
    return this.#columns.map(({ from, value }) => {
      if (!('sql' in from))
        return this.#writer.cellsOf(valuesAt(computed.get(from.derived) ?? [], from.place), value.type);
      const column = rest.next().value;
      if (column === undefined) throw new TypeError(`no column was read for "${value.name}"`);
      return column;
    });
  }

  close(): void {
    for (const reader of this.#fields.keys()) reader.close();
  }
}

/** The member at a path of each computed value; null if an object on the path is null. */
const valuesAt = (computed: readonly Computed[], place: readonly string[]): Cell[] =>
  computed.map((whole) => {
    let value = whole;
    for (const member of place) {
      if (value === null) return null;
      if (typeof value !== 'object') throw new TypeError(`"${member}" is looked for in ${String(value)}`);
      value = value[member] ?? null;
    }
    if (typeof value === 'object' && value !== null)
      throw new TypeError('an object was found, expected a value');
    return value;
  });
