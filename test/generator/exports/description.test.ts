/** What describes the bulk downloads, their page included, says what is so. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { writeSample } from '../../../data/sample.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { published } from '../../support/build.js';
import { parseCsv } from '../../support/csv.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { snapshotOf, sha256 } from '../../support/published.js';
import { WITH_PLATFORM_IDS, changeRegister, rowsOf } from '../../support/register.js';
import { fields } from '../../support/values.js';
import { placesOf, readDescription } from '../outputs/openapi/support.js';
import { between, textOf } from '../outputs/pages/site.js';

const path = temporary();
const out = path('dist');
const folder = join(out, 'downloads');

const register = path('register.sqlite');
await writeSample({ file: register, records: 300, seed: 5 });
changeRegister(register, WITH_PLATFORM_IDS);
await published({ register, out });

const fieldShape = z.object({
  name: z.string(),
  type: z.enum(['integer', 'boolean', 'datetime', 'string']),
  description: z.string().min(5),
  example: z.string(),
  json: z.string(),
  constraints: z.strictObject({ required: z.literal(true).optional(), minimum: z.int().optional() }),
});

const resourceShape = z.object({
  name: z.string().regex(/^[a-z0-9._-]+$/),
  path: z.string(),
  bytes: z.int(),
  hash: z.string(),
  rows: z.int(),
});

const packageShape = z.object({
  $schema: z.literal('https://datapackage.org/profiles/2.0/datapackage.json'),
  sequence: z.int(),
  digest: z.string(),
  licenses: z.tuple([z.object({ name: z.string().regex(/^[-a-zA-Z0-9._]+$/), path: z.url() })]),
  resources: z.array(
    z.union([
      resourceShape.extend({
        type: z.literal('table'),
        document: z.string(),
        schema: z.object({
          fields: z.array(fieldShape),
          primaryKey: z.array(z.string()),
          missingValues: z.array(z.string()),
          foreignKeys: z
            .array(z.object({ fields: z.array(z.string()), reference: z.object({ resource: z.string() }) }))
            .optional(),
        }),
      }),
      // What holds more than a table is none: a reader would look for its columns.
      resourceShape.extend({
        type: z.undefined().optional(),
        schema: z.undefined().optional(),
        description: z.string().min(20),
        format: z.enum(['ndjson', 'sqlite']),
        // Of the database, there is one that is not compressed.
        compression: z.literal('gz').optional(),
      }),
    ]),
  ),
});

const read = () => packageShape.parse(JSON.parse(readFileSync(join(folder, 'datapackage.json'), 'utf8')));

const tables = () => read().resources.filter((resource) => resource.type === 'table');
const csvTables = () => tables().filter((table) => table.path.endsWith('.csv'));

const LOOKS = {
  integer: /^-?(0|[1-9]\d*)$/,
  boolean: /^(true|false)$/,
  datetime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  string: /[^]*/,
};

function fits(cell: string | null, { type, constraints }: z.infer<typeof fieldShape>): boolean {
  const { required, minimum } = constraints;
  if (cell === null) return required === undefined;
  return LOOKS[type].test(cell) && (minimum === undefined || Number(cell) >= minimum);
}

describe('datapackage.json', () => {
  it('lists three files for each of the eight tables and ten more, with their size and checksum', () => {
    const { resources } = read();
    expect(tables()).toHaveLength(24);
    expect(resources).toHaveLength(34);
    expect(new Set(resources.map(({ name }) => name)).size).toBe(34);
    const { sequence, digest, downloads } = snapshotOf(out);
    const { files } = downloads;
    for (const { path: name, bytes, hash, rows } of resources) {
      expect(files).toContainEqual({ file: `/downloads/${name}`, bytes, sha256: hash.split(':')[1] });
      const content = readFileSync(join(folder, name));
      expect([bytes, hash]).toEqual([content.length, `sha256:${sha256(content)}`]);
      const isLines = name.endsWith('.ndjson.gz');
      const lines = isLines ? gunzipSync(content).toString().split('\n').length - 1 : rows;
      expect(rows).toBe(name.startsWith('register.sqlite') ? allRows() : lines);
    }
    // It names its snapshot, as does the database.
    expect(read()).toMatchObject({ sequence, digest });
    const about = rowsOf(join(folder, 'register.sqlite'), 'SELECT sequence, digest FROM about');
    expect(about).toEqual([[sequence, digest]]);
  });

  it('describes every column as it is: order, type, values, what is never null, and how many rows', () => {
    for (const { path: name, rows, schema } of csvTables()) {
      const [header = [], ...records] = parseCsv(readFileSync(join(folder, name), 'utf8'));
      expect(schema.fields.map((field) => field.name)).toEqual(header);
      expect(records).toHaveLength(rows);
      expect(rows).toBeGreaterThan(0);
      const wrong = records.flatMap((record) =>
        schema.fields
          .filter((field, index) => !fits(record[index] ?? null, field))
          .map((field) => `${name} ${field.name}: ${JSON.stringify(record)}`),
      );
      expect(wrong).toEqual([]);
      const key = schema.primaryKey.map((column) => header.indexOf(column));
      const keys = records.map((record) => key.map((index) => record[index]).join(' '));
      expect(new Set(keys).size).toBe(rows);
    }
  });
});

const allRows = (): number => csvTables().reduce((sum, { rows }) => sum + rows, 0);

const textOfValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const at = (value: unknown, way = ''): unknown =>
  way.split('.').reduce<unknown>((from, name) => (from === null ? null : fields(from)[name]), value);

/** The values in a document at a path: one, or one for each entry of a list. */
function valuesAt(document: unknown, place: string): readonly unknown[] {
  const [list, inside] = place.split('[].');
  return inside === undefined
    ? [at(document, place)]
    : z
        .array(z.unknown())
        .parse(at(document, list))
        .map((entry) => at(entry, inside));
}

const valuePlaces = (record: unknown): string[] =>
  placesOf(record).filter((place) => !place.startsWith('links') && isValue(at(record, place)));
const isValue = (value: unknown): boolean => value !== null && typeof value !== 'object';

describe('the places in JSON that it names', () => {
  it('have the values of the columns, in records and in histories', () => {
    for (const { path: file, schema } of csvTables()) {
      const rows = parseCsv(readFileSync(join(folder, file), 'utf8')).slice(1);
      const { resource, history } = EXPORTS.find(({ name }) => `${name}.csv` === file) ?? {};
      const route = history === undefined ? resource?.record.route : resource?.history?.route;
      const lines = gunzipSync(readFileSync(join(folder, `documents/${route}.ndjson.gz`)));
      const documents = lines.toString().trimEnd().split('\n');
      const expected = documents.flatMap((line) => {
        const columns = schema.fields.map(({ json }) => valuesAt(JSON.parse(line), json));
        const length = history === undefined ? 1 : (columns[1]?.length ?? 0);
        return Array.from({ length }, (_, row) =>
          columns.map((values) => {
            const value = values.length === 1 && length !== 1 ? values[0] : values[row];
            return value === null || value === undefined ? null : textOfValue(value);
          }),
        );
      });
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(expected);
      if (history !== undefined) continue;
      // And nothing that a record says is missing in the rows.
      const said = new Set(documents.flatMap((line) => valuePlaces(JSON.parse(line))));
      expect([...said].toSorted()).toEqual(schema.fields.map(({ json }) => json).toSorted());
    }
  });

  it('are those of the OpenAPI description, which has them where a column has another name', () => {
    const { paths } = readDescription(out);
    const described = Object.entries(paths).flatMap(([at, { get }]) =>
      Object.entries(get['x-csv-columns'] ?? {}).map(([table, columns]) => ({ at, table, columns })),
    );
    const expected = csvTables().map(({ path: name, document, schema }) => ({
      at: document,
      table: name.slice(0, -'.csv'.length),
      columns: Object.fromEntries(
        schema.fields.flatMap((field) => (field.json === field.name ? [] : [[field.json, field.name]])),
      ),
    }));
    expect(described).toHaveLength(8);
    expect(described).toEqual(expect.arrayContaining(expected));
    expect(JSON.stringify(described)).toContain('"asset_type.name":"asset_type"');
  });
});

const DESCRIBING = ['README.txt', 'SHA256SUMS', 'datapackage.json'];
const html = (): string => readFileSync(join(out, 'downloads.html'), 'utf8');
const numberOf = (text = ''): number => Number(textOf(text).replaceAll(/\D/g, ''));
const firstNumberIn = (part = ''): number => numberOf(between(part, '<td class="number">', '</td>')[0]);

it('the downloads page links each file once, with its exact size, the rows of each and of all tables, and the checksums', () => {
  const { resources } = read();
  for (const name of [...resources.map((resource) => resource.path), ...DESCRIBING])
    expect(html().split(`href="/downloads/${name}"`), name).toHaveLength(2);
  for (const { path: name, bytes, rows } of resources) {
    const link = name === 'register.sqlite.gz' ? '<p class="figure size"' : `href="/downloads/${name}"`;
    expect(numberOf(between(html(), `${link} title="`, ' bytes"')[0]), name).toBe(bytes);
    if (name.startsWith('register')) continue;
    const row = name.startsWith('documents')
      ? between(html(), '<tr>', '</tr>').find((each) => each.includes(`href="/downloads/${name}"`))
      : between(html(), `<tr id="${name.split('.')[0]}">`, '</tr>')[0];
    expect(firstNumberIn(row), name).toBe(rows);
  }
  expect(firstNumberIn(between(html(), '<tfoot>', '</tfoot>')[0])).toBe(allRows());
  expect(html()).toContain(`<dd>${allRows().toLocaleString('en')} in 8 tables</dd>`);
  const [shown = ''] = between(html(), '<pre class="code sums"><code>', '</code>');
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').split('\n');
  const files = sums.filter((line) => !DESCRIBING.some((name) => line.endsWith(` ${name}`)));
  expect(shown.split('\n')).toEqual(files);
});

it('the downloads page has the types of each column in JSON and SQL', () => {
  const shown = [...html().matchAll(/<tr><th scope="row"><code>([^/]*)<\/code><\/th><td>(\w+) · (\w+)/g)].map(
    ([, name = '', json, sql]) => `${textOf(name)} ${json} ${sql}`,
  );
  const text = 'string TEXT';
  const types = { integer: 'integer INTEGER', boolean: 'boolean INTEGER', datetime: text, string: text };
  const expected = csvTables().flatMap(({ schema }) =>
    schema.fields.map(({ name, type }) => `${name} ${types[type]}`),
  );
  expect(shown).toEqual(expected);
});

it('SHA256SUMS passes sha256sum -c, for every file beside it', () => {
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('sha256sum', ['--strict', '-c', 'SHA256SUMS'], options);
  expect([status, stdout.match(/: OK$/gm)?.length]).toEqual([0, 36]);
});

it('README.txt names every file, with rows and bytes, and warns of spreadsheets', () => {
  const readme = readFileSync(join(folder, 'README.txt'), 'utf8');
  for (const { path: name, rows, bytes } of tables())
    expect(readme).toMatch(new RegExp(`^ +${name} +${rows} +${bytes}$`, 'm'));
  // In columns, numbers to the right.
  const lines = readme.match(/^ {5}\S+ +\d+ +\d+$/gm) ?? [];
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  expect(readme).toContain('Every published record and its history is included.');
  expect(readme).toContain('= + - or @');
});

it('the columns only ever grow at the end: programs may read them by their place', () => {
  const file = join(PROJECT, 'test/generator/exports/columns.json');
  const agreed = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(file, 'utf8')));
  const today = EXPORTS.map(({ name, columns }) => [name, columns.map(({ value }) => value.name).join(' ')]);
  // A new column belongs behind these, in its resource and then there; none of these may go or move.
  expect(agreed, 'a new column is agreed on by adding it to columns.json').toEqual(Object.fromEntries(today));
});
