/** Pages of a Parquet file: what a column chunk is made of. */
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { ByteWriter } from 'hyparquet-writer';
import type { Encoding } from 'hyparquet';

/** A page of values, in which nulls have no place; levels tell where they are. */
export interface DataPage {
  readonly rows: number;
  readonly nulls: number;
  /** 1 for a value and 0 for a null; undefined where there can be none. */
  readonly levels: Uint8Array | undefined;
  readonly encoding: Encoding;
  readonly codec: 'SNAPPY' | 'UNCOMPRESSED';
  readonly values: Uint8Array;
}

/** @returns the page's size before compression */
export function writeDataPage(writer: ByteWriter, page: DataPage): number {
  const { rows, nulls, encoding, codec, values } = page;
  const levels = page.levels === undefined ? new Uint8Array() : runs(page.levels, 1);
  const compressed = codec === 'SNAPPY' ? snappyCompress(values) : values;
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.length + values.length,
    compressed_page_size: levels.length + compressed.length,
    data_page_header_v2: {
      num_values: rows,
      num_nulls: nulls,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: codec === 'SNAPPY',
    },
  });
  const header = writer.offset - start;
  writer.appendBytes(levels);
  writer.appendBytes(compressed);
  return header + levels.length + values.length;
}

/** @returns the page's size before compression */
export function writeDictionaryPage(writer: ByteWriter, count: number, values: Uint8Array): number {
  const compressed = snappyCompress(values);
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: values.length,
    compressed_page_size: compressed.length,
    dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
  });
  const header = writer.offset - start;
  writer.appendBytes(compressed);
  return header + values.length;
}

/** Small numbers as runs of equals and packed bits. */
export function runs(numbers: Uint8Array | Uint32Array, bitWidth: number): Uint8Array {
  const writer = new ByteWriter();
  writeRleBitPackedHybrid(writer, numbers, bitWidth);
  return writer.getBytes();
}

/** The places of values in a dictionary, as their page has them: how many bits each takes, then runs. */
export function placesInDictionary(places: Uint32Array, distinct: number): Uint8Array {
  const bitWidth = distinct < 2 ? 0 : 32 - Math.clz32(distinct - 1);
  const packed = runs(places, bitWidth);
  const page = new Uint8Array(1 + packed.length);
  page[0] = bitWidth;
  page.set(packed, 1);
  return page;
}
