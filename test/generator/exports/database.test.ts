/** The published population as a database: the rows and values of the CSV files, with keys and meanings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { writeDatabase } from '../../../generator/exports/database.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { writeTable } from '../../../generator/exports/write-table.js';
import type { ValueType } from '../../../generator/schema/shape.js';
import { parseCsv } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { NASTY_REGISTER, TIME } from '../../support/nasty.js';
import { sha256 } from '../../support/published.js';
import { writeRegister } from '../../support/register.js';
import { contextOf } from './support.js';

const path = temporary();
const folder = path('out');
const plain = join(folder, 'downloads/register.sqlite');
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

/** What a query finds in the database that was written. */
function found(sql: string, database = plain): Stored[][] {
  const opened = openDatabase(database, { readonly: true });
  try {
    return rowsShape.parse(opened.prepare<[]>(sql).raw(true).all());
  } finally {
    opened.close();
  }
}

const TEXTS: ReadonlySet<ValueType> = new Set(['text', 'enum', 'time', 'date']);

/** A value of the database as CSV has it. */
function cellOf(value: Stored, type: ValueType): string | null {
  if (value === null) return null;
  expect(typeof value).toBe(TEXTS.has(type) ? 'string' : 'number');
  return type === 'boolean' ? String(value === 1) : String(value);
}

it('has the rows and values of the CSV files, and the size and hash that are said, as does its compressed form', () => {
  const context = contextOf(file);
  const written = writeDatabase(context, { about: ABOUT, folder });
  const content = readFileSync(plain);
  expect(gunzipSync(readFileSync(`${plain}.gz`)).equals(content)).toBe(true);
  for (const [name, said] of Object.entries(written)) {
    const file = readFileSync(join(folder, name));
    expect(said, name).toEqual({ bytes: file.length, sha256: sha256(file), rows: context.steps });
  }
  expect(Object.keys(written)).toHaveLength(2);
  let rows = 0;
  for (const { name, key, columns } of EXPORTS) {
    writeTable(context, { table: name, folder });
    const [, ...records] = parseCsv(readFileSync(join(folder, `downloads/${name}.csv`), 'utf8'));
    const cells = found(`SELECT * FROM "${name}" ORDER BY ${key.join()}`).map((row) =>
      row.map((value, at) => cellOf(value, columns[at]?.value.type ?? 'text')),
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

it('has strict tables with keys, and the meaning and unit of each column in its schema', () => {
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

it('names its register, its licence, its snapshot and the time of its data', () => {
  const sql = `SELECT name, url, platform, licence, licence_url, as_of, sequence, digest FROM about`;
  const { name, url, platform, licence, asOf, sequence, digest } = ABOUT;
  expect(found(sql)).toEqual([[name, url, platform, licence.name, licence.url, asOf, sequence, digest]]);
  expect(found(`SELECT name FROM pragma_table_info('about') WHERE "notnull" = 0`)).toEqual([['as_of']]);
  const [context, folder] = [contextOf(writeRegister(path('empty.sqlite'), '')), path('empty')];
  writeDatabase(context, { about: { ...ABOUT, asOf: null }, folder });
  expect(found('SELECT as_of FROM about', join(folder, 'downloads/register.sqlite'))).toEqual([[null]]);
});
