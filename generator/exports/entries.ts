/** Merges histories with their records, to compute derived columns. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/database.js';
import { isKeyQuery, pageEndQuery, pageQuery } from '../register/pages.js';
import { countsQuery, historyQuery, publishedValue } from '../register/sql.js';
import type { Scope } from '../register/sql.js';
import { MAX_INTEGER } from '../schema/field.js';
import type { Column, Entries, History, Resource } from '../schema/field.js';
import { pageOf, valuesOf } from './cells.js';
import type { Cell } from './cells.js';

/** Entries read at once, plus the rest of the last record's. */
const PAGE_ENTRIES = 4096;

/** Returns the entries of records, whose ids must ascend. */
export interface EntriesReader {
  /** Valid until the next call. */
  entriesOf(id: number): Entries;
  close(): void;
}

/** The fastest reader for some columns of a history of a scope's records. */
export function entriesReader(
  register: Register,
  resource: Resource,
  history: History,
  columns: readonly Column[],
  scope: Scope,
): EntriesReader {
  const { table, key, order } = history;
  if (scope !== 'all') return new HistoryCursor(register, historyQuery(resource.kind, history, scope));
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
