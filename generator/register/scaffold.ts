/** SQL that makes a register of another database, for its maintainer to edit. */
import type { Column } from '../schema/field.js';
import { TABLES, WITHHELD } from '../schema/index.js';
import type { Table } from '../schema/index.js';
import { openDatabase } from '../sqlite/index.js';
import type { Database } from '../sqlite/index.js';
import { columnReader, sqlType } from './absent.js';
import type { ColumnReader } from './absent.js';
import { CONTRACT_VERSION, requireDatabase, translated } from './database.js';
import { onOneLine } from './findings.js';
import { literal } from './sql.js';

/** Stands for a table of the maintainer's, who replaces it. */
const PLACEHOLDER = 'your_table';

/**
 * Views for the tables of the contract that a database lacks, and comments on the columns that
 * others lack. The database is only read.
 * @returns lines of SQL; they parse once the placeholder is replaced
 * @throws Failure as `Register.open` does, but for the contract version
 */
export function scaffold(file: string): readonly string[] {
  requireDatabase(file);
  return translated(file, () => {
    const database = openDatabase(file, { readonly: true, fileMustExist: true });
    try {
      const columnsIn = columnReader(database);
      const gaps = TABLES.map((table) => gapsIn(columnsIn, table));
      const version = Number(database.pragma('user_version', { simple: true }));
      return [
        ...heading(file, gaps, ownTables(database, columnsIn)),
        ...gaps.flatMap((each) => (each.missing ? viewOf(each.table) : columnsOf(each))),
        ...footer(version),
      ];
    } finally {
      database.close();
    }
  });
}

/** What a database lacks of a table. */
interface Gaps {
  readonly table: Table;
  /** Whether the table itself is missing. */
  readonly missing: boolean;
  readonly columns: readonly Column[];
}

function gapsIn(columnsIn: ColumnReader, table: Table): Gaps {
  const found = columnsIn(table.name);
  const present = new Set(found?.map((column) => column.toLowerCase()));
  return {
    table,
    missing: found?.length === 0,
    columns: found === undefined ? [] : table.columns.filter(({ name }) => !present.has(name)),
  };
}

const comment = (text: string): string => `-- ${onOneLine(text.replaceAll(/\p{Cc}/gu, ' '))}`;

function heading(file: string, gaps: readonly Gaps[], own: readonly string[]): readonly string[] {
  if (gaps.every(({ columns }) => columns.length === 0))
    return [comment(`${file} has all tables and columns of the contract.`), ''];
  return [
    comment(`What "${file}" lacks of the contract, to edit and to run with sqlite3.`),
    comment(`Replace ${PLACEHOLDER}, and NULL by a column or an expression where you measure the value.`),
    comment("Leave out the views of what you don't have, and the columns that you don't measure and that"),
    comment('may be NULL: both mean "not measured". The file can be run again after each edit.'),
    comment(`Unix times: strftime('%Y-%m-%dT%H:%M:%SZ', column, 'unixepoch'); milliseconds: column / 1000`),
    comment('Ids that are texts or exceed 2^53 - 1 are platform_id, and get a number as id from a table:'),
    comment('docs/your-register.md#text-ids. Other times, a database that must stay as it is: #recipes'),
    comment('What the database has:'),
    ...own.map((line) => comment(`  ${line}`)),
    '',
  ];
}

/** The database's own tables and views, with their columns. */
function ownTables(database: Database, columnsIn: ColumnReader): readonly string[] {
  const tables = database
    .prepare<[], string>(
      `SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')` +
        ` AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
    )
    .pluck()
    .all();
  return tables.map((table) => {
    const columns = columnsIn(table);
    return `${table} (${columns === undefined ? "a view that can't be read" : columns.join(', ')})`;
  });
}

function viewOf(table: Table): readonly string[] {
  if (table === WITHHELD)
    return [
      comment('Without withheld, nothing is. To withhold records (docs/takedowns.md):'),
      comment(emptyTable(table)),
      '',
    ];
  const last = table.columns.length - 1;
  return [
    `DROP VIEW IF EXISTS ${table.name};`,
    `CREATE VIEW ${table.name} AS SELECT`,
    ...table.columns.map(
      (column, index) =>
        `  ${`NULL AS ${column.name}${index < last ? ',' : ''}`.padEnd(WIDTH)} ${comment(meaning(column))}`,
    ),
    `FROM ${PLACEHOLDER};`,
    '',
  ];
}

/** The width of the longest `NULL AS column,`. */
const WIDTH = Math.max(
  ...TABLES.flatMap(({ columns }) => columns.map((column) => `NULL AS ${column.name},`.length)),
);

function emptyTable({ name, columns, key }: Table): string {
  const defined = columns.map(
    (column) => `${column.name} ${sqlType(column)}${column.nullable ? '' : ' NOT NULL'}`,
  );
  const keys = key.map((column) => column.name).join(', ');
  return `CREATE TABLE IF NOT EXISTS ${name} (${defined.join(', ')}, PRIMARY KEY (${keys})) STRICT, WITHOUT ROWID;`;
}

/** The columns that a table or view lacks. It is left alone, so its maintainer adds them. */
function columnsOf({ table, columns }: Gaps): readonly string[] {
  if (columns.length === 0) return [];
  return [
    comment(`${table.name} lacks columns. Those that may be NULL count as not measured; add the others.`),
    ...columns.map((column) => comment(`  ${column.name}: ${meaning(column)}`)),
    '',
  ];
}

/** The type of a column, whether it may be NULL, and what it is. */
const meaning = (column: Column): string =>
  `${typeOf(column)}; ${column.nullable ? 'may be NULL' : 'required'}. ${column.description}`;

const TYPES: Readonly<Record<Exclude<Column['type'], 'enum'>, string>> = {
  id: 'INTEGER from 1',
  ordinal: 'INTEGER from 1',
  count: 'INTEGER from 0',
  boolean: '0 or 1',
  time: 'a time such as 2026-11-20T08:00:00Z',
  text: 'TEXT',
};

const typeOf = ({ type, values = [] }: Column): string =>
  type === 'enum' ? values.map(literal).join(', ') : TYPES[type];

const DECLARED = `PRAGMA user_version = ${CONTRACT_VERSION};`;

/** Declares the database to be a register, unless somebody may need its number. */
const footer = (version: number): readonly string[] =>
  version === 0 || version === CONTRACT_VERSION
    ? [DECLARED]
    : [
        comment(`user_version is ${version}. If software of yours relies on that, publish a copy:`),
        comment('docs/your-register.md#a-nightly-copy. If none does:'),
        comment(DECLARED),
      ];
