/** Writes an export in every format, in one pass over its rows. */
import { join } from 'node:path';
import type { Register } from '../register/database.js';
import { EXPORT_FORMATS, exportFile } from '../routes/exports.js';
import type { ExportFormat } from '../routes/exports.js';
import { blocks } from './blocks.js';
import { CsvEncoder } from './csv.js';
import { GzipEncoder } from '../publish/gzip.js';
import { ParquetEncoder } from './parquet.js';
import { Sink } from '../publish/sink.js';
import type { WrittenContent } from '../publish/sink.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';
import type { Context } from '../register/context.js';

export type WrittenFiles = Readonly<Record<ExportFormat, WrittenContent>>;

export interface Written {
  readonly rows: number;
  readonly files: WrittenFiles;
}

/**
 * Writes all files of an export below a folder, under their paths in the tree. Yields the number of
 * rows of each step.
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
  const writeLines = (lines: Uint8Array): void => {
    sink('csv').write(lines);
    gzip.write(lines);
  };
  let count = 0;
  try {
    writeLines(csv.header());
    for (const block of blocks(register, table)) {
      writeLines(csv.lines(block));
      const group = parquet.add(block);
      if (group !== undefined) sink('parquet').write(group);
      count += block.rows;
      yield block.rows;
    }
    gzip.finish();
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

export interface ExportJob {
  /** The name of the export. */
  readonly table: string;
  /** The folder below which its files are written. */
  readonly folder: string;
}

/** Writes an export and reports its progress in rows. */
export function writeFiles({ register, advance }: Context, { table: name, folder }: ExportJob): Written {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const writing = writeExport(register, table, folder);
  for (;;) {
    const step = writing.next();
    if (step.done === true) return step.value;
    advance(step.value);
  }
}
