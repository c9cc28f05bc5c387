/** SQL that makes a register of another database, drafted by guesses, for its maintainer to edit. */
import type { Column } from '../schema/field.js';
import { TABLES, WITHHELD, type Table } from '../schema/schema.js';
import { onOneLine } from '../base/errors.js';
import { openDatabase, type Database } from '../base/sqlite/sqlite.js';
import { columnReader, type ColumnReader } from './absent.js';
import { CONTRACT_VERSION, requireDatabase, translated } from './database.js';
import { addFunctions } from './functions.js';
import {
  Guesses,
  isNamedId,
  isPlain,
  secretsOf,
  type Guess,
  type Named,
  type Source,
  type View,
} from './guess.js';
import { literal } from './sql.js';

/**
 * Views for the tables of the contract that a database lacks, and comments on the columns that
 * others lack. The database is only read.
 * @returns lines of SQL; what is not sure in them is a comment, or NULL
 * @throws Failure as `Register.open` does, but for the contract version; usage: a named table is missing
 */
export function scaffold(file: string, named: Named = {}): readonly string[] {
  requireDatabase(file);
  return translated(file, () => {
    const database = openDatabase(file, { readonly: true, fileMustExist: true });
    try {
      // Whether a time is in the future is for `check` to say.
      addFunctions(database, () => '9999-12-31T23:59:59Z');
      const columnsIn = columnReader(database);
      const all = sourcesIn(database, columnsIn);
      const guesses = new Guesses(database, all.flatMap(plainOf), named);
      const isTable = ({ name }: Table): boolean =>
        all.some((source) => source.isTable && source.name.toLowerCase() === name);
      const unknown: string[] = [];
      const parts = TABLES.flatMap((table) => {
        const found = columnsIn(table.name);
        const isNamed = named[table.name] !== undefined;
        if (found?.length !== 0 && !isNamed) return columnsOf(table, found ?? [], isTable(table));
        const view = guesses.viewOf(table);
        if (view === undefined) unknown.push(table.name);
        return view === undefined
          ? []
          : [
              ...(isTable(table)
                ? renaming(table, `${table.name} is the name of a table of yours, so that this view fails:`)
                : []),
              ...sqlOf(table, view),
            ];
      });
      const version = Number(database.pragma('user_version', { simple: true }));
      return [...heading(file, all, unknown, parts.length === 0), '', ...parts, ...footer(version)];
    } finally {
      database.close();
    }
  });
}

/** The tables and views of the database. */
function sourcesIn(database: Database, columnsIn: ColumnReader): readonly Source[] {
  const columnsWhere = (condition: string) =>
    database
      .prepare<[string], string>(`SELECT name FROM pragma_table_info(?) WHERE ${condition} ORDER BY pk`)
      .pluck();
  const [keys, required] = [columnsWhere('pk > 0'), columnsWhere('"notnull"')];
  return database
    .prepare<[], { readonly name: string; readonly type: string }>(
      `SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')` +
        ` AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view', name`,
    )
    .all()
    .map(({ name, type }) => {
      const columns = columnsIn(name) ?? [];
      const key = columns.length === 0 ? [] : keys.all(name);
      const id = columns.find(isNamedId);
      const isKey = id === undefined || key.length === 1 || key.includes(id);
      return {
        name,
        isTable: type !== 'view',
        columns,
        key: isKey ? key : [id],
        notNull: columns.length === 0 ? [] : required.all(name),
        isContract: isContract(name),
      };
    });
}

const isContract = (name: string): boolean => TABLES.some((table) => table.name === name.toLowerCase());

/** The columns of a source whose names can be written; nothing if its own name can't be. */
function plainOf(source: Source): readonly Source[] {
  const { name, columns, key } = source;
  return isPlain(name)
    ? [{ ...source, columns: columns.filter(isPlain), key: key.every(isPlain) ? key : [] }]
    : [];
}

const comment = (text: string): string => `-- ${onOneLine(text)}`;

function heading(
  file: string,
  sources: readonly Source[],
  unknown: readonly string[],
  isComplete: boolean,
): readonly string[] {
  const lacking = unknown.filter((table) => table !== WITHHELD.name);
  if (isComplete && lacking.length === 0)
    return [comment(`${file} has all tables and columns of the contract.`)];
  const other = sources.filter((source) => !source.isContract);
  const own = sources.map(({ name, columns }) =>
    columns.length === 0 ? `${name} (a view that can't be read)` : `${name} (${columns.join(', ')})`,
  );
  const odd = other.flatMap(({ name, columns }) => [name, ...columns]).filter((text) => !isPlain(text));
  return [
    `What "${file}" lacks of the contract, to edit and to run with sqlite3.`,
    'Columns are guessed by their names and first values: read each line. What is not sure is a comment, or',
    'NULL where the contract requires a value. What is absent or NULL is "not measured": write no value that',
    'you do not have, and leave out what is not meant to be public. The file can be run again after each edit.',
    'Other times, ids, a database that must stay as it is: docs/your-register.md#recipes',
    ...(lacking.length === 0
      ? []
      : [`Nothing looks like ${lacking.join(', ')}. If a table does, name it: --from ${lacking[0]}=TABLE`]),
    ...(unknown.includes(WITHHELD.name)
      ? ['Nothing is withheld until there is a table for it: docs/your-register.md#what-may-be-absent']
      : []),
    ...(odd.length === 0 ? [] : [`Left out, since a line of SQL can't hold such names: ${odd.join(', ')}`]),
    ...sources.flatMap((source) => staffLines(source)),
    'What the database has:',
    ...own.map((line) => `  ${line}`),
  ].map(comment);
}

/** Says that nothing is drafted from what looks like accounts of staff. */
function staffLines(source: Source): readonly string[] {
  const secrets = secretsOf(source);
  return secrets.length === 0
    ? []
    : [`${source.name} looks like accounts of staff (${secrets.join(', ')}): nothing is drafted from it.`];
}

/** What to do about a table that has the name of a table of the contract, but holds something else. */
const renaming = ({ name }: Table, first: string): readonly string[] =>
  [
    `${first} publish a copy`,
    `(docs/your-register.md#a-nightly-copy) in which it has another name, by this line before the view:`,
    `ALTER TABLE ${name} RENAME TO own_${name};`,
  ].map(comment);

/** The view, along with what it needs. A required column comes last, so that any before it can be a comment. */
function sqlOf(
  { name, columns }: Table,
  { before, from, notNull, ofRecords, guesses, after }: View,
): readonly string[] {
  const last = columns.findLast(({ nullable }) => !nullable);
  const taken = new Set([...guesses.values()].flatMap(([best]) => (best?.isSure === true ? best.own : [])));
  const lines = columns
    .toSorted((a, b) => Number(a === last) - Number(b === last))
    .map((column) => {
      const free = guesses.get(column.name)?.filter(({ own, isSure }) => isSure || !taken.has(own));
      return lineOf(column, free ?? [], column === last ? '' : ',');
    });
  const conditions = [...notNull, ...ofRecords].join('\n  AND ');
  const where = conditions === '' ? '' : `\nWHERE ${conditions}`;
  return [
    ...before,
    `DROP VIEW IF EXISTS ${name};`,
    `CREATE VIEW ${name} AS SELECT`,
    ...lines,
    `FROM ${from}${where};`,
    ...after,
    '',
  ];
}

/** A column of a view: a guess that is sure, or a comment; NULL if it is required. */
function lineOf(column: Column, guesses: readonly Guess[], comma: string): string {
  const [best, ...others] = guesses;
  const isSure = best?.isSure === true;
  const shown = isSure || column.nullable ? best : undefined;
  const perhaps = (isSure ? [] : shown === undefined ? guesses : others).map(({ sql }) => sql);
  const remark = perhaps.length === 0 ? '' : ` Perhaps ${perhaps.join(', or ')}.`;
  const { sql = 'NULL', isInUtc = false } = shown ?? {};
  const line = `${isSure || !column.nullable ? '' : '-- '}${sql} AS ${column.name}${comma}`;
  return `  ${line.padEnd(WIDTH)} ${comment(`${meaning(column)}${isInUtc ? ' Taken as UTC.' : ''}${remark}`)}`;
}

/** The column in which comments begin, unless a line is longer. */
const WIDTH = 38;

/** The columns that a table or view lacks, for its maintainer to add: the table itself is left alone. */
function columnsOf(table: Table, found: readonly string[], isTable: boolean): readonly string[] {
  const present = new Set(found.map((column) => column.toLowerCase()));
  const columns = found.length === 0 ? [] : table.columns.filter(({ name }) => !present.has(name));
  if (columns.length === 0) return [];
  return [
    comment(`${table.name} lacks columns. Those that may be NULL count as not measured; add the others.`),
    ...columns.map((column) => comment(`  ${column.name}: ${meaning(column)}`)),
    ...(isTable && columns.some(({ nullable }) => !nullable)
      ? renaming(
          table,
          `If ${table.name} is something else, name the right table, --from ${table.name}=TABLE, and`,
        )
      : []),
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
  date: 'a time such as 2026-11-20T08:00:00Z, or a day such as 2020-09-16',
  text: 'TEXT',
};

const typeOf = ({ type, values = [] }: Column): string =>
  type === 'enum' ? values.map(literal).join(', ') : TYPES[type];

const DECLARED = `PRAGMA user_version = ${CONTRACT_VERSION};`;

/** Declares the database to be a register, unless other software may need its user_version. */
const footer = (version: number): readonly string[] =>
  version === 0 || version === CONTRACT_VERSION
    ? [DECLARED]
    : [
        comment(`user_version is ${version}. If software of yours relies on that, publish a copy:`),
        comment('docs/your-register.md#a-nightly-copy. If none does:'),
        comment(DECLARED),
      ];
