/** One pass over the rows of an export writes it in every format. */
import { join } from 'node:path';
import { Gzip } from 'fflate';
import type { Register } from '../register/open.js';
import { EXPORT_FORMATS, exportFile } from '../export-routes.js';
import type { ExportFormat } from '../export-routes.js';
import { CsvEncoder } from './csv.js';
import { ParquetEncoder } from './parquet.js';
import { rows } from './rows.js';
import type { Cell } from './rows.js';
import { Sink } from './sink.js';
import type { Measured } from './sink.js';
import type { Export } from './tables.js';

/** Rows that become text at once; more cost memory and save nothing. */
const BATCH_ROWS = 1000;

/** Measured on real exports: 9 takes twice as long and saves 1 %. */
const GZIP_LEVEL = 6;

export type Files = Readonly<Record<ExportFormat, Measured>>;

/** What an export came to. */
export interface Written {
  readonly rows: number;
  readonly files: Files;
}

/**
 * Writes all files of an export below a folder, at their places in the tree. Yields how many rows were written since.
 *
 * The gzip is made by a library of JavaScript: zlib gives other bytes with other versions of Node and other
 * processors, and the same register must give the same tree on each.
 */
export function* writeExport(
  register: Register,
  table: Export,
  folder: string,
): Generator<number, Written, undefined> {
  const sinks = new Map(
    EXPORT_FORMATS.map(({ format }) => [format, new Sink(join(folder, exportFile(table.name, format)))]),
  );
  const sink = (format: ExportFormat): Sink => {
    const found = sinks.get(format);
    if (found === undefined) throw new TypeError(`no file is open for "${format}"`);
    return found;
  };
  const gzip = new Gzip({ level: GZIP_LEVEL, mtime: 0 }, (chunk) => sink('csv.gz').write(chunk));
  const values = table.columns.map(({ value }) => value);
  const parquet = new ParquetEncoder(values);
  const csv = new CsvEncoder(values);
  const writeText = (text: string, last = false): void => {
    const bytes = Buffer.from(text);
    sink('csv').write(bytes);
    gzip.push(bytes, last);
  };
  let count = 0;
  try {
    writeText(csv.header());
    let batch: Cell[][] = [];
    for (const cells of rows(register, table)) {
      batch.push(cells);
      const group = parquet.add(cells);
      if (group !== undefined) sink('parquet').write(group);
      count += 1;
      if (batch.length < BATCH_ROWS) continue;
      writeText(csv.lines(batch));
      yield batch.length;
      batch = [];
    }
    writeText(csv.lines(batch), true);
    yield batch.length;
    sink('parquet').write(parquet.finish());
    return {
      rows: count,
      files: {
        csv: sink('csv').finish(),
        'csv.gz': sink('csv.gz').finish(),
        parquet: sink('parquet').finish(),
      },
    };
  } finally {
    for (const open of sinks.values()) open.close();
  }
}
