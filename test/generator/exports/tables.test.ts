/** What the files of tables and the database hold: the same as the register, exactly, in every format. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { writeDatabase } from '../../../generator/exports/database.js';
import { ParquetFile } from '../../../generator/exports/parquet.js';
import { EXPORTS, exportsOf } from '../../../generator/exports/tables.js';
import { writeTable } from '../../../generator/exports/write-table.js';
import type { Context } from '../../../generator/register/context.js';
import { records } from '../../../generator/register/records.js';
import { RESOURCES } from '../../../generator/schema/schema.js';
import type { ValueType } from '../../../generator/schema/shape.js';
import { csvObjects, parseCsv } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { sha256 } from '../../support/published.js';
import { rowsOf, runSql, writeRegister, type Rows } from '../../support/register.js';
import { contextOf } from './support.js';

const path = temporary();

const TIME = '2026-11-20T08:00:00Z';
/** Texts that a file format may get wrong. */
const NASTY = [
  ...'plain|| outer spaces |a,b|say "hi"|"|""|+1|=SUM(A1:A9)|-2|@x|null|NULL|true|007|\\|\\"'.split('|'),
  ...'line\nbreak|line\r\nbreak|\r|\n|tab\tin it, and behind\t|🦊 emoji|مرحبا'.split('|'),
  ...'\u202eright to left|\ufeffmark|\u0000nul|\u001f|\uffff'.split('|'),
  'ß'.repeat(5000),
];
const NASTY_REGISTER: Rows = {
  groups: [
    ...NASTY.map((name, index) => ({ id: index + 1, name, description: name, platform_id: name })),
    { id: 100, owner_state: 'owned', owner_id: 7, owner_name: 'seven', public_entry: 1, verified: 0 },
    { id: 101, owner_state: 'none', member_count: 0 },
    { id: 9_007_199_254_740_991 },
  ],
  group_member_readings: [
    { group_id: 100, measured_at: '2026-11-10T08:00:00Z', member_count: 9_007_199_254_740_991 },
    { group_id: 100, measured_at: '2026-11-19T08:00:00Z', member_count: 9 },
    { group_id: 100, measured_at: TIME, member_count: 3 },
  ],
  users: [{ id: 7, username: 'seven', verified: 1 }, { id: 8 }],
  usernames: NASTY.filter((name) => name !== '').map((username, index) => ({
    user_id: 8,
    position: index + 1,
    username,
    changed_at: index === 3 ? TIME : null,
    first_measured_at: TIME,
    last_measured_at: TIME,
  })),
};

const folder = path('out');
const fileOf = (name: string): string => join(folder, 'downloads', name);
const csvOf = (table: string): string => readFileSync(fileOf(`${table}.csv`), 'utf8');

const written = (context: Context): Map<string, string> =>
  new Map(
    exportsOf(context.register.measured).map(({ name }) => {
      writeTable(context, { table: name, folder });
      return [name, csvOf(name)];
    }),
  );

/** Left to itself, this reader drops a byte order mark that a text begins with. */
const exact = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const parsers = { stringFromBytes: (bytes?: Uint8Array) => bytes && exact.decode(bytes) };
const parquetRows = async (file: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(file), parsers });

const cellOf = (value: unknown): unknown =>
  value instanceof Date
    ? value.toISOString().replace('.000Z', 'Z')
    : ['number', 'bigint', 'boolean'].includes(typeof value)
      ? String(value)
      : value;

const cellsOf = (rows: readonly object[]): unknown[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)])));

it('a table is the same in every format, whatever its values are, and each file has the size and hash that are said', async () => {
  const context = contextOf(writeRegister(path('nasty.sqlite'), NASTY_REGISTER));
  let rows = 0;
  for (const { name } of EXPORTS) {
    const files = writeTable(context, { table: name, folder });
    expect(Object.keys(files)).toHaveLength(3);
    const lines = files[`downloads/${name}.csv`]?.rows ?? Number.NaN;
    for (const [file, written] of Object.entries(files)) {
      const content = readFileSync(join(folder, file));
      expect(written).toEqual({ bytes: content.length, sha256: sha256(content), rows: lines });
    }
    expect(gunzipSync(readFileSync(fileOf(`${name}.csv.gz`))).toString()).toBe(csvOf(name));
    const found = csvObjects(csvOf(name));
    expect(found).toHaveLength(lines);
    expect(cellsOf(await parquetRows(fileOf(`${name}.parquet`)))).toEqual(found);
    rows += lines;
  }
  expect(context.steps).toBe(rows);
  expect(csvObjects(csvOf('groups')).slice(0, NASTY.length)).toEqual(
    NASTY.map(
      (text) => expect.objectContaining({ name: text, description: text, platform_id: text }) as unknown,
    ),
  );
  // A Parquet file has types: integers, truth values, times.
  const typed = { owner_id: 7n, public_entry: true, change_h24_delta: -6n, measured_at: new Date(TIME) };
  const [last, , hundred] = (await parquetRows(fileOf('groups.parquet'))).toReversed();
  expect(hundred).toMatchObject({ id: 100n, ...typed, peak_member_count: 9_007_199_254_740_991n });
  expect(last).toMatchObject({ id: 9_007_199_254_740_991n, peak_member_count: null });
  // And bounds, by which readers skip what they need not read.
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(fileOf('groups.parquet')));
  const bounds: unknown = Object.fromEntries(
    row_groups[0]?.columns.map(({ meta_data }) => [meta_data?.path_in_schema[0], meta_data?.statistics]) ??
      [],
  );
  expect(bounds).toMatchObject({
    id: { min_value: 1n, max_value: 9_007_199_254_740_991n, null_count: 0n },
    member_count: { min_value: 0n, max_value: 0n, null_count: BigInt(NASTY.length + 2) },
    change_h24_delta: { min_value: -6n, max_value: -6n },
  });
});

it('what a register does not measure is null, or no table at all', () => {
  const file = writeRegister(path('partial.sqlite'), NASTY_REGISTER);
  const all = written(contextOf(file));
  const some = written(contextOf(file, ['items', 'group_member_readings', 'groups.description']));
  expect([...some.keys()]).toEqual(
    [...all.keys()].filter((table) => !['items', 'group_member_readings'].includes(table)),
  );
  const [columns = ''] = (all.get('groups') ?? '').split('\r\n');
  const missing = columns.split(',').filter((name) => /^(?:description$|peak|change)/.test(name));
  const nulls = Object.fromEntries(missing.map((name) => [name, null]));
  expect(csvObjects(some.get('groups') ?? '')).toEqual(
    csvObjects(all.get('groups') ?? '').map((row) => ({ ...row, ...nulls })),
  );
});

it('a table without rows has a header alone, and is still read', async () => {
  for (const [table, csv] of written(contextOf(writeRegister(path('empty.sqlite'), '')))) {
    expect(csv).toMatch(/^[a-z0-9_,]+\r\n$/);
    expect(await parquetRows(fileOf(`${table}.parquet`))).toEqual([]);
  }
});

/** A value that JSON functions give as text, which SQLite would nest in another document as JSON. */
const JSON_VALUES = ['["a","b"]', '{"a":1}', '"Foo"', '5', 'null', '[]'];
const SEEN = `'${TIME}' AS first_measured_at, '${TIME}' AS last_measured_at`;
const MEASURED = `'${TIME}' AS first_measured_at, '${TIME}' AS measured_at, 1 AS measurements`;

/** A register of views in which every text is made by an SQL expression over a table. */
const registerOf = (text: string): string => `
  CREATE TABLE document (id INTEGER PRIMARY KEY, body TEXT, plain TEXT,
    generated TEXT AS (body -> '$.value') VIRTUAL, extracted TEXT AS (json_extract(body, '$.list[0]')) VIRTUAL);
  ${JSON_VALUES.map((json, index) => `INSERT INTO document VALUES (${index + 1}, '{"value":${json},"list":[${json}]}', '${json}');`).join('\n')}
  CREATE VIEW groups AS SELECT id, ${text} AS name, ${text} AS description, 'owned' AS owner_state,
    ${text} AS owner_name, 1 AS member_count, ${MEASURED} FROM document;
  CREATE VIEW group_names AS SELECT id AS group_id, 1 AS position, ${text} AS name, ${SEEN} FROM document;
  CREATE VIEW users AS SELECT id, ${text} AS username, ${text} AS display_name, ${MEASURED} FROM document;
  CREATE VIEW usernames AS SELECT id AS user_id, 1 AS position, ${text} AS username, ${SEEN} FROM document;
  PRAGMA user_version = 1`;

it('a text that a JSON function made is, here and in documents, what the same text is where it is stored', () => {
  const contents = [
    'plain',
    'generated',
    'CAST(generated AS TEXT)',
    `coalesce(CASE json_type(body, '$.value') WHEN 'array' THEN extracted WHEN 'object' THEN extracted END, plain)`,
    `body -> '$.value'`,
    `(SELECT json_quote(value) FROM json_each(body) WHERE key = 'value')`,
  ].map((text, index) => {
    const context = contextOf(runSql(path(`json-${index}.sqlite`), registerOf(text)));
    const documents = RESOURCES.flatMap((resource) => [...records(context.register, resource)]);
    return { tables: written(context), documents };
  });
  for (const content of contents) expect(content).toEqual(contents[0]);
  const [{ body } = { body: '{}' }] = contents[0]?.documents ?? [];
  expect(JSON.parse(body)).toMatchObject({ name: '["a","b"]', description: '["a","b"]' });
});

it.each([
  ['100,000 rows', 20, [100_000, 100_000, 50_000]],
  ['4 MiB of CSV', 100, [50_000, 50_000, 50_000, 50_000, 50_000]],
])('a row group is full at %s, from the first row on', async (_, size, expected) => {
  const parquet = path('rows.parquet');
  const file = new ParquetFile(parquet, [{ name: 'name', type: 'text', nullable: false, description: '' }]);
  const rows = Array.from({ length: 10_000 }, () => ['name']);
  for (let batch = 0; batch < 25; batch += 1) file.add(rows, size * rows.length);
  file.finish();
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(parquet));
  expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual(expected);
});

const whole = path('database');
const plain = join(whole, 'downloads/register.sqlite');
const file = path('register.sqlite');

const ABOUT = {
  name: "The Register's",
  url: 'https://register.example',
  platform: 'Example',
  licence: { name: 'CC BY 4.0', url: 'https://licence.example/by/4.0/' },
  asOf: TIME,
  sequence: 118,
  digest: 'd'.repeat(64),
};

writeRegister(file, { ...NASTY_REGISTER, withheld: [{ kind: 'user', id: 7, since: TIME }] });

type Stored = string | number | null;
const rowsShape = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

const found = (sql: string, database = plain): Stored[][] => rowsShape.parse(rowsOf(database, sql));

const TEXTS: ReadonlySet<ValueType> = new Set(['text', 'enum', 'time', 'date']);

function storedCell(value: Stored, type: ValueType): string | null {
  if (value === null) return null;
  expect(typeof value).toBe(TEXTS.has(type) ? 'string' : 'number');
  return type === 'boolean' ? String(value === 1) : String(value);
}

it('the database has the rows and values of the CSV files, and the size and hash that are said, as does its compressed form', () => {
  const context = contextOf(file);
  const written = writeDatabase(context, { about: ABOUT, folder: whole });
  const content = readFileSync(plain);
  expect(gunzipSync(readFileSync(`${plain}.gz`)).equals(content)).toBe(true);
  for (const [name, said] of Object.entries(written)) {
    const file = readFileSync(join(whole, name));
    expect(said, name).toEqual({ bytes: file.length, sha256: sha256(file), rows: context.steps });
  }
  expect(Object.keys(written)).toHaveLength(2);
  let rows = 0;
  for (const { name, key, columns } of EXPORTS) {
    writeTable(context, { table: name, folder: whole });
    const [, ...records] = parseCsv(readFileSync(join(whole, `downloads/${name}.csv`), 'utf8'));
    const cells = found(`SELECT * FROM "${name}" ORDER BY ${key.join()}`).map((row) =>
      row.map((value, at) => storedCell(value, columns[at]?.value.type ?? 'text')),
    );
    expect(cells, name).toEqual(records);
    rows += cells.length;
  }
  expect(context.steps).toBe(2 * rows);
  expect(found('PRAGMA foreign_key_check')).toEqual([]);
  expect(found('PRAGMA integrity_check')).toEqual([['ok']]);
  // Of a withheld record, there is not even a trace in a part of the file that no row is in.
  expect(content.includes('seven')).toBe(false);
});

it('the database has strict tables with keys, and the meaning and unit of each column in its schema', () => {
  expect(found(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict`)).toHaveLength(9);
  const [[groups] = []] = found(`SELECT sql FROM sqlite_schema WHERE name = 'groups'`);
  const said = 'Number of members in the group. Unit: members. Null: not measured.';
  expect(groups).toContain(`"member_count" INTEGER, -- ${said}\n`);
  expect(groups).toContain('"id" INTEGER NOT NULL PRIMARY KEY, -- Stable numeric id of the group.\n');
  const references = found(
    `SELECT name, "from", "table", "to" FROM sqlite_schema, pragma_foreign_key_list(name) ORDER BY name`,
  );
  expect(references.map((words) => words.join(' '))).toEqual([
    'group_member_readings group_id groups id',
    'group_names group_id groups id',
    'group_owners group_id groups id',
    'usernames user_id users id',
  ]);
});

it('the database names its register, its licence, its snapshot and the time of its data', () => {
  const sql = `SELECT name, url, platform, licence, licence_url, as_of, sequence, digest FROM about`;
  const { name, url, platform, licence, asOf, sequence, digest } = ABOUT;
  expect(found(sql)).toEqual([[name, url, platform, licence.name, licence.url, asOf, sequence, digest]]);
  expect(found(`SELECT name FROM pragma_table_info('about') WHERE "notnull" = 0`)).toEqual([['as_of']]);
  const [context, folder] = [contextOf(writeRegister(path('empty.sqlite'), '')), path('empty')];
  writeDatabase(context, { about: { ...ABOUT, asOf: null }, folder });
  expect(found('SELECT as_of FROM about', join(folder, 'downloads/register.sqlite'))).toEqual([[null]]);
});
