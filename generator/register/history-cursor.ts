/** Merges a history with the records it belongs to. */
import type { Entries } from '../schema/field.js';
import type { Register } from './database.js';

/** A record's entries as JSON from SQLite, parsed on demand. */
export class ListedEntries implements Entries {
  readonly count: number;
  /** A JSON array, oldest entry first. */
  readonly json: string;
  #rows: Entries['rows'] | undefined;

  constructor(count: number, json: string) {
    this.count = count;
    this.json = json;
  }

  get rows(): Entries['rows'] {
    return (this.#rows ??= rowsIn(this.json));
  }
}

/** The entries of a record without any, or of a history that is not measured. */
export const NO_ENTRIES = new ListedEntries(0, '[]');

function rowsIn(json: string): Entries['rows'] {
  const list: unknown = JSON.parse(json);
  if (!isObjects(list)) throw new TypeError(`no list of entries: ${json}`);
  return list;
}

const isObjects = (list: unknown): list is Entries['rows'] =>
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
