/** Writes a table of the downloads in each format, and its part of the database, in one pass over its rows. */
import { join } from 'node:path';
import { GzipFile } from '../base/gzip.js';
import { Sink } from '../base/sink.js';
import type { Context } from '../register/context.js';
import { exportFile, type ExportFormat } from '../routes/exports.js';
import { CsvEncoder } from './csv.js';
import { DatabasePart } from './database.js';
import { ParquetFile } from './parquet.js';
import { batchesOf } from './rows.js';
import { exportNamed } from './tables.js';
import type { WrittenFiles } from './downloads.js';

/**
 * Writes the files of an export, and reports its progress in rows.
 * @param input `folder`: below it, each file has its path in the tree
 */
export function writeTable(
  { register, advance }: Context,
  { table: name, folder }: { readonly table: string; readonly folder: string },
): WrittenFiles {
  const table = exportNamed(name);
  const values = table.columns.map(({ value }) => value);
  const path = (format: ExportFormat): string => join(folder, exportFile(name, format));
  const encoder = new CsvEncoder(values);
  const csv = new Sink(path('csv'));
  const gzip = new GzipFile(path('csv.gz'));
  const parquet = new ParquetFile(path('parquet'), values);
  const part = new DatabasePart(folder, table);
  let rows = 0;
  try {
    const write = (lines: Uint8Array): void => {
      csv.write(lines);
      gzip.write(lines);
    };
    write(encoder.header());
    for (const batch of batchesOf(register, table)) {
      const lines = encoder.lines(batch);
      write(lines);
      parquet.add(batch, lines.length);
      part.add(batch);
      rows += batch.length;
      advance(batch.length);
    }
    part.finish();
    return {
      [exportFile(name, 'csv')]: { ...csv.finish(), rows },
      [exportFile(name, 'csv.gz')]: { ...gzip.finish(), rows },
      [exportFile(name, 'parquet')]: { ...parquet.finish(), rows },
    };
  } finally {
    for (const file of [csv, gzip, parquet, part]) file.close();
  }
}
