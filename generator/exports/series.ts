/** The columns of an export that are computed from the histories of its records. */
import { HistoryCursor } from '../register/history-cursor.js';
import type { Register } from '../register/open.js';
import { countsQuery } from '../register/sql.js';
import type { Computed, Entries, History, Kind, SeriesField } from '../resources/field.js';
import type { Cell } from './blocks.js';
import type { Export } from './tables.js';

/** Puts what is computed from the histories between what SQL said of some records. */
export class SeriesColumns {
  readonly #columns: Export['columns'];
  readonly #fields: readonly SeriesField[];
  readonly #histories: ReadonlyMap<string, EntriesReader>;

  constructor(register: Register, { columns, resource }: Export) {
    this.#columns = columns;
    this.#fields = [...new Set(columns.flatMap(({ from }) => ('sql' in from ? [] : [from.series])))];
    this.#histories = new Map(
      resource.histories.map((history) => [
        history.name,
        new EntriesReader(register, resource.kind, history),
      ]),
    );
  }

  /**
   * @param ids of the records, each above the one before, here and from call to call
   * @param stored the columns that SQL said
   */
  complete(ids: readonly Cell[], stored: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
    if (this.#fields.length === 0) return stored;
    const computed = new Map(this.#fields.map((field) => [field, new Array<Computed>(ids.length)]));
    for (const [row, id] of ids.entries()) {
      const entries = new Map<string, Entries>();
      for (const [field, values] of computed) {
        const own = entries.get(field.history) ?? this.#reader(field).entriesOf(Number(id));
        entries.set(field.history, own);
        values[row] = field.compute(own);
      }
    }
    const rest = stored.values();
    return this.#columns.map(({ from }) =>
      'sql' in from
        ? (rest.next().value ?? [])
        : (computed.get(from.series) ?? []).map((value) => cellAt(value, from.place)),
    );
  }

  #reader({ history }: SeriesField): EntriesReader {
    const found = this.#histories.get(history);
    if (found === undefined) throw new TypeError(`no history is named "${history}"`);
    return found;
  }

  close(): void {
    for (const reader of this.#histories.values()) reader.close();
  }
}

/** Reads a history beside its records; the entries themselves only if something asks for them. */
class EntriesReader {
  readonly #open: () => HistoryCursor;
  readonly #openCounts: () => Generator<Count, void, undefined>;
  #lists: HistoryCursor | undefined;
  #counts: Generator<Count, void, undefined> | undefined;
  #next: Count | undefined;

  constructor(register: Register, kind: Kind, history: History) {
    this.#open = () => new HistoryCursor(register, kind, history);
    this.#openCounts = () => register.rows<Count>(countsQuery(kind, history));
  }

  /** To be looked at before the next are asked for. */
  entriesOf(id: number): Entries {
    return new LazyEntries(this, id);
  }

  count(id: number): number {
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

  json(id: number): string {
    this.#lists ??= this.#open();
    return this.#lists.entriesOf(id).json;
  }

  close(): void {
    this.#counts?.return();
    this.#lists?.close();
  }
}

type Count = readonly [id: number, count: number];

class LazyEntries implements Entries {
  readonly #reader: EntriesReader;
  readonly #id: number;

  constructor(reader: EntriesReader, id: number) {
    this.#reader = reader;
    this.#id = id;
  }

  get count(): number {
    return this.#reader.count(this.#id);
  }

  get json(): string {
    return this.#reader.json(this.#id);
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
