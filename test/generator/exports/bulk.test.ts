/** The downloads that hold everything in few files: the documents themselves, and one database. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { halves } from '../../../generator/routes/route.js';
import type { ValueType } from '../../../generator/schema/shape.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR, published } from '../../support/build.js';
import { parseCsv } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { NASTY_REGISTER, TIME } from '../../support/nasty.js';
import { writeOperator, type Files } from '../../support/operator.js';
import { filesByUrl, manifestOf, sha256, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { Site, copyOf } from '../../support/site.js';
import { inState, namesThatDiffer, pathsBelow, readTree } from '../../support/tree.js';
import { fields } from '../../support/values.js';

const path = temporary();
/** A register of everything that may go wrong, and a larger one, both with withheld records. */
const nasty = path('nasty');
const usual = path('usual');
const register = path('usual.sqlite');
const nastyRegister = path('nasty.sqlite');
const operator = join(path('site'), 'operator.json');

const BINARY = Buffer.from([0xff, 0xfe, 0, 1]);
const SITE: Files = {
  'imprint.html': '\ufeff<p>Imprint\u2028\u0000',
  'key.bin': BINARY,
};

/** The user who owns most groups is withheld, so that references to a user are. */
const WITHHELD = `INSERT INTO withheld SELECT 'user', owner_id, '${TIME}' FROM groups
    WHERE owner_id IN (SELECT id FROM users) GROUP BY owner_id ORDER BY count(*) DESC LIMIT 1;
  INSERT INTO withheld SELECT 'group', max(id), '${TIME}' FROM groups;`;

beforeAll(async () => {
  const withheld = { withheld: [{ kind: 'user', id: 7, since: TIME }] };
  const file = writeRegister(nastyRegister, { ...NASTY_REGISTER, ...withheld });
  await published({ register: file, out: nasty });
  await writeSample({ file: register, records: 250, seed: 8 });
  changeRegister(register, WITHHELD);
  writeOperator(dirname(operator), { files: 'site' }, SITE);
  await published({ register, out: usual, operator });
});

const unpacked = (out: string, name: string): Buffer =>
  gunzipSync(readFileSync(join(out, 'downloads', name)));
const linesOf = (out: string, name: string): string[] => {
  const lines = unpacked(out, `documents/${name}.ndjson.gz`).toString('utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines;
};

const lineShape = z.strictObject({
  path: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  body: z.string().optional(),
});
/** The lines about all other documents. */
const othersIn = (out: string) => linesOf(out, 'other').map((line) => lineShape.parse(JSON.parse(line)));

const databaseIn = (out: string): string => join(out, 'downloads/register.sqlite');

const columnOf = (out: string, sql: string): unknown[] => {
  const database = openDatabase(databaseIn(out), { readonly: true });
  try {
    return database.prepare<[]>(sql).pluck().all();
  } finally {
    database.close();
  }
};

const SITES = [
  ['a nasty register', nasty],
  ['a usual one', usual],
] as const;

describe.each(SITES)('the documents of %s', (_, out) => {
  it.each(['group', 'user', 'game', 'item', 'group-history', 'user-usernames'])(
    'of the route %s are lines, the very bodies, by id',
    (name) => {
      const file = manifestOf(out).routes.find((route) => route.name === name)?.file ?? '';
      const [before, after] = halves(file);
      const ids = [...readTree(out).keys()]
        .filter((each) => each.startsWith(before) && each.endsWith(after))
        .map((each) => each.slice(before.length, -after.length))
        .filter((id) => /^\d+$/.test(id))
        .toSorted((a, b) => Number(a) - Number(b));
      const bodies = ids.map((id) => readFileSync(join(out, file.replace('{id}', id)), 'utf8'));
      expect(linesOf(out, name)).toEqual(bodies);
      expect(ids.length).toBeGreaterThan(out === usual ? 20 : -1);
    },
  );

  it('are all there, with those of other.ndjson.gz: whatever isn’t derived from them', () => {
    const others = othersIn(out);
    const known = new Set(others.map((other) => other.path));
    expect(known.size).toBe(others.length);
    const own = /^\/(?:snapshot\.json|changes\/index\.json|feeds\/snapshots\.(?:atom|json))$/;
    for (const { path: url, class: sort } of manifestOf(out).routes.filter(
      (route) => !route.path.includes('{'),
    )) {
      const isDerived =
        ['page', 'asset', 'download'].includes(String(sort)) || url.startsWith('/.well-known/');
      const isOperators = Object.keys(SITE).includes(url.slice(1));
      const isThere = (!isDerived && !own.test(url) && url !== '/api/v1/largest') || isOperators;
      expect(known.has(url), url).toBe(isThere);
    }
    for (let limit = 1; limit <= 200; limit += 1) expect(known).toContain(`/api/v1/largest?limit=${limit}`);
  });
});

it('other.ndjson.gz has path, hash, size and body of each document, and no body of what is not text', () => {
  const files = new Map(filesByUrl(usual));
  for (const { path: url, sha256: hash, bytes, body } of othersIn(usual)) {
    const content = readFileSync(join(usual, files.get(url) ?? url));
    expect([hash, bytes], url).toEqual([sha256(content), content.length]);
    expect(body === undefined ? body : sha256(body), url).toBe(url === '/key.bin' ? undefined : hash);
  }
});

const rowsShape = z.array(z.array(z.union([z.string(), z.number(), z.null()])));
const TEXTS: ReadonlySet<ValueType> = new Set(['text', 'enum', 'time']);

/** A value of the database as CSV has it. */
function cellOf(value: string | number | null, type: ValueType): string | null {
  if (value === null) return null;
  expect(typeof value).toBe(TEXTS.has(type) ? 'string' : 'number');
  return type === 'boolean' ? String(value === 1) : String(value);
}

it.each(SITES)(
  'register.sqlite.gz of %s is register.sqlite, with the rows and values of the CSV files',
  (_, out) => {
    const plain = readFileSync(databaseIn(out));
    expect(unpacked(out, 'register.sqlite.gz').equals(plain)).toBe(true);
    const database = openDatabase(databaseIn(out), { readonly: true });
    onTestFinished(() => void database.close());
    expect(database.pragma('foreign_key_check')).toEqual([]);
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    for (const { name, key, columns } of EXPORTS) {
      const all = database.prepare<[]>(`SELECT * FROM "${name}" ORDER BY ${key.join()}`).raw(true);
      const cells = rowsShape
        .parse(all.all())
        .map((row) => row.map((value, at) => cellOf(value, columns[at]?.value.type ?? 'text')));
      const [header, ...records] = parseCsv(readFileSync(join(out, `downloads/${name}.csv`), 'utf8'));
      expect(all.columns().map((column) => column.name)).toEqual(header);
      expect(cells, name).toEqual(records);
    }
  },
);

describe('register.sqlite.gz', () => {
  it('holds nothing of a withheld record, and no name of a withheld owner', () => {
    expect(columnOf(nasty, 'SELECT count(*) FROM users WHERE id = 7')).toEqual([0]);
    expect(columnOf(nasty, 'SELECT owner_id FROM groups WHERE id = 100')).toEqual([null]);
    // Not even in a part of the file that no row is in.
    expect(unpacked(nasty, 'register.sqlite.gz').includes('seven')).toBe(false);
  });

  it('has strict tables with keys, and the meaning and unit of each column in its schema', () => {
    const tables = columnOf(usual, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict`);
    expect(tables).toHaveLength(9);
    const [groups] = columnOf(usual, `SELECT sql FROM sqlite_schema WHERE name = 'groups'`);
    expect(groups).toContain(
      '"member_count" INTEGER, -- Number of members in the group. Unit: members. Null: not measured.\n',
    );
    expect(groups).toContain('"id" INTEGER NOT NULL PRIMARY KEY, -- Stable numeric id of the group.\n');
    const references = columnOf(
      usual,
      `SELECT name || ' ' || "from" || ' ' || "table" || ' ' || "to" FROM sqlite_schema, pragma_foreign_key_list(name)
        ORDER BY name`,
    );
    expect(references).toEqual([
      'group_member_readings group_id groups id',
      'group_names group_id groups id',
      'group_owners group_id groups id',
      'usernames user_id users id',
    ]);
  });

  it('names its register, its licence and the time of its data', () => {
    const facts = fields(JSON.parse(readFileSync(OPERATOR, 'utf8')));
    const { as_of } = fields(JSON.parse(readFileSync(join(usual, 'snapshot.json'), 'utf8')));
    const [json] = columnOf(
      usual,
      `SELECT json_object('name', name, 'url', url, 'platform', platform, 'as_of', as_of,
        'licence', json_object('name', licence, 'url', licence_url)) FROM about`,
    );
    const { name, url, platform, licence } = facts;
    expect(JSON.parse(String(json))).toEqual({ name, url, platform, as_of, licence });
    const nullable = `SELECT name FROM pragma_table_info('about') WHERE "notnull" = 0`;
    expect(columnOf(usual, nullable)).toEqual(['as_of']);
  });
});

it('a build after one of the operator’s files changed writes the rest, and no file of records', async () => {
  const made = copyOf(new Site(register, usual), path);
  const before = stateOf(made.out);
  const imprint = join(dirname(operator), 'site/imprint.html');
  const content = readFileSync(imprint);
  onTestFinished(() => writeFileSync(imprint, content));
  writeFileSync(imprint, 'Moved');
  await made.build('', { operator });
  const touched = namesThatDiffer(stateOf(made.out), before);
  expect(touched.filter((file) => /^downloads.*\.(ndjson|sqlite)\.gz$/.test(file))).toEqual([
    'downloads/documents/other.ndjson.gz',
  ]);
  expect(linesOf(made.out, 'other').at(-2)).toContain('"body":"Moved"');
  // No database is left on the disk but the published one and the state.
  const left = [made.out, inState(made.out)].flatMap((folder) =>
    pathsBelow(folder, (entry) => entry.isFile()),
  );
  expect(left.filter((file) => file.endsWith('.sqlite'))).toEqual([
    'downloads/register.sqlite',
    'state.sqlite',
  ]);
});
