/** A history read beside the records it belongs to. */
import type { Entries, History, Kind } from '../resources/field.js';
import type { Register } from './open.js';
import { historyQuery } from './sql.js';
import type { Scope } from './sql.js';

const NO_ENTRIES: Entries = { count: 0, json: '[]' };

/** Walks a history beside the records of its kind, both in order of the id. */
export class HistoryCursor {
  readonly #rows: Generator<HistoryRow, void, undefined>;
  #row: HistoryRow | undefined;

  constructor(register: Register, kind: Kind, history: History, scope: Scope = 'all') {
    this.#rows = register.rows<HistoryRow>(historyQuery(kind, history, scope));
    this.#step();
  }

  #step(): void {
    const next = this.#rows.next();
    this.#row = next.done === true ? undefined : next.value;
  }

  /** The entries of a record; ids must come in ascending order. Rows of records not asked for are passed over. */
  entriesOf(id: number): Entries {
    while (this.#row !== undefined && this.#row[0] < id) this.#step();
    if (this.#row === undefined || this.#row[0] !== id) return NO_ENTRIES;
    return { count: this.#row[1], json: this.#row[2] };
  }

  close(): void {
    this.#rows.return();
  }
}

type HistoryRow = readonly [id: number, count: number, json: string];
