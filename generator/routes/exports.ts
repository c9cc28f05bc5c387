/** The routes of the bulk downloads: formats, URLs, and the files that describe them. */
import { TABLES } from '../schema/index.js';
import type { UnlistedRoute } from './index.js';
import { PATHS } from './paths.js';

const TEXT = 'text/plain; charset=utf-8';

/** The formats of each exported table. */
export const EXPORT_FORMATS = [
  { format: 'csv', type: 'text/csv; charset=utf-8; header=present', words: 'CSV' },
  { format: 'csv.gz', type: 'application/gzip', words: 'CSV (gzip)' },
  { format: 'parquet', type: 'application/vnd.apache.parquet', words: 'Parquet' },
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number]['format'];

/** The route of an export's file. */
export const exportRoute = (table: string, format: ExportFormat): string =>
  `download-${table}-${format.replace('.', '-')}`;
/** Its path in the tree. */
export const exportFile = (table: string, format: ExportFormat): string => `downloads/${table}.${format}`;

/** The exports, and the files that describe them. */
export const EXPORT_ROUTES: readonly UnlistedRoute[] = [
  ...TABLES.filter(({ kind }) => kind !== null).flatMap(({ name }) =>
    EXPORT_FORMATS.map(({ format, type, words }): UnlistedRoute => ({
      name: exportRoute(name, format),
      path: `${PATHS.bulk}/${name}.${format}`,
      file: exportFile(name, format),
      class: 'download',
      bucket: 'download',
      type,
      description: `All rows of ${name} as ${words}`,
    })),
  ),
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
