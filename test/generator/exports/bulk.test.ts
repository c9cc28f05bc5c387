/** The downloads that hold everything in few files: the documents themselves, and one database. */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { openDatabase } from '../../../generator/sqlite/index.js';
import { OPERATOR, published } from '../../support/build.js';
import type { Options } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { NASTY_REGISTER, TIME } from '../../support/nasty.js';
import { writeOperator } from '../../support/operator.js';
import type { Files } from '../../support/operator.js';
import { has } from '../../support/programs.js';
import { sha256 } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { Site, copyOf } from '../../support/site.js';
import { always, isThorough, it, some } from '../../support/thorough.js';
import { hashes, inState, lasting, readTree, stamps } from '../../support/tree.js';
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
  await writeSample({ file: register, records: isThorough ? 500 : 250, seed: 8 });
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

/** The file of a path, as docs/format.md says it. */
const fileOf = (url: string): string => {
  const [, limit] = /^\/api\/v1\/largest\?limit=(\d+)$/.exec(url) ?? [];
  if (limit !== undefined) return `api/v1/largest/${limit}.json`;
  return /\.\w+$/.test(url) ? url.slice(1) : `${url.slice(1)}.json`;
};

const unpackedFile = (out: string): string => {
  const file = path('unpacked.sqlite');
  writeFileSync(file, unpacked(out, 'register.sqlite.gz'));
  return file;
};

const columnOf = (out: string, sql: string): unknown[] => {
  const database = openDatabase(unpackedFile(out), { readonly: true });
  try {
    return database.prepare<[]>(sql).pluck().all();
  } finally {
    database.close();
  }
};

/** The files of this sort that are another than before. */
const touched = (before: Record<string, string>, out: string): string[] => {
  const after = stamps(readTree(out));
  return Object.keys(after).filter(
    (file) => /^downloads.*\.(ndjson|sqlite)\.gz$/.test(file) && before[file] !== after[file],
  );
};

/** The files of the documents of each route by record id, as decisions.md places them. */
const FILES: Readonly<Record<string, (id: string) => string>> = {
  group: (id) => `api/v1/group/${id}.json`,
  user: (id) => `api/v1/user/${id}.json`,
  game: (id) => `api/v1/game/${id}.json`,
  item: (id) => `api/v1/item/${id}.json`,
  'group-history': (id) => `group/${id}/history.json`,
  'user-usernames': (id) => `user/${id}/usernames.json`,
};

const SITES = [
  ['a nasty register', nasty],
  ['a usual one', usual],
] as const;

describe.each(SITES)('the documents of %s', (_, out) => {
  it.each(Object.entries(FILES))('of the route %s are lines, the very bodies, by id', (route, fileOf) => {
    const [before = '', after = ''] = fileOf('*').split('*');
    const ids = [...readTree(out).keys()]
      .filter((file) => file.startsWith(before) && file.endsWith(after))
      .map((file) => file.slice(before.length, -after.length))
      .filter((id) => /^\d+$/.test(id))
      .toSorted((a, b) => Number(a) - Number(b));
    const bodies = ids.map((id) => readFileSync(join(out, fileOf(id)), 'utf8'));
    expect(linesOf(out, route)).toEqual(bodies);
    expect(ids.length).toBeGreaterThan(out === usual ? 20 : -1);
  });

  it('are all there, with those of other.ndjson.gz: whatever isn’t derived from them', () => {
    const others = linesOf(out, 'other').map((line) =>
      z.looseObject({ path: z.string() }).parse(JSON.parse(line)),
    );
    const routes = z
      .object({ routes: z.array(z.looseObject({ path: z.string(), file: z.string(), class: z.string() })) })
      .parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8'))).routes;
    const known = new Set(others.map((other) => other.path));
    expect(known.size).toBe(others.length);
    const own = new Set([
      '/snapshot.json',
      '/changes/index.json',
      '/feeds/snapshots.atom',
      '/feeds/snapshots.json',
    ]);
    for (const { path: url, class: sort } of routes.filter((route) => !route.path.includes('{'))) {
      const isDerived = ['page', 'asset', 'download'].includes(sort) || url.startsWith('/.well-known/');
      const isOperators = Object.keys(SITE).includes(url.slice(1));
      const isThere = (!isDerived && !own.has(url) && url !== '/api/v1/largest') || isOperators;
      expect(known.has(url), url).toBe(isThere);
    }
    for (let limit = 1; limit <= 200; limit += 1) expect(known).toContain(`/api/v1/largest?limit=${limit}`);
  });
});

describe('other.ndjson.gz', () => {
  const lineShape = z.strictObject({
    path: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    body: z.string().optional(),
  });
  const lines = () => linesOf(usual, 'other').map((line) => lineShape.parse(JSON.parse(line)));

  it('has path, hash, size and body of each document, and no body of what is not text', () => {
    for (const { path: url, sha256: hash, bytes, body } of lines()) {
      const content = readFileSync(join(usual, fileOf(url)));
      expect([hash, bytes], url).toEqual([sha256(content), content.length]);
      expect(body === undefined ? body : sha256(body), url).toBe(url === '/key.bin' ? undefined : hash);
    }
  });
});

/**
 * Compares the database with the CSV files, both read by Python: prints the number of rows of each
 * table, and every difference.
 */
const COMPARISON = `
import csv, json, sqlite3, sys
csv.field_size_limit(10**9)
database = sqlite3.connect(sys.argv[1])
rows, wrong = {}, []
wrong += [list(row) for row in database.execute('PRAGMA foreign_key_check')]
wrong += [list(row) for row in database.execute('PRAGMA integrity_check') if row != ('ok',)]
for path in sys.argv[2:]:
    table = path.split('/')[-1][:-len('.csv')]
    fields = json.load(open(path[:-len(table) - 4] + 'datapackage.json'))['resources']
    schema = next(each['schema'] for each in fields if each['path'] == table + '.csv')
    kinds = [field['type'] for field in schema['fields']]
    keys = ', '.join(schema['primaryKey'])
    cursor = database.execute(f'SELECT * FROM "{table}" ORDER BY {keys}')
    names = [column[0] for column in cursor.description]
    lines = csv.reader(open(path, newline='', encoding='utf-8'), strict=True)
    if next(lines) != names: wrong.append([table, names])
    count = 0
    for line in lines:
        row = cursor.fetchone()
        count += 1
        for name, kind, cell, value in zip(names, kinds, line, row or [None] * len(names)):
            stored = int if kind in ('integer', 'boolean') else str
            written = '' if value is None else ['false', 'true'][value] if kind == 'boolean' else str(value)
            if written != cell or (value is not None and type(value) is not stored):
                wrong.append([table, count, name, cell, value])
    if cursor.fetchone() is not None: wrong.append([table, 'more rows'])
    rows[table] = count
print(json.dumps({'rows': rows, 'wrong': wrong[:10]}))
`;

describe.skipIf(!has('register.sqlite.gz beside the CSV files', 'python3')).each(SITES)(
  'register.sqlite.gz of %s',
  (_, out) => {
    it('has the rows and values of the CSV files, as other programs read both', () => {
      const database = `${out}.unpacked.sqlite`;
      writeFileSync(database, unpacked(out, 'register.sqlite.gz'));
      const tables = readdirSync(join(out, 'downloads')).filter((name) => name.endsWith('.csv'));
      expect(tables).toHaveLength(8);
      const files = tables.map((name) => join(out, 'downloads', name));
      const { stdout, stderr } = spawnSync('python3', ['-c', COMPARISON, database, ...files], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      const { rows, wrong } = z
        .object({ rows: z.record(z.string(), z.int()), wrong: z.array(z.unknown()) })
        .parse(JSON.parse(stdout));
      expect(wrong).toEqual([]);
      expect(Object.keys(rows)).toHaveLength(8);
      expect(rows['groups']).toBeGreaterThan(10);
    });
  },
);

describe('register.sqlite.gz', () => {
  it('tells null from empty text, which CSV readers confuse', () => {
    expect(columnOf(nasty, 'SELECT name FROM groups WHERE id IN (2, 100) ORDER BY id')).toEqual(['', null]);
  });

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

  it('says what it is: register, licence, and as of when, if there is a measurement', async () => {
    const facts = fields(JSON.parse(readFileSync(OPERATOR, 'utf8')));
    const { as_of } = fields(JSON.parse(readFileSync(join(usual, 'snapshot.json'), 'utf8')));
    const [json] = columnOf(
      usual,
      `SELECT json_object('name', name, 'url', url, 'platform', platform, 'as_of', as_of,
        'licence', json_object('name', licence, 'url', licence_url)) FROM about`,
    );
    const { name, url, platform, licence } = facts;
    expect(JSON.parse(String(json))).toEqual({ name, url, platform, as_of, licence });
    const out = path('unmeasured');
    await published({ register: writeRegister(path('unmeasured.sqlite'), {}), out });
    expect(columnOf(out, 'SELECT as_of FROM about')).toEqual([null]);
    const nullable = `SELECT name FROM pragma_table_info('about') WHERE "notnull" = 0`;
    expect(columnOf(out, nullable)).toEqual(['as_of']);
  });
});

/** A copy of the usual register and its tree. */
const site = (): Site => copyOf(new Site(register, usual), path);
const build = (made: Site, sql = '', options: Partial<Options> = {}) =>
  made.build(sql, { operator, ...options });

/** Does something while one of the operator's files has another content. */
async function withImprint(content: string, work: () => Promise<void>): Promise<void> {
  const imprint = join(dirname(operator), 'site/imprint.html');
  const before = readFileSync(imprint);
  writeFileSync(imprint, content);
  try {
    await work();
  } finally {
    writeFileSync(imprint, before);
  }
}

describe('a build that follows', () => {
  it('writes the rest if one of the operator’s files changed, and no file of records', async () => {
    const made = site();
    const before = stamps(readTree(made.out));
    await withImprint('Moved', async () => {
      await build(made);
      expect(touched(before, made.out)).toEqual(['downloads/documents/other.ndjson.gz']);
      expect(linesOf(made.out, 'other').at(-2)).toContain('"body":"Moved"');
    });
  });

  always.each(
    some<[string, (file: string) => void]>(
      [
        ['damaged', (file: string) => writeFileSync(file, readFileSync(file).with(100, 0))],
        ['missing', (file: string) => rmSync(file)],
        ['cut short', (file: string) => truncateSync(file, 5000)],
      ],
      1,
    ),
  )('writes all to the byte as from nothing, if the last version is %s', async (_, damage) => {
    const [made, again] = [site(), path('again')];
    for (const name of ['documents/group.ndjson.gz', 'documents/user.ndjson.gz', 'register.sqlite.gz'])
      damage(join(made.out, 'downloads', name));
    // A first, a last and neighbouring ones among them; one comes, some go, one is withheld.
    await build(
      made,
      `UPDATE groups SET description = 'changed, and with more text than before 🦊'
         WHERE id IN (SELECT min(id) FROM groups UNION SELECT id FROM groups WHERE id > 50 LIMIT 3);
       UPDATE group_member_readings SET member_count = 1 WHERE (group_id, measured_at) =
         (SELECT group_id, min(measured_at) FROM group_member_readings GROUP BY group_id HAVING count(*) > 3 LIMIT 1);
       DELETE FROM items WHERE id IN (SELECT id FROM items ORDER BY id LIMIT 2 OFFSET 7);
       CREATE TEMP TABLE another AS SELECT * FROM items LIMIT 1;
       UPDATE another SET id = (SELECT max(id) + 1 FROM items);
       INSERT INTO items SELECT * FROM another;
       INSERT INTO withheld SELECT 'user', max(id), '${TIME}' FROM users;`,
    );
    await published({ register: made.register, out: again, operator });
    expect(hashes(lasting(readTree(made.out)))).toEqual(hashes(lasting(readTree(again))));
    // No unpacked database is left on the disk.
    const left = [made.out, inState(made.out)].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sqlite')),
    );
    expect(left).toEqual([]);
  });

  it('leaves no body of a record that is newly withheld, even with --keep-downloads', async () => {
    const made = site();
    const { out } = made;
    const [id = ''] = linesOf(out, 'user').map((line) => String(fields(JSON.parse(line))['id']));
    const user = fields(JSON.parse(readFileSync(join(out, `api/v1/user/${id}.json`), 'utf8')));
    await build(made, `INSERT INTO withheld VALUES ('user', ${id}, '${TIME}')`, { keepDownloads: true });
    const files = [...readTree(out).keys()].filter((file) => /^downloads.*\.(ndjson|sqlite)\.gz$/.test(file));
    expect(files).toHaveLength(8);
    const name = String(user['username']);
    const holding = files.filter((file) => gunzipSync(readFileSync(join(out, file))).includes(name));
    expect(holding).toEqual([]);
  });
});
