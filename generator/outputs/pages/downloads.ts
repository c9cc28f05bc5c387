/** The downloads page: the files, their sizes, and how to read them. */
import type { BuildConfig } from '../../config.js';
import type { Value } from '../../schema/field.js';
import { PATHS } from '../../routes/paths.js';
import { valueRow } from './fields.js';
import { amount, integer, interval, leastTime, moment, size } from './words.js';

export interface DownloadFile {
  /** URL path: `/downloads/groups.csv.gz`. */
  readonly path: string;
  /** In words: `CSV`, `CSV (gzip)`, `Parquet`. */
  readonly format: string;
  /** Media type. */
  readonly type: string;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface DownloadTable {
  readonly name: string;
  readonly description: string;
  readonly rows: number;
  readonly columns: readonly Value[];
  readonly files: readonly DownloadFile[];
}

/** A file that holds more than one table. */
export interface BulkDownload extends Omit<DownloadFile, 'format'> {
  readonly description: string;
  /** Lines, or rows of all tables. */
  readonly rows: number;
}

/** The bulk downloads, as pages show them. */
export interface OfferedDownloads {
  readonly asOf: string | null;
  /** Empty if none are published. */
  readonly tables: readonly DownloadTable[];
  readonly bulk: readonly BulkDownload[];
}

/**
 * The data for the template of the downloads page.
 * @param registerAsOf the newest measurement in the rest of the tree
 */
export function downloadsPage(
  { asOf, tables, bulk }: OfferedDownloads,
  { operator, limits }: BuildConfig,
  registerAsOf: string | null,
) {
  const largest = tables
    .flatMap(({ files }) => files)
    .reduce<DownloadFile | undefined>(
      (most, file) => (most !== undefined && most.bytes >= file.bytes ? most : file),
      undefined,
    );
  const { tokens, refillSeconds } = limits.download;
  const files = tables.reduce((sum, table) => sum + table.files.length, bulk.length);
  return {
    asOf: asOf === null ? undefined : { time: asOf, words: moment(asOf) },
    isBehind: asOf !== registerAsOf,
    tables: tables.map(({ name, description, rows, columns, files }) => ({
      name,
      description,
      rows: amount(rows, 'row'),
      columns: columns.map((column) => ({
        name: column.name,
        description: column.description,
        ...valueRow(column),
      })),
      files: files.map((file) => ({ ...shownFile(file), format: file.format })),
    })),
    bulk: bulk.map((file) => ({
      ...shownFile(file),
      description: file.description,
      rows: integer(file.rows),
    })),
    /** The largest file, for which resuming matters most. */
    resume: largest === undefined ? undefined : operator.baseUrl + largest.path,
    resumeName: largest === undefined ? undefined : shownFile(largest).name,
    /** All files: how many, and how long they take under the limit. */
    whole: { files: amount(files, 'download'), time: leastTime(files, limits.download) },
    folder: operator.baseUrl + PATHS.bulk,
    path: PATHS.bulk,
    limit: { tokens: amount(tokens, 'download'), every: interval(refillSeconds) },
  };
}

const shownFile = ({ path, bytes, sha256 }: Omit<DownloadFile, 'format' | 'type'>) => ({
  path,
  name: path.slice(PATHS.bulk.length + 1),
  size: size(bytes),
  bytes: integer(bytes),
  sha256,
});
