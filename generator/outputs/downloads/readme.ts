/** /downloads/README.txt: what to know about the files without having seen the pages. */
import type { SiteConfig } from '../../config/config.js';
import { exportedTables, type Downloads } from '../../exports/downloads.js';
import { pathInFolder } from '../../routes/exports.js';
import { PATHS } from '../../routes/paths.js';
import { capitalized } from '../../schema/words.js';
import { asksForCredit } from '../licence.js';
import { amount, interval } from '../pages/words.js';
import { contentsOf } from './datapackage.js';
import { datasetteLite, exampleOf, leastTime, WHOLE_DOWNLOAD } from './recipes.js';

/** The line width, unless names are longer. */
const LINE_CHARACTERS = 88;

export function readme({ operator, limits }: SiteConfig, downloads: Downloads): string {
  const { asOf } = downloads;
  const { name, url, baseUrl, contact, platform, licence } = operator;
  const base = `${baseUrl}${PATHS.bulk}`;
  const example = exampleOf(exportedTables(downloads).map(({ resource }) => resource));
  return `${name}: bulk downloads
${'='.repeat(LINE_CHARACTERS)}

Measured records of ${platform}, ${asOf === null ? 'before the first measurement' : `as of ${asOf}`}.
${capitalized(contentsOf(downloads))} is included. Every value was measured; none is
estimated. Not affiliated with ${platform}.

Licence: ${licence.name}, ${licence.url}
${asksForCredit(licence) ? `Credit:  ${name}, with a link to ${url}\n` : ''}Contact: ${contact}

Files
-----

${fileTable(downloads)}

datapackage.json (Data Package 2.0) describes every file, with size and SHA-256, and
every column, with type, unit and meaning. Use SHA256SUMS to verify the files:

    sha256sum --ignore-missing -c SHA256SUMS

It looks for each file under the name that the table above has, with its folder, and
silently skips what it doesn't find: curl -O leaves out the folder, and browsers save
under a dated name. "curl --create-dirs -o ${example.documents}" keeps the name.

To resume an interrupted download, run the same line again:

    curl -f --retry 5 -C - -O ${base}/${example.table}.csv.gz

-f keeps an error response from being written to the file. --retry waits as long as
Retry-After says. On a complete file there is nothing left to send: curl then ends with
status 22 (or 33) and leaves the file alone. This line succeeds in both cases:

    grep ' ${example.table}.csv.gz$' SHA256SUMS | sha256sum --check --status ||
      curl -f --retry 5 -C - -O ${base}/${example.table}.csv.gz

If the file was replaced in the meantime, the parts don't match, and SHA256SUMS detects
it. To prevent that, keep the ETag of the first response and send it with
-H 'If-Range: "ETAG"'. A replaced file is then sent whole, which curl reports (error 33)
instead of mixing the two.

Downloads have a limit of their own: ${amount(limits.download.tokens, 'download')} at once for each IP address, and
one more every ${interval(limits.download.refillSeconds)}. A file of less than ${WHOLE_DOWNLOAD} counts as its share of
that, and a part of a file as its share of the file, at least a hundredth. HEAD requests
and 304 responses don't count as downloads. After HTTP status 429, Retry-After says how
long to wait.

This fetches every file, ${allFilesText(downloads, limits)}. Run it
again to continue, or to fetch what has changed:

    curl -f -O ${base}/SHA256SUMS
    while read -r sum file; do
      echo "$sum  $file" | sha256sum --check --status 2>/dev/null && continue
      curl -f --retry 5 --create-dirs -o "$file" "${base}/$file"
    done < SHA256SUMS
    sha256sum --quiet --check SHA256SUMS

Everything in few files
-----------------------

* documents/ROUTE.ndjson.gz has every document of a route of the API, in ascending order
  of id. A line is the very body of one: without its line end, it has the SHA-256 of the
  document.
* documents/other.ndjson.gz has path, file, sha256, bytes and body of every other
  document, except pages and what describes these files. What is not text has no body:
  fetch it from its path.
* register.sqlite.gz has all tables as one database for SQLite 3.37 or newer, with keys,
  and with the meaning of each column in its schema. Booleans are 0 and 1, and null is
  null. The table "about" names the register, its licence, and the newest measurement.
* register.sqlite is the same database uncompressed, for programs that read parts of a
  file by HTTP Range: a part takes its share of the limit, at least a hundredth.

Format
------

The CSV files follow RFC 4180: UTF-8 without a byte order mark, commas, CRLF, a header
row. Quoted text may contain line breaks. A .csv.gz file has the same content. The
Parquet files have typed columns, most of them compressed with Snappy. Rows are in the
order of their keys. New columns are added at the end.

* An empty field is null: not measured, or not published because the owner or creator is
  withheld.
* Two quotes with nothing between them ("") are a text that was measured and is empty.
* Booleans are true and false. Times are in RFC 3339 format, in UTC.
* Ids go up to 9007199254740991, which a spreadsheet may round.

In DuckDB, the first of these lines keeps null and empty text apart in CSV:

    SELECT * FROM read_csv('${example.table}.csv', header=true, allow_quoted_nulls=false, nullstr='');
    SELECT * FROM '${example.table}.parquet';
    SELECT * FROM read_ndjson('${example.documents}');

Given a URL, it reads only those parts of a Parquet file that a query needs:

    SELECT count(*) FROM read_parquet('${base}/${example.table}.parquet');

PostgreSQL keeps them apart by default:

    \\copy ${example.table} FROM PROGRAM 'gunzip -c ${example.table}.csv.gz' (FORMAT csv, HEADER)

So does the database, in any program:

    gunzip -k register.sqlite.gz
    sqlite3 register.sqlite 'SELECT id, ${example.name} FROM ${example.table} LIMIT 10'
    datasette register.sqlite

-k keeps the compressed file, which SHA256SUMS names. Datasette Lite runs in a browser,
which loads all of register.sqlite:

    ${datasetteLite(`${base}/register.sqlite`)}

pandas can't tell the two apart in CSV. Read the Parquet files instead, with pandas 2.0
or newer and pyarrow:

    pandas.read_parquet('${example.table}.parquet', dtype_backend='numpy_nullable')

An older pandas, or one without pyarrow, can read the database. convert_dtypes keeps
integers that may be null from becoming floats, in documents, too:

    with sqlite3.connect('register.sqlite') as database:
        pandas.read_sql('SELECT * FROM ${example.table}', database).convert_dtypes()
    pandas.read_json('${example.documents}', lines=True,
                     convert_dates=False).convert_dtypes()

If you do read CSV with pandas, keep_default_na=False and na_values=[''] keep names such
as NA and null. Python's csv module reads both null and empty text as ''.

R can't either; it can from the database (packages DBI and RSQLite):

    read.csv("${example.table}.csv.gz", na.strings = "", encoding = "UTF-8")
    db <- DBI::dbConnect(RSQLite::SQLite(), "register.sqlite", bigint = "numeric")
    DBI::dbReadTable(db, "${example.table}")

Warning: spreadsheets take a value that begins with = + - or @ for a formula. These
files contain names and descriptions exactly as people wrote them, and nothing is
escaped. Import the columns as text, or use the Parquet files.
`;
}

/** How many files there are, and how long they take: `32 downloads, which take at least 20 minutes`. */
function allFilesText({ files }: Downloads, limits: SiteConfig['limits']): string {
  const time = leastTime(files, limits.download);
  return `${amount(files.length, 'download')}${time === undefined ? '' : `, which take at least ${time}`}`;
}

function fileTable({ files }: Downloads): string {
  const lines = [
    ['file', 'rows', 'bytes'],
    ...files.map(({ download: { file }, rows, bytes }) => [pathInFolder(file), String(rows), String(bytes)]),
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
