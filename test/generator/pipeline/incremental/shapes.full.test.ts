/**
 * Builds that follow another one render only what changed: registers of any shape are read by ranges of ids where that
 * is safe, as a whole where it is not.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { openDatabase } from '../../../../generator/base/sqlite/sqlite.js';
import { counted } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf } from '../../../support/published.js';
import { SCHEMA, changeRegister } from '../../../support/register.js';
import { fresh } from '../../../support/site.js';
import { differing } from '../../../support/tree.js';
import { matching } from '../../../support/values.js';

const path = temporary();

/** Index, statistics, the way to look up and the 200 lists of the largest are rendered by each build. */
const SUMMARIES = 203;

/** The newest records of each kind, and the list of the users or items themselves. */
const LISTS = 2;

/** Seven in two formats, which are rendered together. */
const FEEDS = 14;

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
const HALVES: View = (raw, columns, id) =>
  `${PLAIN(raw, columns, id)} WHERE ${id} % 2 = 0 UNION ALL ${PLAIN(raw, columns, id)} WHERE ${id} % 2 = 1`;

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
    ['views of two halves', (file) => withViews(file, HALVES), 'raw_'],
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
    // With its history, and all feeds.
    expect(await after('users', 1)).toBe(SUMMARIES + LISTS + FEEDS + 2);
    expect(await after('users', 3)).toBe(SUMMARIES + LISTS + FEEDS + 3 * 2);
    const one = await after('items', 1);
    expect((await after('items', 3)) - one).toBe(2);
    expect(one).toBeLessThan(SUMMARIES + FEEDS + 10);
    changeRegister(
      register,
      `DELETE FROM ${prefix}items WHERE id = (SELECT id FROM ${prefix}items ORDER BY first_measured_at DESC LIMIT 1 OFFSET 2)`,
    );
    // No neighbour of it, but what is recent.
    expect((await counted({ register, out })).rendered).toBe(SUMMARIES + LISTS + FEEDS + 1);
    await expectAsFresh(register, out);
  });

  it.each<[string, View]>([
    ['are of expressions in any order', SHUFFLED],
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

it('what is no id, in a table that does not forbid it, is reported by a build that follows another, and by check', async () => {
  const [register, out] = [copied(await sample(), UNTYPED), path('dist')];
  const tree = ['--out', out];
  const command = (name: string, ...args: string[]) =>
    inProcess(name, '--register', register, '--quiet', ...args);
  expect((await command('build', ...tree)).code).toBe(0);
  const before = contentOf(out);
  changeRegister(register, `INSERT INTO usernames VALUES ('seven', 1, 'name', NULL, ${MEASURED})`);
  for (const { code, stdout, stderr } of [await command('build', ...tree), await command('check')])
    expect([code, stdout + stderr]).toEqual([
      1,
      matching(/usernames\.user_id: 1 place[^]*\n {2}user_id = 'seven'/),
    ]);
  changeRegister(register, `DELETE FROM usernames WHERE user_id = 'seven'`);
  // It is forgotten when it is gone.
  expect((await command('build', ...tree)).code).toBe(0);
  expect(differing(contentOf(out), before)).toEqual([]);
});
