/** Parquet: typed columns, Snappy where it pays, statistics, and row groups of bounded size. */
import { ByteWriter, ParquetWriter, type ColumnSource } from 'hyparquet-writer';
import type { ColumnChunk, SchemaElement } from 'hyparquet';
import type { Value, ValueType } from '../schema/shape.js';
import { LENGTH, millisecondsAt } from '../schema/time.js';
import { END } from '../register/pages.js';
import { addIntegers, addTexts, type Block, type Cells } from './cells.js';

/**
 * A row group, the unit that readers skip or read in parallel, is full at 100,000 rows or 4 MiB,
 * as CSV. It is held in memory until it is encoded: readers make a request for each column of each
 * group that they need.
 */
const GROUP_ROWS = 100_000;
const GROUP_BYTES = 4 * 1024 * 1024;

const NO_BYTES = new Uint8Array();

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

/** Encodes rows, and returns the bytes of complete row groups. */
export class ParquetEncoder {
  readonly #values: readonly Value[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #blocks: Block[] = [];
  #rows = 0;
  #size = 0;
  /** Rows of all groups. */
  #written = 0n;

  constructor(values: readonly Value[]) {
    this.#values = values;
    const schema: SchemaElement[] = [
      { name: 'root', num_children: values.length },
      ...values.map(({ name, type, nullable }) => ({
        name,
        repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
        ...(TYPES[type] ?? TEXT),
      })),
    ];
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema, createdBy: 'register-api' });
  }

  /** @returns bytes of the file: none unless the block completed a row group */
  add(block: Block): Uint8Array {
    this.#blocks.push(block);
    this.#rows += block.rows;
    for (const { length } of block.columns) this.#size += length;
    return this.#rows >= GROUP_ROWS || this.#size >= GROUP_BYTES ? this.#writeGroup() : NO_BYTES;
  }

  #writeGroup(): Uint8Array {
    const start = this.#bytes.offset;
    const columns = this.#values.map((value, index) => this.#encode(value, index));
    const size = columns.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n);
    this.#writer.num_rows = this.#written += BigInt(this.#rows);
    this.#writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: BigInt(this.#rows),
      total_compressed_size: BigInt(this.#bytes.offset - start),
    });
    this.#blocks = [];
    this.#rows = 0;
    this.#size = 0;
    return this.#take();
  }

  #encode(value: Value, index: number): ColumnChunk {
    const cells = this.#blocks.flatMap(({ columns }) => columns[index] ?? []);
    // Synchronous: it only writes to memory.
    void this.#writer.write({ columnData: [sourceOf(value, cells)], rowGroupSize: this.#rows });
    const chunk = this.#writer.row_groups.pop()?.columns[0];
    if (chunk === undefined) throw new TypeError(`"${value.name}" was not encoded`);
    keepBounds(chunk);
    return chunk;
  }

  /** Completes the file. @returns the rest of it */
  finish(): Uint8Array {
    const last = this.#rows > 0 ? this.#writeGroup() : NO_BYTES;
    void this.#writer.finish();
    return Buffer.concat([last, this.#take()]);
  }

  /** Takes the written bytes. The total offset goes on, since the file's index refers to it. */
  #take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return taken;
  }
}

/** Copies the bounds, which the library keeps; views would keep whole blocks in memory. */
function keepBounds({ meta_data }: ColumnChunk): void {
  const { statistics } = meta_data ?? {};
  if (statistics?.min_value instanceof Uint8Array) statistics.min_value = statistics.min_value.slice();
  if (statistics?.max_value instanceof Uint8Array) statistics.max_value = statistics.max_value.slice();
}

/** A column for the library. */
function sourceOf({ name, type }: Value, column: readonly Cells[]): ColumnSource {
  // Page offsets are useless without bounds, and would stay in memory for all groups.
  const common = { name, offsetIndex: false } as const;
  if (type === 'boolean') return { ...common, data: decode(column, addBooleans) };
  // Snappy is slow on these, and saves next to nothing.
  if (type === 'time') return { ...common, data: decode(column, addTimes), codec: 'UNCOMPRESSED' };
  if (TYPES[type] === undefined) return { ...common, data: decode(column, addTexts) };
  const integers = decode(column, addIntegers);
  // Packed differences are smaller than Snappy's output, and need no bigint per value.
  return integers.every(isSmall)
    ? { ...common, data: integers, encoding: 'DELTA_BINARY_PACKED', codec: 'UNCOMPRESSED' }
    : { ...common, data: integers.map((value) => (value === null ? null : BigInt(value))) };
}

function decode<Value>(column: readonly Cells[], add: (cells: Cells, list: Value[]) => void): Value[] {
  const list: Value[] = [];
  for (const cells of column) add(cells, list);
  return list;
}

/** Whether the library packs a number without a bigint: it fits in 32 bits. */
const isSmall = (value: number | null): boolean => value === null || value === (value | 0);

function addTimes(cells: Cells, list: (bigint | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    if (cells[at] === END) list.push(null);
    else {
      list.push(BigInt(millisecondsAt(cells, at)));
      at += LENGTH;
      if (cells[at] !== END)
        throw new TypeError(`no time: "${cells.toString('latin1', at - LENGTH, at + 1)}"`);
    }
  }
}

const T = 't'.charCodeAt(0);

function addBooleans(cells: Cells, list: (boolean | null)[]): void {
  for (let at = 0; at < cells.length; at += 1) {
    list.push(cells[at] === END ? null : cells[at] === T);
    at = cells.indexOf(END, at);
  }
}
