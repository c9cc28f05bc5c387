/** Writes the files of a table, in one pass over its rows. */
import { join } from 'node:path';
import { EXPORT_FORMATS, exportFile, type ExportFormat } from '../routes/exports.js';
import { blocks } from './blocks.js';
import { CsvEncoder } from './csv.js';
import { GzipFile, type WrittenFile } from '../publish/gzip.js';
import { ParquetEncoder } from './parquet.js';
import { Sink } from '../tree/sink.js';
import { EXPORTS } from './tables.js';
import type { Context } from '../register/context.js';

export interface ExportJob {
  /** The name of the export. */
  readonly table: string;
  /** The folder below which its files are written, under their paths in the tree. */
  readonly folder: string;
}

/** Reports its progress in rows. @returns the files in the order of `EXPORT_FORMATS` */
export function writeExport(
  { register, advance }: Context,
  { table: name, folder }: ExportJob,
): readonly WrittenFile[] {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const values = table.columns.map(({ value }) => value);
  const csv = new CsvEncoder(values);
  const parquet = new ParquetEncoder(values);
  const file = (format: ExportFormat): string => join(folder, exportFile(name, format));
  const files = {
    csv: new Sink(file('csv')),
    'csv.gz': new GzipFile(file('csv.gz')),
    parquet: new Sink(file('parquet')),
  };
  const writeLines = (lines: Uint8Array): void => {
    files.csv.write(lines);
    files['csv.gz'].write(lines);
  };
  let rows = 0;
  try {
    writeLines(csv.header());
    for (const block of blocks(register, table)) {
      writeLines(csv.lines(block));
      files.parquet.write(parquet.add(block));
      rows += block.rows;
      advance(block.rows);
    }
    files.parquet.write(parquet.finish());
    return EXPORT_FORMATS.map(({ format }) => ({ ...files[format].finish(), rows }));
  } finally {
    for (const each of Object.values(files)) each.close();
  }
}
