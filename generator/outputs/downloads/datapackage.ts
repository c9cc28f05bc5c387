/** /downloads/datapackage.json: the bulk downloads as a Data Package 2.0 (datapackage.org). */
import type { SiteConfig } from '../../config/config.js';
import { emailIn } from '../../config/operator-file.js';
import { exportedTables, type Downloads, type Exported } from '../../exports/downloads.js';
import { exportNamed, type Export, type ExportColumn } from '../../exports/tables.js';
import type { ValueType } from '../../schema/shape.js';
import { meaningOf, unitOf } from '../../schema/meaning.js';
import {
  DATABASE,
  PLAIN_DATABASE,
  exportFile,
  pathInFolder,
  type ExportFormat,
} from '../../routes/exports.js';
import { PATHS } from '../../routes/paths.js';
import { ROUTES, routeNamed } from '../../routes/routes.js';

const PROFILE = 'https://datapackage.org/profiles/2.0';

/** Table Schema types (datapackage.org/standard/table-schema/#field-types). All others are text. */
const FIELD_TYPES: Readonly<Partial<Record<ValueType, string>>> = {
  id: 'integer',
  ordinal: 'integer',
  count: 'integer',
  difference: 'integer',
  boolean: 'boolean',
  time: 'datetime',
};

const MINIMUM: Partial<Record<ValueType, number>> = { id: 1, ordinal: 1, count: 0 };

/** What the standard requires for each file format. */
const FORMATS: Readonly<Record<ExportFormat, Readonly<Record<string, unknown>>>> = {
  csv: { format: 'csv', mediatype: 'text/csv', encoding: 'utf-8' },
  'csv.gz': { format: 'csv', compression: 'gz', mediatype: 'application/gzip', encoding: 'utf-8' },
  parquet: { format: 'parquet', mediatype: 'application/vnd.apache.parquet' },
};

/** CSV according to RFC 4180 (datapackage.org/standard/table-dialect). */
const DIALECT = {
  $schema: `${PROFILE}/tabledialect.json`,
  delimiter: ',',
  lineTerminator: '\r\n',
  quoteChar: '"',
  doubleQuote: true,
  header: true,
};

/** `every published record and its history`: what the files hold. */
export const contentsOf = (downloads: Downloads): string =>
  `every published record${exportedTables(downloads).some(({ history }) => history !== undefined) ? ' and its history' : ''}`;

/** Later builds read of this what the downloads are of. */
export function dataPackage({ operator }: SiteConfig, downloads: Downloads): string {
  const { asOf, snapshot, files } = downloads;
  const { name, url, baseUrl, contact, platform, licence } = operator;
  return JSON.stringify({
    $schema: `${PROFILE}/datapackage.json`,
    name: 'register',
    title: name,
    description:
      `Measured records of ${platform}: ${contentsOf(downloads)}. Every value was measured; none is estimated.` +
      ` Null means "not measured", or "not published" because the owner or creator is withheld. Not affiliated with ${platform}.`,
    homepage: `${baseUrl}${PATHS.bulk}`,
    as_of: asOf ?? undefined,
    sequence: snapshot.sequence,
    digest: snapshot.digest,
    licenses: [{ name: identifier(licence.name), title: licence.name, path: licence.url }],
    sources: [{ title: name, path: url }],
    contributors: [{ title: name, ...reached(contact), roles: ['publisher'] }],
    resources: files.map((file) =>
      file.download.format === undefined
        ? bulkResource(file)
        : tableResource(file, file.download.format, operator.priceUnit),
    ),
  });
}

function reached(contact: string): object {
  const email = emailIn(contact);
  return email === undefined ? { path: contact } : { email };
}

/** `CC BY 4.0` -> `CC-BY-4.0`: the identifier used by Open Definition and SPDX. */
const identifier = (licence: string): string => licence.replaceAll(/[^A-Za-z0-9._]+/g, '-');

function tableResource(
  { download, rows, bytes, sha256, asOf }: Exported,
  format: ExportFormat,
  priceUnit: string | undefined,
): object {
  const table = exportNamed(download.name);
  const file = pathInFolder(download.file);
  return {
    name: file,
    path: file,
    type: 'table',
    title: table.name,
    description: table.description,
    document: routeNamed(ROUTES, table.document).path,
    ...FORMATS[format],
    bytes,
    hash: `sha256:${sha256}`,
    rows,
    as_of: asOf ?? undefined,
    ...(format === 'parquet' ? {} : { dialect: DIALECT }),
    schema: schema(table, format, priceUnit),
  };
}

/**
 * What holds more than one table. The standard has no type for lines of different documents; without
 * `type`, a resource is just a file. `rows` counts lines, or the rows of all tables.
 */
function bulkResource({ download: file, rows, bytes, sha256 }: Exported): object {
  const path = pathInFolder(file.file);
  const isDatabase = file === DATABASE || file === PLAIN_DATABASE;
  return {
    name: path.replaceAll('/', '-'),
    path,
    title: path,
    description: file.description,
    format: isDatabase ? 'sqlite' : 'ndjson',
    ...(file === PLAIN_DATABASE ? {} : { compression: 'gz' }),
    mediatype: file.type,
    ...(isDatabase ? {} : { encoding: 'utf-8' }),
    bytes,
    hash: `sha256:${sha256}`,
    rows,
  };
}

function schema(
  { columns, key, history, resource }: Export,
  format: ExportFormat,
  priceUnit: string | undefined,
): object {
  const [recordId] = key;
  return {
    $schema: `${PROFILE}/tableschema.json`,
    fields: columns.map((column) => field(column, priceUnit)),
    // Parquet has native nulls.
    missingValues: format === 'parquet' ? [] : [''],
    primaryKey: key,
    ...(history === undefined
      ? {}
      : {
          foreignKeys: [
            {
              fields: [recordId],
              reference: { resource: pathInFolder(exportFile(resource.plural, format)), fields: ['id'] },
            },
          ],
        }),
  };
}

function field({ value, json }: ExportColumn, priceUnit: string | undefined): object {
  const { name, type, nullable, example } = value;
  const minimum = MINIMUM[type];
  return {
    name,
    type: FIELD_TYPES[type] ?? 'string',
    // Words are no constraint, since others may be added.
    description: meaningOf(value, priceUnit),
    // The profile allows only text.
    example: example === undefined ? undefined : String(example),
    unit: unitOf(value, priceUnit),
    json,
    constraints: {
      // In CSV, an empty text is what is missing.
      required: nullable || type === 'text' ? undefined : true,
      minimum,
    },
  };
}
