/** The schema of the database among the downloads: a STRICT table for each export. */
import type { Export } from './tables.js';
import { literal, name } from '../register/sql.js';
import type { Value, ValueType } from '../schema/shape.js';
import { meaningOf } from '../schema/meaning.js';

/** What the database says of itself. */
export interface About {
  /** Of the register. */
  readonly name: string;
  readonly url: string;
  readonly platform: string;
  readonly licence: { readonly name: string; readonly url: string };
  /** The newest measurement; null if there is none. */
  readonly asOf: string | null;
  /** Of the snapshot. */
  readonly sequence: number;
  readonly digest: string;
}

/** The table with one row about the database, by column: value and meaning. */
const about = ({ name: register, url, platform, licence, asOf, sequence, digest }: About) =>
  [
    ['name', register, 'Name of the register.'],
    ['url', url, 'The URL that credits should link to.'],
    ['platform', platform, 'What is measured. The register is not affiliated with it.'],
    ['licence', licence.name, 'Licence of the data.'],
    ['licence_url', licence.url, 'URL of the licence text.'],
    ['as_of', asOf, 'Time of the newest measurement; null if there is none.'],
    ['sequence', sequence, 'Number of the snapshot, as in snapshot.json.'],
    ['digest', digest, 'Digest of the snapshot, as in snapshot.json.'],
    ['null_means', 'not measured, or not published', 'What NULL means in all other tables.'],
  ] as const;

/** Statements that create the table about the database, with its row. */
export function aboutSql(facts: About): readonly string[] {
  const columns = about(facts);
  const values = columns.map(([, value]) => (typeof value === 'string' ? literal(value) : String(value)));
  return [
    createTable(
      'about',
      'About this database: one row.',
      columns.map(([column, value, meaning]) => [
        `${name(column)} ${typeof value === 'number' ? 'INTEGER' : 'TEXT'}${column === 'as_of' ? '' : ' NOT NULL'}`,
        meaning,
      ]),
      [],
      'STRICT',
    ),
    `INSERT INTO about VALUES (${values.join(', ')})`,
  ];
}

/** The statement that creates an export's table. The comments in it stay in the database. */
export function tableSql({ name: table, description, key, columns, history, resource }: Export): string {
  // An id is then the table's own key; a longer key is the order in which rows are stored.
  const isSingle = key.length === 1;
  const keys = key.map(name).join(', ');
  return createTable(
    table,
    description,
    columns.map(({ value }) => [
      `${name(value.name)} ${typeOf(value)}${isSingle && value.name === key[0] ? ' PRIMARY KEY' : ''}`,
      commentOf(value),
    ]),
    [
      ...(isSingle ? [] : [`PRIMARY KEY (${keys})`]),
      ...(history === undefined
        ? []
        : [`FOREIGN KEY (${name(key[0] ?? '')}) REFERENCES ${name(resource.plural)} ("id")`]),
    ],
    isSingle ? 'STRICT' : 'STRICT, WITHOUT ROWID',
  );
}

export const insertSql = ({ name: table, columns }: Export): string =>
  `INSERT INTO ${name(table)} VALUES (${columns.map(() => '?').join(', ')})`;

function createTable(
  table: string,
  description: string,
  columns: readonly (readonly [column: string, meaning: string])[],
  constraints: readonly string[],
  options: string,
): string {
  const rows = [...columns, ...constraints.map((constraint) => [constraint, undefined] as const)];
  const lines = rows.map(([definition, meaning], index) => {
    const comma = index < rows.length - 1 ? ',' : '';
    return `  ${definition}${comma}${meaning === undefined ? '' : ` -- ${meaning}`}\n`;
  });
  return `CREATE TABLE ${name(table)} ( -- ${description}\n${lines.join('')}) ${options}`;
}

const INTEGERS: ReadonlySet<ValueType> = new Set(['id', 'ordinal', 'count', 'difference', 'boolean']);

/** Booleans are 0 and 1; whatever is not a number is text. */
export const sqlTypeOf = (type: ValueType): 'INTEGER' | 'TEXT' => (INTEGERS.has(type) ? 'INTEGER' : 'TEXT');

function typeOf({ name: column, type, nullable }: Value): string {
  const stored = sqlTypeOf(type);
  const check = type === 'boolean' ? ` CHECK (${name(column)} IN (0, 1))` : '';
  return `${stored}${nullable ? '' : ' NOT NULL'}${check}`;
}

/** The form of a time, in sentences. */
export const TIME_FORMS: Readonly<Partial<Record<ValueType, readonly string[]>>> = {
  time: ['RFC 3339, in UTC.'],
  date: ['RFC 3339, in UTC, or a day.'],
};

const commentOf = (value: Value): string =>
  [
    meaningOf(value),
    ...(value.type === 'boolean' ? ['0 is false, 1 is true.'] : []),
    ...(TIME_FORMS[value.type] ?? []),
  ].join(' ');
