/** Rows as Parquet: typed columns, Snappy where it pays, statistics. Row groups are bounded, so memory is, too. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnSource } from 'hyparquet-writer';
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

/** Takes rows and hands out the bytes of a Parquet file as they are complete. */
export class ParquetEncoder {
  readonly #values: readonly Value[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #texts = new Texts();
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

  /** @returns bytes of the file, where the block completed a group */
  add(block: Block): Uint8Array | undefined {
    this.#blocks.push(block);
    this.#rows += block.rows;
    for (const [index, { type }] of this.#values.entries())
      if (TYPES[type] === undefined) this.#characters += charactersIn(block.columns[index] ?? []);
    const isFull = this.#rows * this.#values.length >= GROUP_CELLS || this.#characters >= GROUP_CHARACTERS;
    return isFull ? this.#writeGroup() : undefined;
  }

  #writeGroup(): Uint8Array {
    const columnData = this.#values.map(({ name, type }, index) => ({
      name,
      ...stored(joined(this.#blocks.map(({ columns }) => columns[index] ?? [])), type, this.#texts),
      // Places of pages are of no use without their bounds, and would be kept for all groups to the end.
      offsetIndex: false,
    }));
    // Nothing to await: bytes are only gathered.
    void this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#keepBounds();
    this.#texts.drop();
    this.#blocks = [];
    this.#rows = 0;
    this.#characters = 0;
    return this.#take();
  }

  /** The library writes the bounds of all groups at the end, and keeps the texts that it was given until then. */
  #keepBounds(): void {
    for (const { meta_data } of this.#writer.row_groups.at(-1)?.columns ?? []) {
      const { statistics } = meta_data ?? {};
      if (statistics?.min_value instanceof Uint8Array) statistics.min_value = statistics.min_value.slice();
      if (statistics?.max_value instanceof Uint8Array) statistics.max_value = statistics.max_value.slice();
    }
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

const charactersIn = (cells: readonly Cell[]): number =>
  cells.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? cell.length : 0), 0);

/** Several times as fast as flat() and flatMap(). */
const joined = (lists: readonly (readonly Cell[])[]): Cell[] => new Array<Cell>().concat(...lists);

/** The cells of a column as the library takes them, and how it is to write them. */
function stored(
  cells: Cell[],
  type: ValueType,
  texts: Texts,
): Pick<ColumnSource, 'data' | 'encoding' | 'codec'> {
  if (type === 'boolean') return { data: cells.map((cell) => (cell === null ? null : cell === 1)) };
  // Snappy takes time over these, and finds next to nothing.
  if (type === 'time') return { data: cells.map(millisecondsIn), codec: 'UNCOMPRESSED' };
  if (TYPES[type] === undefined) return { data: type === 'text' ? texts.encoded(cells) : cells };
  // Differences, packed: smaller than what Snappy makes of the values, and without a bigint for each.
  return cells.every(isSmall)
    ? { data: cells, encoding: 'DELTA_BINARY_PACKED', codec: 'UNCOMPRESSED' }
    : { data: cells.map((cell) => (cell === null ? null : BigInt(cell))) };
}

/** Whether the library packs a number without making a bigint of it: 32 bits. */
const isSmall = (cell: Cell): boolean => cell === null || (typeof cell === 'number' && cell === (cell | 0));

const millisecondsIn = (cell: Cell): bigint | null =>
  cell === null ? null : BigInt(millisecondsOf(String(cell)));

/** Turns texts into UTF-8, side by side in memory that is used again: faster than a piece of memory for each. */
class Texts {
  #bytes = Buffer.alloc(0);
  #at = 0;

  /** Valid until all are dropped. */
  encoded(cells: readonly Cell[]): (Uint8Array | null)[] {
    const most = 3 * charactersIn(cells);
    if (this.#bytes.length - this.#at < most) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.#bytes.length));
      this.#at = 0;
    }
    const bytes = this.#bytes;
    return cells.map((cell) => {
      if (cell === null) return null;
      const start = this.#at;
      this.#at += bytes.write(String(cell), start);
      return new Uint8Array(bytes.buffer, start, this.#at - start);
    });
  }

  drop(): void {
    this.#at = 0;
  }
}
