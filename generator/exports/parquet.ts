/** Rows as Parquet: typed columns, Snappy, statistics. Row groups are bounded, so memory is, too. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import type { Value, ValueType } from '../resources/field.js';
import { millisecondsOf } from '../resources/time.js';
import type { Block, Cell } from './cells.js';

/**
 * What fills a row group, which readers skip or read side by side: 64 Ki cells, which is 2,100 rows of the widest
 * table and 21,000 of the narrowest, or 512 Ki characters of text. With four times
 * as much, an export takes half as much memory again. A group is held in memory while it is encoded.
 */
const GROUP_CELLS = 64 * 1024;
const GROUP_CHARACTERS = 512 * 1024;

type ParquetType = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>;

const INTEGER: ParquetType = { type: 'INT64' };
const TEXT: ParquetType = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };

/** What is none of these is text. */
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

/** What a column of Parquet holds. */
type Stored = bigint | string | boolean | null;

/** Takes rows and hands out the bytes of a Parquet file as they are complete. */
export class ParquetEncoder {
  readonly #values: readonly Value[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #columns: Stored[][];
  #rows = 0;
  #characters = 0;

  constructor(values: readonly Value[]) {
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
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema, createdBy: 'register-api' });
  }

  /** @returns bytes of the file, where the block completed a group */
  add({ rows, columns }: Block): Uint8Array | undefined {
    for (const [index, { type }] of this.#values.entries()) {
      const column = this.#columns[index];
      for (const cell of columns[index] ?? []) column?.push(this.#stored(cell, type));
    }
    this.#rows += rows;
    const isFull = this.#rows * this.#values.length >= GROUP_CELLS || this.#characters >= GROUP_CHARACTERS;
    return isFull ? this.#writeGroup() : undefined;
  }

  #stored(cell: Cell, type: ValueType): Stored {
    if (cell === null) return null;
    if (type === 'boolean') return cell === 1;
    if (typeof cell === 'number') return BigInt(cell);
    if (type === 'time') return BigInt(millisecondsOf(cell));
    this.#characters += cell.length;
    return cell;
  }

  #writeGroup(): Uint8Array {
    // Places of pages are of no use without their bounds, and would be kept for all groups to the end.
    const columnData = this.#columns.map((data, index) => ({
      name: this.#values[index]?.name ?? '',
      data,
      offsetIndex: false,
    }));
    // Nothing to await: bytes are only gathered.
    void this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#columns = this.#values.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
    return this.#take();
  }

  /** No more rows. @returns the rest of the file */
  finish(): Uint8Array {
    const last = this.#rows > 0 ? this.#writeGroup() : new Uint8Array();
    void this.#writer.finish();
    return Buffer.concat([last, this.#take()]);
  }

  /** Empties the gathered bytes; the count of all of them goes on, since the file's index points by it. */
  #take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return taken;
  }
}
