/** Histories read beside the records they belong to, for what is computed from them. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/open.js';
import { countsQuery, isKeyQuery, pageEndQuery, pageQuery, publishedValue } from '../register/sql.js';
import { MAX_INTEGER } from '../resources/field.js';
import type { Entries, History, Resource } from '../resources/field.js';
import { cellsOf } from './cells.js';
import type { Cell } from './cells.js';

/** Entries that are read at once, and the rest of those of the last one's record. */
const PAGE_ENTRIES = 4096;

/** Hands out the entries of records, whose ids must come in ascending order. */
export interface EntriesReader {
  /** To be looked at before the next are asked for. */
  entriesOf(id: number): Entries;
  close(): void;
}

/** The fastest way to read a history. */
export function entriesReader(register: Register, resource: Resource, history: History): EntriesReader {
  const [isKey] = register.integers(isKeyQuery(history.table, [history.key.name, history.order.name]));
  return isKey === 1n
    ? new PagedEntries(register, resource, history)
    : new CursorEntries(register, resource, history);
}

/** From a table that finds rows by their key: the entries of many records at once, column by column. */
class PagedEntries implements EntriesReader {
  readonly #names: readonly string[];
  /** An entry with all its members: filling a copy is faster than adding them one by one. */
  readonly #blank: Readonly<Record<string, Cell>>;
  readonly #endOfPage: (above: number, passed: number) => readonly unknown[] | undefined;
  readonly #page: (above: number, upTo: number) => readonly unknown[] | undefined;
  /** Reads what the columns of a page don't say. */
  readonly #rest: EntriesReader | undefined;
  #above = 0;
  #keys: readonly Cell[] = [];
  #values: readonly (readonly Cell[])[] = [];
  #at = 0;

  constructor(register: Register, resource: Resource, history: History) {
    const columns = history.fields.flatMap((field) => (field.is === 'column' ? [field.column] : []));
    const arePlain =
      columns.length === history.fields.length && columns.every(({ type }) => type !== 'boolean');
    const named = arePlain ? columns : [];
    this.#names = named.map(({ name }) => name);
    this.#blank = Object.fromEntries(this.#names.map((name) => [name, null]));
    this.#rest = arePlain ? undefined : new CursorEntries(register, resource, history);
    this.#endOfPage = register.asked(pageEndQuery(resource, history));
    this.#page = register.asked(
      pageQuery(resource, history, [history.key.name, ...named.map(publishedValue)]),
    );
  }

  /** Goes on to the page that has the entries of a record, if any has: a page has all of a record. */
  #turnTo(id: number): void {
    while (this.#above < id) {
      const end = Number(this.#endOfPage(this.#above, PAGE_ENTRIES - 1)?.[0] ?? MAX_INTEGER);
      const [keys = [], ...values] = (this.#page(this.#above, end) ?? []).map(cellsOf);
      this.#above = end;
      this.#keys = keys;
      this.#values = values;
      this.#at = 0;
    }
  }

  entriesOf(id: number): Entries {
    this.#turnTo(id);
    const keys = this.#keys;
    while (this.#at < keys.length && Number(keys[this.#at]) < id) this.#at += 1;
    const start = this.#at;
    while (keys[this.#at] === id) this.#at += 1;
    const count = this.#at - start;
    const rest = this.#rest;
    if (rest !== undefined) {
      return {
        count,
        get json() {
          return rest.entriesOf(id).json;
        },
      };
    }
    const list: Record<string, Cell>[] = [];
    for (let at = start; at < start + count; at += 1) {
      const entry = { ...this.#blank };
      for (const [index, name] of this.#names.entries()) entry[name] = this.#values[index]?.[at] ?? null;
      list.push(entry);
    }
    return {
      count,
      list,
      get json() {
        return JSON.stringify(list);
      },
    };
  }

  close(): void {
    this.#rest?.close();
    this.#keys = [];
  }
}

type Count = readonly [id: number, count: number];

/** From anything else: in one pass, and as JSON only if something asks for more than how many there are. */
class CursorEntries implements EntriesReader {
  readonly #openLists: () => HistoryCursor;
  readonly #openCounts: () => Generator<Count, void, undefined>;
  #lists: HistoryCursor | undefined;
  #counts: Generator<Count, void, undefined> | undefined;
  #next: Count | undefined;

  constructor(register: Register, { kind }: Resource, history: History) {
    this.#openLists = () => new HistoryCursor(register, kind, history);
    this.#openCounts = () => register.rows<Count>(countsQuery(kind, history));
  }

  entriesOf(id: number): Entries {
    const count = (): number => this.#countOf(id);
    const json = (): string => (this.#lists ??= this.#openLists()).entriesOf(id).json;
    return {
      get count() {
        return count();
      },
      get json() {
        return json();
      },
    };
  }

  #countOf(id: number): number {
    if (this.#lists !== undefined) return this.#lists.entriesOf(id).count;
    if (this.#counts === undefined) {
      this.#counts = this.#openCounts();
      this.#step(this.#counts);
    }
    while (this.#next !== undefined && this.#next[0] < id) this.#step(this.#counts);
    return this.#next?.[0] === id ? this.#next[1] : 0;
  }

  #step(counts: Generator<Count, void, undefined>): void {
    this.#next = counts.next().value ?? undefined;
  }

  close(): void {
    this.#counts?.return();
    this.#lists?.close();
  }
}
