/** One pass over the rows of an export writes it in every format. */
import { join } from 'node:path';
import type { Register } from '../register/open.js';
import { EXPORT_FORMATS, exportFile } from '../export-routes.js';
import type { ExportFormat } from '../export-routes.js';
import { CsvEncoder } from './csv.js';
import { GzipEncoder } from './gzip.js';
import { ParquetEncoder } from './parquet.js';
import { rows } from './rows.js';
import type { Cell } from './rows.js';
import { Sink } from './sink.js';
import type { Measured } from './sink.js';
import type { Export } from './tables.js';

/** Rows that become text at once; more cost memory and save nothing. */
const BATCH_ROWS = 1000;

export type Files = Readonly<Record<ExportFormat, Measured>>;

/** What an export came to. */
export interface Written {
  readonly rows: number;
  readonly files: Files;
}

/**
 * Writes all files of an export below a folder, at their places in the tree. Yields how many rows were written since.
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
  const gzip = new GzipEncoder((bytes) => sink('csv.gz').write(bytes));
  const values = table.columns.map(({ value }) => value);
  const parquet = new ParquetEncoder(values);
  const csv = new CsvEncoder(values);
  const writeText = (text: string): void => {
    const bytes = Buffer.from(text);
    sink('csv').write(bytes);
    gzip.write(bytes);
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
    writeText(csv.lines(batch));
    gzip.finish();
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
