/** The last version of a Parquet file: column chunks that did not change are copied from it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parquetMetadata } from 'hyparquet';
import type { ColumnMetaData, FileMetaData, RowGroup } from 'hyparquet';

/** The length of the description, and "PAR1". */
const END_BYTES = 8;

export class LastParquet {
  readonly #descriptor: number;
  /** By the number of rows before. */
  readonly #groups = new Map<number, RowGroup>();

  /** @param file a file that the encoder wrote, intact */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
    let first = 0;
    for (const group of this.#read().row_groups) {
      this.#groups.set(first, group);
      first += Number(group.num_rows);
    }
  }

  #read(): FileMetaData {
    const { size } = fstatSync(this.#descriptor);
    const length = this.#bytes(size - END_BYTES, END_BYTES).readUInt32LE();
    const footer = this.#bytes(size - END_BYTES - length, length + END_BYTES);
    // Bounds stay as they are written.
    const parsers = {
      stringFromBytes: (bytes: Uint8Array) => bytes,
      timestampFromMilliseconds: (ms: bigint) => ms,
    };
    return parquetMetadata(footer, { parsers });
  }

  /** The row group of some rows, if there is one. @param first how many rows come before */
  group(first: number, rows: number): RowGroup | undefined {
    const group = this.#groups.get(first);
    return group?.num_rows === BigInt(rows) ? group : undefined;
  }

  /** The bytes of a column chunk. */
  chunk(meta: ColumnMetaData): Uint8Array {
    return this.#bytes(Number(startOf(meta)), Number(meta.total_compressed_size));
  }

  #bytes(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let at = 0; at < length;) {
      const read = readSync(this.#descriptor, bytes, at, length - at, from + at);
      if (read === 0) throw new TypeError(`a file ends before byte ${from + length}`);
      at += read;
    }
    return bytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Where a column chunk begins: with its dictionary, if it has one. */
export const startOf = ({ dictionary_page_offset, data_page_offset }: ColumnMetaData): bigint =>
  dictionary_page_offset ?? data_page_offset;
