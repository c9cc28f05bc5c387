/** Rows as Parquet: typed columns, Snappy, statistics. Row groups are bounded, so memory is, too. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';
import type { Value, ValueType } from '../resources/field.js';
import type { Cell } from './rows.js';

/** Readers skip by row groups and read them side by side; 65,536 rows or 8 Mi characters of text fill one. */
const GROUP_ROWS = 65_536;
const GROUP_CHARACTERS = 8 * 1024 * 1024;

type ParquetType = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>;

const INTEGER: ParquetType = { type: 'INT64' };
const TEXT: ParquetType = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };

const TYPES: Readonly<Record<ValueType, ParquetType>> = {
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
  text: TEXT,
  enum: TEXT,
  path: TEXT,
};

/** What a column of Parquet holds. */
type Stored = bigint | string | boolean | null;

/** Takes rows and hands out the bytes of a Parquet file as they are complete. */
export class ParquetEncoder {
  readonly #values: readonly Value[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #times = new Times();
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
        ...TYPES[type],
      })),
    ];
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema, createdBy: 'register-api' });
  }

  /** @returns bytes of the file, where the row completed a group */
  add(cells: readonly Cell[]): Uint8Array | undefined {
    for (const [index, { type }] of this.#values.entries()) {
      this.#columns[index]?.push(this.#stored(cells[index] ?? null, type));
    }
    this.#rows += 1;
    return this.#rows < GROUP_ROWS && this.#characters < GROUP_CHARACTERS ? undefined : this.#writeGroup();
  }

  #stored(cell: Cell, type: ValueType): Stored {
    if (typeof cell === 'number') return BigInt(cell);
    if (typeof cell !== 'string') return cell;
    if (type === 'time') return this.#times.milliseconds(cell);
    this.#characters += cell.length;
    return cell;
  }

  #writeGroup(): Uint8Array {
    const columnData = this.#columns.map((data, index) => ({ name: this.#values[index]?.name ?? '', data }));
    // Nothing to await: bytes are only gathered.
    void this.#writer.write({ columnData, rowGroupSize: GROUP_ROWS });
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

/** Most times of a register are those of a few measuring runs. */
class Times {
  static readonly #remembered = 10_000;
  #known = new Map<string, bigint>();

  /** RFC 3339 -> milliseconds since 1970. */
  milliseconds(time: string): bigint {
    const known = this.#known.get(time);
    if (known !== undefined) return known;
    if (this.#known.size >= Times.#remembered) this.#known = new Map();
    const milliseconds = BigInt(Date.parse(time));
    this.#known.set(time, milliseconds);
    return milliseconds;
  }
}
