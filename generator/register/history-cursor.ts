/** Merges a history with the records it belongs to. */
import type { Entries } from '../schema/field.js';
import type { Register } from './database.js';

/** A record's entries as JSON from SQLite; columns are parsed on demand. */
export class ListedEntries implements Entries {
  readonly count: number;
  /** A JSON array, oldest entry first. */
  readonly json: string;
  #columns: Entries['columns'] | undefined;

  constructor(count: number, json: string) {
    this.count = count;
    this.json = json;
  }

  get columns(): Entries['columns'] {
    return (this.#columns ??= columnsIn(this.json));
  }
}

/** The entries of a record without any, or of a history that is not measured. */
export const NO_ENTRIES = new ListedEntries(0, '[]');

/** The values of each member, in a list of objects. */
function columnsIn(json: string): Entries['columns'] {
  const list: unknown = JSON.parse(json);
  const columns: Record<string, unknown[]> = {};
  if (!isObjects(list)) throw new TypeError(`no list of entries: ${json}`);
  for (const entry of list)
    for (const [name, value] of Object.entries(entry)) (columns[name] ??= []).push(value);
  return columns;
}

const isObjects = (list: unknown): list is readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(list) && list.every((entry) => typeof entry === 'object' && entry !== null);

type HistoryRow = readonly [id: number, count: number, json: string];

/** A history, for a merge with its records; both ascend by id. */
export class HistoryCursor {
  readonly #rows: Generator<HistoryRow, void, undefined>;
  #row: HistoryRow | undefined;

  /** @param sql see `historyQuery` */
  constructor(register: Register, sql: string) {
    this.#rows = register.rows<HistoryRow>(sql);
    this.#advance();
  }

  #advance(): void {
    this.#row = this.#rows.next().value ?? undefined;
  }

  /** The entries of a record. Ids must ascend; the rows of other records are skipped. */
  entriesOf(id: number): ListedEntries {
    while (this.#row !== undefined && this.#row[0] < id) this.#advance();
    return this.#row?.[0] === id ? new ListedEntries(this.#row[1], this.#row[2]) : NO_ENTRIES;
  }

  close(): void {
    this.#rows.return();
  }
}
