/** Parquet: typed columns, Snappy where it pays, statistics, and row groups of bounded size. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnSource } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import type { Value, ValueType } from '../schema/field.js';
import { LENGTH, millisecondsAt } from '../schema/time.js';
import { EMPTY, END } from '../register/pages.js';
import { addIntegers, addTexts } from './cells.js';
import type { Block, Cells } from './cells.js';

/**
 * A row group, the unit that readers skip or read in parallel, is full at 64 Ki cells (2,100 rows
 * of the widest table, 21,000 of the narrowest) or 512 Ki characters of text. It is held in memory
 * while it is encoded; groups four times as large take an export half as much memory again.
 */
const GROUP_CELLS = 64 * 1024;
const GROUP_CHARACTERS = 512 * 1024;

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
  #characters = 0;

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

  /** @returns bytes of the file, if the block completed a row group */
  add(block: Block): Uint8Array | undefined {
    this.#blocks.push(block);
    this.#rows += block.rows;
    for (const [index, { type }] of this.#values.entries())
      if (TYPES[type] === undefined) this.#characters += charactersIn(block.columns[index]);
    const isFull = this.#rows * this.#values.length >= GROUP_CELLS || this.#characters >= GROUP_CHARACTERS;
    return isFull ? this.#writeGroup() : undefined;
  }

  #writeGroup(): Uint8Array {
    const columnData = this.#values.map(({ name, type }, index) => ({
      name,
      ...encodingOf(
        this.#blocks.flatMap(({ columns }) => columns[index] ?? []),
        type,
      ),
      // Page offsets are useless without bounds, and would stay in memory for all groups.
      offsetIndex: false,
    }));
    // Synchronous: it only writes to memory.
    void this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#keepBounds();
    this.#blocks = [];
    this.#rows = 0;
    this.#characters = 0;
    return this.#take();
  }

  /** Copies the bounds, which the library keeps; views would keep whole blocks in memory. */
  #keepBounds(): void {
    for (const { meta_data } of this.#writer.row_groups.at(-1)?.columns ?? []) {
      const { statistics } = meta_data ?? {};
      if (statistics?.min_value instanceof Uint8Array) statistics.min_value = statistics.min_value.slice();
      if (statistics?.max_value instanceof Uint8Array) statistics.max_value = statistics.max_value.slice();
    }
  }

  /** Completes the file. @returns the rest of it */
  finish(): Uint8Array {
    const last = this.#rows > 0 ? this.#writeGroup() : new Uint8Array();
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

/** The number of UTF-16 units in a column's texts: two for each 4-byte character, else one. */
function charactersIn(cells: Cells | undefined): number {
  let count = 0;
  for (const byte of cells ?? [])
    if (byte < 0x80 || (byte >= 0xc0 && byte < EMPTY)) count += byte < 0xf0 ? 1 : 2;
  return count;
}

/** A column's values for the library, with encoding and compression. */
function encodingOf(
  column: readonly Cells[],
  type: ValueType,
): Pick<ColumnSource, 'data' | 'encoding' | 'codec'> {
  if (type === 'boolean') return { data: decode(column, addBooleans) };
  // Snappy is slow on these, and saves next to nothing.
  if (type === 'time') return { data: decode(column, addTimes), codec: 'UNCOMPRESSED' };
  if (TYPES[type] === undefined) return { data: decode(column, addTexts) };
  const integers = decode(column, addIntegers);
  // Packed differences are smaller than Snappy's output, and need no bigint per value.
  return integers.every(isSmall)
    ? { data: integers, encoding: 'DELTA_BINARY_PACKED', codec: 'UNCOMPRESSED' }
    : { data: integers.map((value) => (value === null ? null : BigInt(value))) };
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
