/** The downloads page: the files, their sizes, and how to read them. */
import { basename } from 'node:path/posix';
import type { SiteConfig } from '../../config/config.js';
import { TIME_FORMS, sqlTypeOf } from '../../exports/database-schema.js';
import type { Value } from '../../schema/shape.js';
import { DATABASE, PLAIN_DATABASE } from '../../routes/exports.js';
import { PATHS } from '../../routes/paths.js';
import type { Overview } from '../../register/overview.js';
import { enumerated, measuredKinds, type Measured } from '../../schema/measured.js';
import { wordsIn, type InWords } from '../../schema/words.js';
import { datasetteLite, exampleOf, leastTime, WHOLE_DOWNLOAD } from '../downloads/recipes.js';
import { meaningInWords, valueRow } from './fields.js';
import { amount, integer, interval, moment, size } from './words.js';

export interface ListedFile {
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
  /** The kind of its records: `groups`. */
  readonly plural: string;
  readonly description: string;
  readonly rows: number;
  /** The newest measurement, if it is a table of records. */
  readonly newest: string | null;
  readonly columns: readonly Value[];
  /** One in each format, in the same order in all tables. */
  readonly files: readonly ListedFile[];
}

/** A file that holds more than one table. */
export interface BulkDownload extends Omit<ListedFile, 'format'> {
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
 * @param overview of the rest of the tree
 */
export function downloadsContent(
  { asOf, tables, bulk }: OfferedDownloads,
  { operator, limits }: SiteConfig,
  { asOf: registerAsOf, measured }: Overview,
) {
  const inWords = wordsIn(operator);
  const database = bulk.find(({ path }) => path === `/${DATABASE.file}`);
  const plain = bulk.find(({ path }) => path === `/${PLAIN_DATABASE.file}`);
  const documents = bulk.filter((file) => file !== database && file !== plain);
  const ofTables = tables.flatMap(({ files }) => files);
  const all = [...ofTables, ...bulk];
  const [resumed] = ofTables.toSorted((a, b) => b.bytes - a.bytes);
  const { tokens, refillSeconds } = limits.download;
  return {
    example: exampleOf(measuredKinds(measured)),
    contents: contentsOf(measured),
    asOf: time(asOf),
    isBehind: asOf !== registerAsOf,
    isPublished: all.length > 0,
    database: database && { ...fileOf(database), rows: integer(database.rows) },
    plain: plain && { ...fileOf(plain), lite: datasetteLite(operator.baseUrl + plain.path) },
    documents: {
      files: documents.map((file) => ({
        ...fileOf(file),
        folder: nameOf(file).replace(/[^/]*$/, ''),
        base: basename(file.path),
        lines: integer(file.rows),
      })),
      size: sizeOf(documents),
    },
    kinds: kindsOf(tables),
    tables: tables.map(({ name, columns }) => ({
      name,
      columns: columns.map((column) => columnOf(column, inWords)),
    })),
    rows: integer(tables.reduce((sum, { rows }) => sum + rows, 0)),
    formats: (tables[0]?.files ?? []).map(({ format }) => ({
      format,
      size: sizeOf(ofTables.filter((file) => file.format === format)),
    })),
    /** Lines as in SHA256SUMS. */
    sums: all.map((file) => `${file.sha256}  ${nameOf(file)}\n`).join(''),
    /** The largest table file, for which resuming matters most. */
    resumed: resumed && { url: operator.baseUrl + resumed.path, name: nameOf(resumed) },
    /** All files: how many, and how long they take under the limit. */
    all: {
      files: amount(all.length, 'file'),
      size: sizeOf(all),
      time: leastTime(all, limits.download),
    },
    folder: operator.baseUrl + PATHS.bulk,
    path: PATHS.bulk,
    limit: {
      tokens: amount(tokens, 'download'),
      every: interval(refillSeconds),
      whole: WHOLE_DOWNLOAD,
    },
  };
}

/** What is published of everything: `record, reading, name and owner`. */
const contentsOf = (measured: Measured): string =>
  enumerated([
    'record',
    ...(measured.has('group_member_readings') ? ['reading'] : []),
    ...(measured.hasAny(['group_names', 'usernames']) ? ['name'] : []),
    ...(measured.has('group_owners') ? ['owner'] : []),
  ]);

/** The tables, with those of one kind of record together. */
function kindsOf(tables: readonly DownloadTable[]) {
  const kinds = [...new Set(tables.map(({ plural }) => plural))];
  return kinds.map((kind) => {
    const own = tables.filter(({ plural }) => plural === kind);
    return {
      plural: kind,
      newest: time(own.find(({ newest }) => newest !== null)?.newest ?? null),
      tables: own.map(({ name, description, rows, files }) => ({
        name,
        description,
        rows: integer(rows),
        files: files.map((file) => ({ ...fileOf(file), format: file.format })),
      })),
    };
  });
}

/** A column: what readers of JSON or Parquet and of SQL take it for, and what it means. */
function columnOf(column: Value, inWords: InWords) {
  const { type, name, description } = column;
  const row = valueRow(column);
  const sql = sqlTypeOf(type);
  const json = type === 'boolean' ? 'boolean' : sql === 'INTEGER' ? 'integer' : 'string';
  return {
    ...row,
    ...meaningInWords({ ...row, description }, inWords),
    name,
    json,
    sql,
    form: TIME_FORMS[type],
  };
}

const time = (at: string | null) => (at === null ? undefined : { time: at, words: moment(at) });

const sizeOf = (files: readonly { readonly bytes: number }[]): string =>
  size(files.reduce((sum, { bytes }) => sum + bytes, 0));

/** Its name in the folder of the downloads, as in SHA256SUMS. */
const nameOf = ({ path }: { readonly path: string }): string => path.slice(PATHS.bulk.length + 1);

const fileOf = (file: Pick<ListedFile, 'path' | 'bytes'>) => ({
  path: file.path,
  name: nameOf(file),
  size: size(file.bytes),
  bytes: integer(file.bytes),
});
