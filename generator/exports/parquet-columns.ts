/** Columns of a row group, gathered cell by cell in the form in which Parquet wants them. */
import type { ByteWriter } from 'hyparquet-writer';
import type { ColumnChunk, Encoding, ParquetType } from 'hyparquet';
import type { Cell } from './cells.js';
import { Bytes } from './bytes.js';
import { Dictionary } from './dictionary.js';
import { areNear, deltas } from './parquet-delta.js';
import { placesInDictionary, runs, writeDataPage, writeDictionaryPage } from './parquet-pages.js';

type Bound = bigint | string | boolean;

/** What a column's values come to. */
interface Encoded {
  readonly encoding: Encoding;
  readonly values: Uint8Array;
  readonly dictionary?: { readonly count: number; readonly values: Uint8Array };
  /** Undefined where there is no value. */
  readonly least: Bound | undefined;
  readonly most: Bound | undefined;
}

/** One column, from row group to row group. */
export abstract class ParquetColumn {
  readonly #name: string;
  readonly #type: ParquetType;
  readonly #nullable: boolean;
  readonly #levels = new Bytes();
  #rows = 0;
  #nulls = 0;
  /** Characters of text in this group so far. */
  characters = 0;

  constructor(name: string, type: ParquetType, nullable: boolean) {
    this.#name = name;
    this.#type = type;
    this.#nullable = nullable;
  }

  add(cells: readonly Cell[]): void {
    for (const cell of cells) {
      if (cell === null) this.#nulls += 1;
      else this.put(cell);
      if (this.#nullable) this.#levels.byte(cell === null ? 0 : 1);
    }
    this.#rows += cells.length;
    if (this.#nulls > 0 && !this.#nullable) throw new TypeError(`"${this.#name}" is null, expected a value`);
  }

  protected abstract put(cell: string | number): void;

  /** Encodes what was put, and forgets it. */
  protected abstract encode(): Encoded;

  /** Writes the column's chunk of a row group, and begins the next. */
  write(writer: ByteWriter): ColumnChunk {
    const { encoding, values, dictionary, least, most } = this.encode();
    // Packed bits have nothing left to compress.
    const codec = encoding === 'DELTA_BINARY_PACKED' ? 'UNCOMPRESSED' : 'SNAPPY';
    const start = writer.offset;
    let size = 0;
    if (dictionary !== undefined) size += writeDictionaryPage(writer, dictionary.count, dictionary.values);
    const data = writer.offset;
    const levels = this.#nullable ? this.#levels.gathered() : undefined;
    size += writeDataPage(writer, { rows: this.#rows, nulls: this.#nulls, levels, encoding, codec, values });
    const chunk: ColumnChunk = {
      meta_data: {
        type: this.#type,
        encodings: dictionary === undefined ? [encoding] : ['PLAIN', encoding],
        path_in_schema: [this.#name],
        codec,
        num_values: BigInt(this.#rows),
        total_compressed_size: BigInt(writer.offset - start),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(data),
        ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
        statistics: {
          null_count: BigInt(this.#nulls),
          ...(least === undefined || most === undefined ? {} : { min_value: least, max_value: most }),
        },
        encoding_stats: [
          ...(dictionary === undefined
            ? []
            : [{ page_type: 'DICTIONARY_PAGE' as const, encoding: 'PLAIN' as const, count: 1 }]),
          { page_type: 'DATA_PAGE_V2', encoding, count: 1 },
        ],
      },
      file_offset: BigInt(start),
    };
    this.#levels.clear();
    this.#rows = 0;
    this.#nulls = 0;
    this.characters = 0;
    return chunk;
  }
}

/** How often a value must stand on average for a dictionary to pay; integers become small without one, too. */
const INTEGERS_PAY = 8;
const TEXTS_PAY = 2;

/** Integers of 64 bits. */
export class IntegerColumn extends ParquetColumn {
  readonly #numberOf: (cell: Cell) => number;
  readonly #factor: number;
  readonly #dictionary = new Dictionary<number>(INTEGERS_PAY);
  #values = new Float64Array(1024);
  #count = 0;

  /**
   * @param numberOf what a cell stands for
   * @param factor what that is multiplied with to give the value
   */
  constructor(name: string, nullable: boolean, numberOf: (cell: Cell) => number, factor: number) {
    super(name, 'INT64', nullable);
    this.#numberOf = numberOf;
    this.#factor = factor;
  }

  protected override put(cell: string | number): void {
    if (this.#count === this.#values.length) this.#values = grown(this.#values);
    const value = this.#numberOf(cell);
    this.#values[this.#count] = value;
    this.#count += 1;
    this.#dictionary.put(value);
  }

  protected override encode(): Encoded {
    if (!this.#dictionary.pays) this.#dictionary.giveUp();
    const { values: distinct, places } = this.#dictionary.take();
    const values = scaled(
      distinct.length === 0 ? this.#values.subarray(0, this.#count) : Float64Array.from(distinct),
      this.#factor,
    );
    this.#count = 0;
    let least = Infinity;
    let most = -Infinity;
    for (const value of values) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (values.length === 0) return { encoding: 'PLAIN', values: new Uint8Array(), ...NO_BOUNDS };
    const bounds = { least: BigInt(least), most: BigInt(most) };
    if (distinct.length > 0) {
      return {
        encoding: 'RLE_DICTIONARY',
        values: placesInDictionary(places, distinct.length),
        dictionary: { count: distinct.length, values: plainIntegers(values) },
        ...bounds,
      };
    }
    return areNear(least, most)
      ? { encoding: 'DELTA_BINARY_PACKED', values: deltas(values), ...bounds }
      : { encoding: 'PLAIN', values: plainIntegers(values), ...bounds };
  }
}

const NO_BOUNDS = { least: undefined, most: undefined };

const scaled = (values: Float64Array, factor: number): Float64Array =>
  factor === 1 ? values : values.map((value) => value * factor);

const UINT32 = 2 ** 32;

function plainIntegers(values: Float64Array): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0;
    const high = Math.floor(value / UINT32);
    view.setUint32(8 * index, value - high * UINT32, true);
    view.setInt32(8 * index + 4, high, true);
  }
  return bytes;
}

function grown(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * values.length);
  larger.set(values);
  return larger;
}

/** Texts in UTF-8. */
export class TextColumn extends ParquetColumn {
  readonly #dictionary = new Dictionary<string>(TEXTS_PAY);
  /** All texts, once the dictionary is given up. */
  readonly #plain = new Bytes();
  #least: string | undefined;
  #most: string | undefined;

  constructor(name: string, nullable: boolean) {
    super(name, 'BYTE_ARRAY', nullable);
  }

  protected override put(cell: string | number): void {
    const text = String(cell);
    this.characters += text.length;
    if (this.#dictionary.put(text)) return;
    this.#giveUp();
    this.#putPlain(text);
  }

  /** What is in the dictionary so far is written out, once. */
  #giveUp(): void {
    const { values, places } = this.#dictionary.giveUp();
    for (const place of places) this.#putPlain(values[place] ?? '');
  }

  #putPlain(text: string): void {
    putText(this.#plain, text);
    this.#compare(text);
  }

  #compare(text: string): void {
    if (this.#least === undefined || isBelow(text, this.#least)) this.#least = text;
    if (this.#most === undefined || isBelow(this.#most, text)) this.#most = text;
  }

  protected override encode(): Encoded {
    if (!this.#dictionary.pays) this.#giveUp();
    const { values, places } = this.#dictionary.take();
    for (const text of values) this.#putPlain(text);
    const plain = this.#plain.gathered().slice();
    const bounds = { least: this.#least, most: this.#most };
    this.#plain.clear();
    this.#least = undefined;
    this.#most = undefined;
    if (values.length === 0) return { encoding: 'PLAIN', values: plain, ...bounds };
    return {
      encoding: 'RLE_DICTIONARY',
      values: placesInDictionary(places, values.length),
      dictionary: { count: values.length, values: plain },
      ...bounds,
    };
  }
}

/** A text behind its length in bytes. */
function putText(bytes: Bytes, text: string): void {
  const start = bytes.length;
  bytes.uint32(0);
  bytes.text(text);
  bytes.uint32At(start, bytes.length - start - 4);
}

/** Whether a text stands before another by its bytes in UTF-8, which is the order of code points. */
export function isBelow(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const one = left.charCodeAt(index);
    const other = right.charCodeAt(index);
    if (one !== other) return rank(one) < rank(other);
  }
  return left.length < right.length;
}

/** Halves of surrogate pairs (U+D800 to U+DFFF) stand for what is above all that one unit can say. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Truth values, 0 and 1. */
export class BooleanColumn extends ParquetColumn {
  readonly #bits = new Bytes();

  constructor(name: string, nullable: boolean) {
    super(name, 'BOOLEAN', nullable);
  }

  protected override put(cell: string | number): void {
    this.#bits.byte(cell === 1 ? 1 : 0);
  }

  protected override encode(): Encoded {
    const bits = this.#bits.gathered();
    const isSome = bits.length > 0;
    const least = isSome ? !bits.includes(0) : undefined;
    const most = isSome ? bits.includes(1) : undefined;
    const packed = runs(bits, 1);
    this.#bits.clear();
    // Runs of truth values stand behind their length.
    this.#bits.uint32(packed.length);
    this.#bits.bytes(packed);
    const values = this.#bits.gathered().slice();
    this.#bits.clear();
    return { encoding: 'RLE', values, least, most };
  }
}
