/** /downloads/README.txt: what to know about the files without having seen the pages. */
import { basename } from 'node:path/posix';
import type { BuildConfig } from '../../config.js';
import type { Downloads, Exported } from '../../exports/exports.js';
import { EXPORT_FORMATS, exportFile } from '../../routes/exports.js';
import { PATHS } from '../../routes/index.js';

/** The line width, unless names are longer. */
const LINE_CHARACTERS = 88;

export function readme({ operator }: BuildConfig, { asOf, tables }: Downloads): string {
  const { name, url, baseUrl, contact, platform, licence } = operator;
  const base = `${baseUrl}${PATHS.bulk}`;
  return `${name}: bulk downloads
${'='.repeat(LINE_CHARACTERS)}

Measured records of ${platform}, whole populations, ${asOf === null ? 'before the first reading' : `as of ${asOf}`}.
Every value is measured, never estimated. Not affiliated with ${platform}.

Licence: ${licence.name}, ${licence.url}
Credit:  ${name}, with a link to ${url}
Contact: ${contact}

Files
-----

${fileTable(tables)}

datapackage.json describes every file and every column: type, unit, meaning, bytes,
SHA-256 (Data Package 2.0). SHA256SUMS checks whole files:

    sha256sum --ignore-missing -c SHA256SUMS

A download that was interrupted goes on where it was:

    curl -f --retry 5 -C - -O ${base}/groups.csv.gz

-f, so that a refusal is never written into the file; --retry waits as long as Retry-After says.

If the file was replaced meanwhile, the parts don't match, and SHA256SUMS tells. To be sure
beforehand, keep the ETag of the first answer: with -H 'If-Range: "ETAG"' a replaced file is sent
whole, which curl reports (error 33) instead of mixing the two.

Downloads have a limit of their own; HTTP status 429 says in Retry-After when to come again. A
part of a file takes its share of a download, HEAD and 304 take none.

Format
------

CSV is UTF-8 without a byte order mark, comma, CRLF, a header row, RFC 4180 quotes; a text may
hold line breaks. The .csv.gz holds the very same bytes. Parquet has typed columns (Snappy).
Rows are ordered by their key. New columns are added at the end.

* An empty field is null: not measured, or not published (a withheld owner or creator).
* Two quotes with nothing between them ("") are a text that was measured and is empty.
* true and false are truth values. Times are UTC, RFC 3339.
* Ids go up to 9007199254740991, which a spreadsheet may round.

DuckDB tells null from empty text apart like this:

    SELECT * FROM read_csv('groups.csv', header=true, allow_quoted_nulls=false, nullstr='');
    SELECT * FROM 'groups.parquet';

Python's csv module and pandas don't: use Parquet where it matters. In pandas, keep_default_na=False
and na_values=[''] keep names such as NA or null.

Warning: spreadsheets take a value that begins with = + - or @ for a formula. These files hold
names and descriptions exactly as people wrote them, and nothing is escaped. Import the columns as
text, or use the Parquet files.
`;
}

function fileTable(exported: readonly Exported[]): string {
  const lines = [
    ['file', 'rows', 'bytes'],
    ...exported.flatMap(({ table, rows, files }) =>
      EXPORT_FORMATS.map(({ format }) => [
        basename(exportFile(table.name, format)),
        String(rows),
        String(files[format].bytes),
      ]),
    ),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(([file = '', rows = '', bytes = '']) =>
      [
        '   ',
        file.padEnd(widths[0] ?? 0),
        rows.padStart(widths[1] ?? 0),
        bytes.padStart(widths[2] ?? 0),
      ].join('  '),
    )
    .join('\n');
}
