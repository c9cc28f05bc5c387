/**
 * Builds that follow another one render only what changed: registers of any shape are read by ranges of ids where that
 * is safe, as a whole where it is not.
 */
import { renameSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { State } from '../../../../generator/state/state.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { openDatabase } from '../../../../generator/base/sqlite/sqlite.js';
import { counted, published, run } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf } from '../../../support/published.js';
import { SCHEMA, changeRegister, writeRegister } from '../../../support/register.js';
import { fresh } from '../../../support/site.js';
import { loseState } from '../../../support/state.js';
import { differing } from '../../../support/tree.js';
import { containing } from '../../../support/values.js';
import { damageOf } from '../../publish/support.js';

const path = temporary();

/** Index, statistics, the way to look up and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 203;

/** The newest records of each kind, and the list of the users or items themselves. */
const LISTS = 2;

const MEASURED = `'2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z'`;

/** Holds a tree against the one that a fresh build gives. */
async function expectAsFresh(register: string, tree: string): Promise<void> {
  expect(differing(contentOf(tree), await fresh(register, path('fresh')))).toEqual([]);
}

async function sample(): Promise<string> {
  const file = path('sample.sqlite');
  await writeSample({ file, records: 200, seed: 31 });
  return file;
}

/** The tree of the sample as it is. */
let ofTables: Record<string, string>;
beforeAll(async () => {
  ofTables = await fresh(await sample(), path('fresh'));
});

function columnsIn(file: string): ReadonlyMap<string, readonly string[]> {
  const database = openDatabase(file);
  try {
    const tables = database
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .pluck()
      .all();
    const columns = database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
    return new Map(tables.map((table) => [table, columns.all(table)]));
  } finally {
    database.close();
  }
}

/** The SQL of a view of a table. @param id the column that names the record */
type View = (raw: string, columns: string, id: string) => string;

/** Renames each table of a register, and puts a view in its place. */
function withViews(file: string, view: View): string {
  for (const [table, columns] of columnsIn(file)) {
    const id = columns.find((column) => ['id', 'group_id', 'user_id'].includes(column)) ?? '';
    const select = view(`raw_${table}`, columns.toReversed().join(', '), id);
    changeRegister(file, `ALTER TABLE ${table} RENAME TO raw_${table}; CREATE VIEW ${table} AS ${select}`);
  }
  return file;
}

/** The same rows in tables of another schema. */
function copied(file: string, schema: string): string {
  const copy = path('copy.sqlite');
  const into = [...columnsIn(file).keys()].map(
    (table) => `INSERT INTO main.${table} SELECT * FROM source.${table} ORDER BY random();`,
  );
  const database = openDatabase(copy);
  database.exec(`${schema}; ATTACH '${file}' AS source; ${into.join('')}`);
  database.close();
  return copy;
}

const LOOSE = SCHEMA.replaceAll(') STRICT, WITHOUT ROWID;', ') WITHOUT ROWID;').replaceAll(') STRICT;', ');');
/** Ids of records are no names of rows any more, so they may be of any type. */
const UNTYPED = LOOSE.replaceAll(/ (INTEGER|TEXT)\b/g, '');

const PLAIN: View = (raw, columns) => `SELECT ${columns} FROM ${raw}`;
const halvesWith =
  (union: string): View =>
  (raw, columns, id) =>
    `${PLAIN(raw, columns, id)} WHERE ${id} % 2 = 0 ${union} ${PLAIN(raw, columns, id)} WHERE ${id} % 2 = 1`;

/** Columns that some tables have, or that once were ours: no other may be taken for them. */
const ELSEWHERE = ['id', 'state', 'user_id', 'group_id', 'kind', '_excluded'];

/** An expression has neither type nor collation. */
const SHUFFLED: View = (raw, columns) => {
  const own = columns.split(', ');
  const others = ELSEWHERE.filter((column) => !own.includes(column)).map((column) => `'more' AS ${column}`);
  const all = [...others, ...own.map((column) => `iif(1, ${column}, 0) AS ${column}`)].join(', ');
  return `SELECT * FROM (SELECT ${all} FROM ${raw} ORDER BY random() LIMIT -1)`;
};

it('names of tables and columns in capitals give the same tree', async () => {
  const register = await sample();
  changeRegister(
    register,
    `ALTER TABLE users RENAME COLUMN username TO "USERNAME"; ALTER TABLE users RENAME TO people;
     CREATE VIEW "Users" AS SELECT * FROM people`,
  );
  expect(differing(await fresh(register, path('fresh')), ofTables)).toEqual([]);
});

describe('a build that follows another', () => {
  it.each<[string, (file: string) => string, string]>([
    ['tables', (file) => file, ''],
    ['views of two halves', (file) => withViews(file, halvesWith('UNION ALL')), 'raw_'],
    ['views of two halves without doubles', (file) => withViews(file, halvesWith('UNION')), 'raw_'],
    ['tables without types', (file) => copied(file, UNTYPED), ''],
  ])('renders only what changed in %s', async (_, shaped, prefix) => {
    const register = shaped(await sample());
    const out = path('dist');
    expect((await counted({ register, out })).rendered).toBeGreaterThan(2 * SUMMARIES);
    expect(differing(contentOf(out), ofTables)).toEqual([]);
    expect((await counted({ register, out })).rendered).toBe(SUMMARIES);
    const after = async (table: string, records: number): Promise<number> => {
      changeRegister(
        register,
        `UPDATE ${prefix}${table} SET measurements = measurements + 1 WHERE id IN
           (SELECT id FROM ${prefix}${table} ORDER BY id LIMIT ${records} OFFSET 10)`,
      );
      const { rendered, changes } = await counted({ register, out });
      expect([changes.added, changes.removed]).toEqual([0, 0]);
      return rendered;
    };
    // With its history; no feed is made of the users themselves.
    expect(await after('users', 1)).toBe(SUMMARIES + LISTS + 2);
    expect(await after('users', 3)).toBe(SUMMARIES + LISTS + 3 * 2);
    const one = await after('items', 1);
    expect((await after('items', 3)) - one).toBe(2);
    expect(one).toBeLessThan(SUMMARIES + 10);
    changeRegister(
      register,
      `DELETE FROM ${prefix}items WHERE id = (SELECT id FROM ${prefix}items ORDER BY first_measured_at DESC LIMIT 1 OFFSET 2)`,
    );
    // No neighbour of it, but what is recent, and in two formats the feeds of new items and of all, and its month.
    expect((await counted({ register, out })).rendered).toBe(SUMMARIES + LISTS + 7);
    await expectAsFresh(register, out);
  });

  it('keeps what the next build compares with, also where it renders nothing, and renders everything once where that was lost', async () => {
    const made = { register: await sample(), out: path('dist') };
    const { register, out } = made;
    await published(made);
    const known = (): readonly unknown[] => {
      using state = State.read(new Tree(out).database);
      return state?.rows('SELECT name FROM source ORDER BY name') ?? [];
    };
    const first = known();
    expect(first).toContainEqual({ name: 'inputs-feed-groups-archive' });
    await published(made);
    expect(known()).toEqual(first);
    changeRegister(register, `UPDATE users SET measurements = measurements + 1`);
    await published({ register, out, keepDownloads: true });
    expect(known()).toEqual(first);
    // The downloads alone are written.
    const isWritten = async (): Promise<boolean> =>
      Object.values((await published(made)).exports).some(({ written }) => written);
    expect([await isWritten(), await isWritten()]).toEqual([true, false]);
    loseState(out);
    expect((await counted(made)).rendered).toBeGreaterThan(2 * SUMMARIES);
    expect((await counted(made)).rendered).toBe(SUMMARIES);
    expect(await damageOf(out)).toEqual([]);
  });

  it('refuses records of one id, where no key forbids them, and a history whose record is gone', async () => {
    const [games = ''] = /CREATE TABLE games[^;]*;/.exec(SCHEMA) ?? [];
    const add = `INSERT INTO games (id, first_measured_at, measured_at, measurements) VALUES (9, ${MEASURED}, 1);`;
    const out = path('dist');
    const register = writeRegister(
      path('register.sqlite'),
      `INSERT INTO users (id, username, first_measured_at, measured_at, measurements) VALUES (7, 'high', ${MEASURED}, 1);
       INSERT INTO usernames VALUES (7, 1, 'low', NULL, ${MEASURED}), (7, 2, 'high', NULL, ${MEASURED});
       DROP TABLE games; ${games.replace(' PRIMARY KEY', '')} CREATE INDEX ids ON games (id); ${add}`,
    );
    await published({ register, out });
    changeRegister(register, add.repeat(40));
    const doubled = await inProcess('build', '--register', register, '--out', out, '--quiet');
    const message = 'games.id: 1 place, expected one row for each key\n  id = 9: 41 rows';
    expect([doubled.code, doubled.stderr]).toEqual([1, containing(message)]);
    changeRegister(register, `DELETE FROM games; ${add} DELETE FROM users`);
    const { findings } = (await run({ register, out })).report;
    expect(findings[0]).toMatchObject({ table: 'usernames', column: 'user_id' });
  });

  it.each<[string, View]>([
    ['are of expressions in any order', SHUFFLED],
    [
      'number their rows',
      (raw, columns) => `SELECT ${columns} FROM (SELECT *, row_number() OVER () AS number FROM ${raw})`,
    ],
    [
      'have ids that are calculated',
      (raw, columns, id) => `SELECT ${columns.replace(RegExp(`\\b${id}\\b`), `+${id} AS ${id}`)} FROM ${raw}`,
    ],
  ])('renders everything where views %s, and that is right', async (_, view) => {
    const register = withViews(await sample(), view);
    const out = path('dist');
    const { rendered } = await counted({ register, out });
    expect(rendered).toBeGreaterThan(2 * SUMMARIES);
    expect(differing(contentOf(out), ofTables)).toEqual([]);
    const again = await counted({ register, out });
    // But archives of feeds, whose entries are compared first.
    expect(again.rendered).toBeGreaterThan(2 * SUMMARIES);
    expect(again.changes.unchanged).toBe(again.files);
    changeRegister(
      register,
      `UPDATE raw_users SET measurements = measurements + 1 WHERE id = (SELECT min(id) FROM raw_users);
       DELETE FROM raw_items WHERE id = (SELECT id FROM raw_items ORDER BY first_measured_at LIMIT 1)`,
    );
    const { changes } = await counted({ register, out });
    expect([changes.added, changes.removed]).toEqual([0, 1]);
    await expectAsFresh(register, out);
  });
});

describe('what is no id, in a table that does not forbid it,', () => {
  const register = path('untyped.sqlite');
  const out = path('dist');
  const command = (name: string, ...args: string[]) =>
    inProcess(name, '--register', register, '--quiet', ...args);
  let before: Record<string, string>;
  beforeAll(async () => {
    renameSync(copied(await sample(), UNTYPED), register);
    await command('build', '--out', out);
    before = contentOf(out);
  });

  it.each([
    ['users.id', `'seven'`, `'seven'`],
    ['usernames.user_id', `'seven'`, `'seven'`],
  ])('as %s: %s, is reported by a build that follows another, and by the check', async (place, id, value) => {
    const [table, column] = place.split('.');
    changeRegister(
      register,
      table === 'users'
        ? `INSERT INTO users (id, first_measured_at, measured_at, measurements) VALUES (${id}, ${MEASURED}, 1)`
        : `INSERT INTO usernames VALUES (${id}, 1, 'name', NULL, ${MEASURED})`,
    );
    for (const { code, stdout, stderr } of [await command('build', '--out', out), await command('check')]) {
      expect([code, stdout + stderr]).toEqual([1, containing(`${place}: 1 place`)]);
      expect(stdout + stderr).toContain(`  ${column} = ${value}`);
    }
    changeRegister(
      register,
      `DELETE FROM ${table} WHERE typeof(${column}) <> 'integer' OR ${column} NOT BETWEEN 1 AND 9007199254740991`,
    );
    // It is forgotten when it is gone.
    expect((await command('build', '--out', out)).code).toBe(0);
    expect(differing(contentOf(out), before)).toEqual([]);
  });
});
