/** The rows of an export, read in one ordered pass. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/open.js';
import { entriesQuery, recordsQuery } from '../register/sql.js';
import type { Computed, SeriesField } from '../resources/field.js';
import type { Export } from './tables.js';

/** A value of a row; null means "not measured". */
export type Cell = string | number | boolean | null;
type Stored = string | number | null;

/** The rows of an export, ordered by its key, cells in the order of its columns. A row is valid until the next. */
export function* rows(register: Register, table: Export): Generator<Cell[], void, undefined> {
  const { columns, resource, history } = table;
  const selected = columns.flatMap(({ from }) => ('sql' in from ? [from.sql] : []));
  const booleans = columns.flatMap(({ value }, index) => (value.type === 'boolean' ? [index] : []));
  const series = history === undefined ? new SeriesCells(register, table) : undefined;
  const sql =
    history === undefined
      ? // The id again, in front of the columns: the series are found by it.
        recordsQuery(resource, ['id', ...selected])
      : entriesQuery(resource.kind, history, selected);
  try {
    for (const stored of register.rows<Stored[]>(sql)) {
      const cells: Cell[] = series === undefined ? stored : series.complete(stored);
      for (const index of booleans) {
        const bit = cells[index];
        cells[index] = bit === null || bit === undefined ? null : bit === 1;
      }
      yield cells;
    }
  } finally {
    series?.close();
  }
}

/** Puts what is computed from the histories between what SQL said of a record. */
class SeriesCells {
  readonly #places: readonly (readonly [series: SeriesField, place: readonly string[]] | undefined)[];
  readonly #cursors = new Map<string, HistoryCursor>();
  readonly #fields: ReadonlySet<SeriesField>;

  constructor(register: Register, { columns, resource }: Export) {
    this.#places = columns.map(({ from }) => ('sql' in from ? undefined : [from.series, from.place]));
    this.#fields = new Set(columns.flatMap(({ from }) => ('sql' in from ? [] : [from.series])));
    const needed = new Set([...this.#fields].map(({ history }) => history));
    for (const history of resource.histories.filter(({ name }) => needed.has(name))) {
      this.#cursors.set(history.name, new HistoryCursor(register, resource.kind, history));
    }
  }

  /** @param stored the record's id, then its columns without those of series */
  complete([id, ...stored]: Stored[]): Cell[] {
    if (this.#fields.size === 0) return stored;
    const entries = new Map(
      [...this.#cursors].map(([history, cursor]) => [history, cursor.entriesOf(Number(id))] as const),
    );
    const computed = new Map<SeriesField, Computed>();
    for (const field of this.#fields) {
      const own = entries.get(field.history);
      if (own === undefined) throw new TypeError(`no history is named "${field.history}"`);
      computed.set(field, field.compute(own));
    }
    let at = 0;
    return this.#places.map((found): Cell => {
      if (found !== undefined) return cellAt(computed.get(found[0]) ?? null, found[1]);
      at += 1;
      return stored[at - 1] ?? null;
    });
  }

  close(): void {
    for (const cursor of this.#cursors.values()) cursor.close();
  }
}

/** The value at a place of what was computed; null where an object on the way is. */
function cellAt(computed: Computed, place: readonly string[]): Cell {
  let value = computed;
  for (const member of place) {
    if (value === null) return null;
    if (typeof value !== 'object') throw new TypeError(`"${member}" is looked for in ${String(value)}`);
    value = value[member] ?? null;
  }
  if (typeof value === 'object' && value !== null)
    throw new TypeError('an object was found, expected a value');
  return value;
}
