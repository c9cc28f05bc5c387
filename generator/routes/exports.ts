/** The routes of the bulk downloads: formats, URLs, and the files that describe them. */
import type { Kind } from '../schema/field.js';
import { RESOURCES, documentsOf, tablesOf } from '../schema/schema.js';
import type { UnlistedRoute } from './route.js';
import { PATHS } from './paths.js';

const TEXT = 'text/plain; charset=utf-8';
const GZIP = 'application/gzip';

/** The formats of each exported table. */
export const EXPORT_FORMATS = [
  { format: 'csv', type: 'text/csv; charset=utf-8; header=present', words: 'CSV' },
  { format: 'csv.gz', type: GZIP, words: 'CSV (gzip)' },
  { format: 'parquet', type: 'application/vnd.apache.parquet', words: 'Parquet' },
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number]['format'];

/** The path of a table's file in the tree. */
export const exportFile = (table: string, format: ExportFormat): string => `downloads/${table}.${format}`;

/** Whether a route is of a bulk download itself, as opposed to what describes these. */
export const isDownload = ({ name, class: cacheClass }: Pick<UnlistedRoute, 'name' | 'class'>): boolean =>
  cacheClass === 'download' && name.startsWith('download-');

/** A file of the downloads. */
export interface Download {
  /** Names it in reports: the name of its table, or its own. */
  readonly name: string;
  /** Set if it holds one table. */
  readonly format?: ExportFormat;
  /** The kind of records that it follows: if one of their documents changes, it is written again. */
  readonly kind?: Kind;
  readonly route: string;
  /** Its path in the tree. */
  readonly file: string;
  /** Media type. */
  readonly type: string;
  readonly description: string;
  /** As for a route. */
  readonly measures?: readonly string[];
}

/** The files of a table. */
const tableFiles = (table: string, kind: Kind, measures: readonly string[] = [table]): readonly Download[] =>
  EXPORT_FORMATS.map(({ format, type, words }) => ({
    name: table,
    format,
    kind,
    route: `download-${table}-${format.replace('.', '-')}`,
    file: exportFile(table, format),
    type,
    description: `All rows of ${table} as ${words}`,
    measures,
  }));

const documentsFile = (route: string, description: string): Download => ({
  name: `documents/${route}`,
  route: `download-documents-${route}`,
  file: `downloads/documents/${route}.ndjson.gz`,
  type: GZIP,
  description,
});

/** The files with all documents of a route by record id, by the name of that route. */
export const DOCUMENTS: ReadonlyMap<string, Download> = new Map(
  RESOURCES.flatMap((resource) =>
    documentsOf(resource).map(({ route }) => [
      route,
      {
        ...documentsFile(
          route,
          `Every document of the route ${route}, in ascending order of id: a line is the body of one`,
        ),
        kind: resource.kind,
        measures:
          route === resource.record.route ? [resource.plural] : resource.histories.map(({ table }) => table),
      },
    ]),
  ),
);

/** All other documents, apart from the downloads and their descriptions. */
export const OTHER_DOCUMENTS = documentsFile(
  'other',
  'Every other document of the API, the feeds, and the files of the operator: a line has path, sha256,' +
    ' bytes, and body of one, unless it is not text',
);

/** The list of all documents, whose SHA-256 before compression is the digest of the snapshot. */
export const LIST_OF_DOCUMENTS: Download = {
  name: 'documents.sha256',
  route: 'download-list-of-documents',
  file: 'downloads/documents.sha256.gz',
  type: GZIP,
  description: 'SHA-256 and file of every document, as sha256sum writes and checks them',
};

/** The published population as a database. */
export const DATABASE: Download = {
  name: 'register.sqlite.gz',
  route: 'download-register-sqlite',
  file: 'downloads/register.sqlite.gz',
  type: GZIP,
  description: 'Every table as one SQLite database, with keys, and with the meaning of each column',
};

/** The same database uncompressed, for programs that read parts of it by Range. */
export const PLAIN_DATABASE: Download = {
  name: 'register.sqlite',
  route: 'download-register-sqlite-plain',
  file: 'downloads/register.sqlite',
  type: 'application/vnd.sqlite3',
  description: 'The same SQLite database uncompressed, for queries without a download',
};

/** All of the downloads: first those that hold one table. */
export const DOWNLOADS: readonly Download[] = [
  ...RESOURCES.flatMap((resource) =>
    tablesOf(resource).flatMap(({ name }) => tableFiles(name, resource.kind)),
  ),
  ...DOCUMENTS.values(),
  OTHER_DOCUMENTS,
  LIST_OF_DOCUMENTS,
  DATABASE,
  PLAIN_DATABASE,
];

/** The path of a download relative to the folder of all of them. */
export const pathInFolder = (file: string): string => file.slice('downloads/'.length);

/** The downloads, and what describes them. */
export const EXPORT_ROUTES: readonly UnlistedRoute[] = [
  ...DOWNLOADS.map(({ route, file, type, description, measures }): UnlistedRoute => ({
    name: route,
    path: `/${file}`,
    file,
    class: 'download',
    bucket: 'download',
    type,
    description,
    ...(measures && { measures }),
  })),
  // Cached like the files they describe, but limited like a record.
  {
    name: 'datapackage',
    path: `${PATHS.bulk}/datapackage.json`,
    file: 'downloads/datapackage.json',
    class: 'download',
    type: 'application/json; charset=utf-8',
    description: 'Data Package that describes every download and every column',
  },
  {
    name: 'checksums',
    path: `${PATHS.bulk}/SHA256SUMS`,
    file: 'downloads/SHA256SUMS',
    class: 'download',
    type: TEXT,
    description: 'Checksums of the downloads, for sha256sum',
  },
  {
    name: 'downloads-readme',
    path: `${PATHS.bulk}/README.txt`,
    file: 'downloads/README.txt',
    class: 'download',
    type: TEXT,
    description: 'What the downloads contain and how to read them',
  },
];
