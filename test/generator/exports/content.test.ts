/** What the bulk downloads hold: the same as the records, exactly, in every format. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { beforeAll, expect, it } from 'vitest';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { published } from '../../support/build.js';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { NASTY_REGISTER, TIME } from '../../support/nasty.js';
import { contentOf } from '../../support/published.js';
import { SCHEMA, changeRegister, writeRegister } from '../../support/register.js';
import { readTree } from '../../support/tree.js';

const TABLES = EXPORTS.map(({ name }) => name);

const path = temporary();
const out = path('nasty');

beforeAll(async () => {
  await published({ register: writeRegister(path('register.sqlite'), NASTY_REGISTER), out });
});

const file = (folder: string, name: string): string => join(folder, 'downloads', name);
const text = (folder: string, name: string): string => readFileSync(file(folder, name), 'utf8');

/** A value of Parquet as CSV has it. */
function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  throw new TypeError(`no value of a cell: ${JSON.stringify(value)}`);
}

it.each(TABLES)('%s is compressed from the very same bytes, and holds the same in Parquet', async (name) => {
  const compressed = readFileSync(file(out, `${name}.csv.gz`));
  expect(gunzipSync(compressed).equals(readFileSync(file(out, `${name}.csv`)))).toBe(true);
  const rows = await parquetRows(file(out, `${name}.parquet`));
  const cells = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(value)])),
  );
  expect(cells).toEqual(csvObjects(text(out, `${name}.csv`)));
});

/** Left to itself, this reader drops a byte order mark that a text begins with. */
const exact = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const parsers = { stringFromBytes: (bytes?: Uint8Array) => bytes && exact.decode(bytes) };

const parquetRows = async (name: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(name), parsers });

it('a Parquet file has types: integers, truth values, times', async () => {
  const rows = await parquetRows(file(out, 'groups.parquet'));
  const typed = { owner_id: 7n, public_entry: true, change_h24_delta: -6n, measured_at: new Date(TIME) };
  expect(rows.find(({ id }) => id === 100n)).toMatchObject(typed);
});

it('a column that is compared by RTRIM tells spaces from an empty text, in every format', async () => {
  const folder = path('rtrim');
  const collated = path('rtrim.sqlite');
  const database = openDatabase(collated);
  database.exec(SCHEMA.replaceAll(/\b(description +TEXT)/g, '$1 COLLATE RTRIM'));
  database.close();
  changeRegister(
    collated,
    `INSERT INTO groups (id, description, first_measured_at, measured_at, measurements)
       VALUES (1, '', '${TIME}', '${TIME}', 1), (2, '  ', '${TIME}', '${TIME}', 1), (3, NULL, '${TIME}', '${TIME}', 1);`,
  );
  await published({ register: collated, out: folder });
  const measured = ['', '  ', null];
  expect(csvObjects(text(folder, 'groups.csv')).map(({ description }) => description)).toEqual(measured);
  const rows = await parquetRows(file(folder, 'groups.parquet'));
  expect(rows.map(({ description }) => description)).toEqual(measured);
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
  CREATE VIEW group_owners AS SELECT id AS group_id, 1 AS position, 'owned' AS owner_state,
    ${text} AS owner_name, ${SEEN} FROM document;
  CREATE VIEW users AS SELECT id, ${text} AS username, ${text} AS display_name, ${MEASURED} FROM document;
  CREATE VIEW usernames AS SELECT id AS user_id, 1 AS position, ${text} AS username, ${SEEN} FROM document;
  CREATE VIEW games AS SELECT id, ${text} AS name, ${text} AS genre, 1 AS playing, ${text} AS creator_name,
    ${MEASURED} FROM document;
  CREATE VIEW items AS SELECT id, ${text} AS name, ${MEASURED} FROM document;
  PRAGMA user_version = 1`;

it('a text that a JSON function made is everywhere what the same text is where it is stored', async () => {
  const contents = new Map<string, Record<string, string>>();
  for (const text of [
    'plain',
    'generated',
    'CAST(generated AS TEXT)',
    `coalesce(CASE json_type(body, '$.value') WHEN 'array' THEN extracted WHEN 'object' THEN extracted END, plain)`,
    `body -> '$.value'`,
    `(SELECT json_quote(value) FROM json_each(body) WHERE key = 'value')`,
  ]) {
    const register = path('json.sqlite');
    const database = openDatabase(register);
    database.exec(registerOf(text));
    database.close();
    const folder = path('json');
    await published({ register, out: folder });
    contents.set(text, contentOf(folder));
    const record: unknown = JSON.parse(readTree(folder).get('api/v1/group/1.json')?.text ?? '');
    expect(record).toMatchObject({ name: '["a","b"]', description: '["a","b"]' });
  }
  for (const content of contents.values()) expect(content).toEqual(contents.get('plain'));
});

it('an empty register gives tables with headers alone, which are still read, and are as of no time', async () => {
  const folder = path('empty');
  await published({ register: writeRegister(path('empty.sqlite'), ''), out: folder });
  for (const name of TABLES) {
    expect(text(folder, `${name}.csv`)).toBe(`${text(out, `${name}.csv`).split('\r\n')[0]}\r\n`);
    expect(gunzipSync(readFileSync(file(folder, `${name}.csv.gz`))).toString()).toBe(
      text(folder, `${name}.csv`),
    );
    expect(await parquetRows(file(folder, `${name}.parquet`))).toEqual([]);
  }
  const database = openDatabase(file(folder, 'register.sqlite'), { readonly: true });
  expect(database.prepare<[]>('SELECT as_of FROM about').pluck().all()).toEqual([null]);
  database.close();
});
