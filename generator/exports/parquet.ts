/** Parquet: typed columns, Snappy where it pays, statistics, and row groups of bounded size. */
import { ByteWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import { Sink, type Content } from '../base/sink.js';
import type { Value, ValueType } from '../schema/shape.js';
import { millisecondsOf } from '../schema/time.js';
import type { Cell, Row } from './rows.js';

/**
 * A row group, the unit that readers skip or read in parallel, is full at 100,000 rows or 4 MiB,
 * as CSV. It is held in memory until it is encoded: readers make a request for each column of each
 * group that they need.
 */
const GROUP_ROWS = 100_000;
const GROUP_BYTES = 4 * 1024 * 1024;

type ParquetType = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>;

const INTEGER: ParquetType = { type: 'INT64' };
const TEXT: ParquetType = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };

/** All other types are text. */
const TYPES: Readonly<Partial<Record<ValueType, ParquetType>>> = {
  id: INTEGER,
  ordinal: INTEGER,
  count: INTEGER,
  difference: INTEGER,
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

type Cells = (Cell | boolean)[];

/** What a cell is to the library, if not what it is to SQLite. */
const MEANT: Readonly<Partial<Record<ValueType, (cell: string | number) => number | boolean>>> = {
  boolean: (cell) => cell === 1,
  time: (cell) => millisecondsOf(String(cell)),
};

/** A file that is written by row groups. */
export class ParquetFile {
  readonly #sink: Sink;
  readonly #values: readonly Value[];
  readonly #writer: ParquetWriter;
  /** The cells of the next row group, as the library gets them. */
  #columns: Cells[];
  #rows = 0;
  #bytes = 0;

  constructor(file: string, values: readonly Value[]) {
    this.#sink = new Sink(file);
    this.#values = values;
    this.#columns = values.map(() => []);
    const schema: SchemaElement[] = [
      { name: 'root', num_children: values.length },
      ...values.map(({ name, type, nullable }) => ({
        name,
        repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
        ...(TYPES[type] ?? TEXT),
      })),
    ];
    const writer = new SinkWriter(this.#sink);
    this.#writer = new ParquetWriter({ writer, schema, createdBy: 'register-api' });
  }

  /** @param bytes the size of the rows as CSV */
  add(rows: readonly Row[], bytes: number): void {
    for (const [at, cells] of this.#columns.entries()) {
      const meant = MEANT[this.#values[at]?.type ?? 'text'];
      for (const row of rows) {
        const cell = row[at] ?? null;
        cells.push(cell === null || meant === undefined ? cell : meant(cell));
      }
    }
    this.#rows += rows.length;
    this.#bytes += bytes;
    if (this.#rows >= GROUP_ROWS || this.#bytes >= GROUP_BYTES) this.#writeGroup();
  }

  #writeGroup(): void {
    const columnData = this.#values.map((value, at) => sourceOf(value, this.#columns[at] ?? []));
    // Synchronous, as the sink is.
    void this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#columns = this.#values.map(() => []);
    this.#rows = 0;
    this.#bytes = 0;
  }

  finish(): Content {
    if (this.#rows > 0) this.#writeGroup();
    void this.#writer.finish();
    return this.#sink.finish();
  }

  close(): void {
    this.#sink.close();
  }
}

/** Passes on what the library has written of a row group, or of the end. */
class SinkWriter extends ByteWriter {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    super();
    this.#sink = sink;
  }

  flush(): void {
    this.#sink.write(this.getBytes());
    // The total offset goes on, since the file's index refers to it.
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

/** A column for the library. */
function sourceOf({ name, type }: Value, data: Cells): ColumnSource {
  // Page offsets are useless without bounds, and would stay in memory for all groups.
  const common = { name, data, offsetIndex: false } as const;
  // Snappy is slow on these, and saves next to nothing.
  if (type === 'time') return { ...common, codec: 'UNCOMPRESSED' };
  if (TYPES[type] !== INTEGER) return common;
  // Packed differences are smaller than Snappy's output, and need no bigint per value.
  return data.every(isSmall)
    ? { ...common, encoding: 'DELTA_BINARY_PACKED', codec: 'UNCOMPRESSED' }
    : { ...common, data: data.map((value) => (value === null ? null : BigInt(value))) };
}

/** Whether the library packs a number without a bigint: it fits in 32 bits. */
const isSmall = (value: unknown): boolean => value === null || value === (Number(value) | 0);
