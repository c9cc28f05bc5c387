/** Writes an export in every format, in one pass over its rows. */
import { join } from 'node:path';
import { EXPORT_FORMATS, exportFile } from '../routes/exports.js';
import type { ExportFormat } from '../routes/exports.js';
import { blocks } from './blocks.js';
import { CsvEncoder } from './csv.js';
import { GzipFile } from '../publish/gzip.js';
import type { WrittenFile } from '../publish/gzip.js';
import { ParquetEncoder } from './parquet.js';
import { Sink } from '../tree/sink.js';
import { changedIn, isIntact } from './last-file.js';
import type { LastFile } from './last-file.js';
import { LastParquet } from './last-parquet.js';
import { nextBlocks } from './next-blocks.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';
import type { Block } from './cells.js';
import type { Context } from '../register/context.js';
import type { Register } from '../register/database.js';
import { rangesOf } from '../register/sql.js';

export interface ExportJob {
  /** The name of the export. */
  readonly table: string;
  /** The folder below which its files are written, under their paths in the tree. */
  readonly folder: string;
  /** Set if the files are to be made from their last version. */
  readonly last?:
    | {
        readonly csv: LastFile;
        readonly parquet: LastFile;
        /** The patches of the records' fingerprints, which have the records that changed. */
        readonly patches: readonly string[];
      }
    | undefined;
}

/** Reports its progress in rows. @returns the files in the order of `EXPORT_FORMATS` */
export function writeExport(
  { register, advance }: Context,
  { table: name, folder, last }: ExportJob,
): readonly WrittenFile[] {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const values = table.columns.map(({ value }) => value);
  const csv = new CsvEncoder(values);
  const isFollowed = last !== undefined && isIntact(last.csv) && isIntact(last.parquet);
  const lastParquet = isFollowed ? new LastParquet(last.parquet.file) : undefined;
  const parquet = new ParquetEncoder(values, lastParquet);
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
    const source = isFollowed ? followed(register, table, last, csv) : blocks(register, table);
    for (const block of source) {
      writeLines(block.last?.lines ?? csv.lines(block));
      files.parquet.write(parquet.add(block));
      rows += block.rows;
      advance(block.rows);
    }
    files.parquet.write(parquet.finish());
    return EXPORT_FORMATS.map(({ format }) => ({ ...files[format].finish(), rows }));
  } finally {
    for (const each of Object.values(files)) each.close();
    lastParquet?.close();
  }
}

function followed(
  register: Register,
  table: Export,
  { csv: file, patches }: NonNullable<ExportJob['last']>,
  csv: CsvEncoder,
): Iterable<Block> {
  register.scope('changed', rangesOf(table.resource.kind, changedIn(patches)));
  return nextBlocks(file.file, changedIn(patches), blocks(register, table, 'changed'), csv);
}
