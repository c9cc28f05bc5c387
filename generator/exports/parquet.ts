/** Rows as Parquet: typed columns, Snappy, statistics. Row groups are bounded, so memory is, too. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import type { Value, ValueType } from '../resources/field.js';
import { millisecondsOf } from '../resources/time.js';
import type { Block } from './cells.js';
import { BooleanColumn, IntegerColumn, TextColumn } from './parquet-columns.js';
import type { ParquetColumn } from './parquet-columns.js';

/**
 * What fills a row group, which readers skip or read side by side: 512 Ki cells, which is 16,900 rows of the widest
 * table and 174,000 of the narrowest, or 2 Mi characters of text. A group is held in memory while it is gathered.
 */
const GROUP_CELLS = 512 * 1024;
const GROUP_CHARACTERS = 2 * 1024 * 1024;

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

/**
 * Takes rows and hands out the bytes of a Parquet file as they are complete.
 *
 * The library frames the file: schema, page headers, runs, Snappy, metadata. Columns are encoded here, since it is
 * built for values of any type and shape, which costs it 0.1 to 1.3 microseconds a cell (a BigInt for each integer, a
 * list of bytes for each text); those of a register cost a tenth of that.
 */
export class ParquetEncoder {
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ParquetColumn[];
  #rows = 0;

  constructor(values: readonly Value[]) {
    this.#columns = values.map(columnOf);
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
    let characters = 0;
    for (const [index, column] of this.#columns.entries()) {
      column.add(columns[index] ?? []);
      characters += column.characters;
    }
    this.#rows += rows;
    const isFull = this.#rows * this.#columns.length >= GROUP_CELLS || characters >= GROUP_CHARACTERS;
    if (!isFull) return undefined;
    this.#writeGroup();
    return this.#take();
  }

  #writeGroup(): void {
    const start = this.#bytes.offset;
    const columns = this.#columns.map((column) => column.write(this.#bytes));
    let size = 0n;
    for (const { meta_data } of columns) size += meta_data?.total_uncompressed_size ?? 0n;
    const rows = BigInt(this.#rows);
    this.#writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: rows,
      total_compressed_size: BigInt(this.#bytes.offset - start),
    });
    this.#writer.num_rows += rows;
    this.#rows = 0;
  }

  /** No more rows. @returns the rest of the file */
  finish(): Uint8Array {
    if (this.#rows > 0) this.#writeGroup();
    // Nothing to await: bytes are only gathered.
    void this.#writer.finish();
    return this.#take();
  }

  /** Empties the gathered bytes; the count of all of them goes on, since the file's index points by it. */
  #take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return taken;
  }
}

function columnOf({ name, type, nullable }: Value): ParquetColumn {
  const physical = TYPES[type]?.type;
  if (physical === undefined) return new TextColumn(name, nullable);
  if (physical === 'BOOLEAN') return new BooleanColumn(name, nullable);
  return type === 'time'
    ? // In seconds, which are small enough to be looked up fast.
      new IntegerColumn(name, nullable, (cell) => millisecondsOf(String(cell)) / 1000, 1000)
    : new IntegerColumn(name, nullable, Number, 1);
}
