/** The columns of an export that are computed from its records' histories. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/database.js';
import { isKeyQuery, pageEndQuery, pageQuery } from '../register/pages.js';
import { countsQuery, historyQuery, publishedValue } from '../register/sql.js';
import type { Column, Computed, DerivedField, Entries, History, Resource } from '../schema/field.js';
import { MAX_INTEGER } from '../schema/shape.js';
import { CellWriter, pageOf, valuesOf, type Cell, type Cells } from './cells.js';
import type { Export } from './tables.js';

/** Inserts the computed columns among those from SQL. */
export class DerivedColumns {
  readonly #columns: Export['columns'];
  readonly #writer = new CellWriter();
  /** The fields to compute, by the history they are computed from. */
  readonly #fields = new Map<EntriesReader, DerivedField[]>();

  constructor(register: Register, { columns, resource }: Export) {
    this.#columns = columns;
    const fields = new Set(columns.flatMap(({ from }) => ('sql' in from ? [] : [from.derived])));
    for (const history of resource.histories) {
      const own = [...fields].filter((field) => field.history === history.name);
      const reads = new Set(own.flatMap((field) => field.reads));
      if (own.length > 0) this.#fields.set(entriesReader(register, resource, history, [...reads]), own);
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

/** Entries read at once, plus the rest of the last record's. */
const PAGE_ENTRIES = 4096;

/** Returns the entries of records, whose ids must ascend. */
interface EntriesReader {
  /** Valid until the next call. */
  entriesOf(id: number): Entries;
  close(): void;
}

/** The fastest reader for some columns of a history. */
function entriesReader(
  register: Register,
  resource: Resource,
  history: History,
  columns: readonly Column[],
): EntriesReader {
  const { table, key, order } = history;
  const [isKey] = register.integers(isKeyQuery(table, [key.name, order.name]));
  if (isKey === 1n) return new PagedEntries(register, resource, history, columns);
  const query = columns.length === 0 ? countsQuery : historyQuery;
  return new HistoryCursor(register, query(resource.kind, history, 'all'));
}

/** Reads a table with an index on the key: the entries of many records at once, in columns. */
class PagedEntries implements EntriesReader {
  readonly #read: readonly Column[];
  readonly #endOfPage: (above: number, passed: number) => readonly unknown[] | undefined;
  readonly #page: (above: number, upTo: number) => readonly unknown[] | undefined;
  #above = 0;
  #keys: readonly Cell[] = [];
  #columns: Readonly<Record<string, readonly Cell[]>> = {};
  #at = 0;

  constructor(register: Register, resource: Resource, history: History, columns: readonly Column[]) {
    this.#read = [history.key, ...columns];
    this.#endOfPage = register.asked(pageEndQuery(resource, history));
    this.#page = register.asked(
      pageQuery(
        resource,
        history,
        this.#read.map((column) => ({ sql: publishedValue(column), type: column.type })),
      ),
    );
  }

  /** Advances to the page with a record's entries, if it has any; a page never splits a record. */
  #turnTo(id: number): void {
    while (this.#above < id) {
      const end = Number(this.#endOfPage(this.#above, PAGE_ENTRIES - 1)?.[0] ?? MAX_INTEGER);
      const { columns } = pageOf(this.#page(this.#above, end));
      const lists = columns.map((cells, index) => valuesOf(cells, this.#read[index]?.type ?? 'text'));
      this.#above = end;
      this.#keys = lists[0] ?? [];
      this.#columns = Object.fromEntries(this.#read.map(({ name }, index) => [name, lists[index] ?? []]));
      this.#at = 0;
    }
  }

  entriesOf(id: number): Entries {
    this.#turnTo(id);
    const keys = this.#keys;
    while (this.#at < keys.length && Number(keys[this.#at]) < id) this.#at += 1;
    const start = this.#at;
    while (keys[this.#at] === id) this.#at += 1;
    return { start, count: this.#at - start, columns: this.#columns };
  }

  close(): void {
    this.#keys = [];
  }
}
