/** deploy/copy-register.sh: a register that is a copy of a database, made again each night. */
import {
  appendFileSync,
  existsSync,
  linkSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { inputs, until } from '../support/cli.js';
import { PROJECT, temporary } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { has } from '../support/programs.js';
import { SCHEMA, changeRegister, rowsOf } from '../support/register.js';
import { containing, matching } from '../support/values.js';
import { DEPLOY, DONE, holding, run } from './run.js';

const path = temporary();
const hasTools = has('deploy/copy-register.sh', 'sqlite3');

const TIME = `'2026-11-20T08:00:00Z'`;
const VIEWS = `
  ALTER TABLE users RENAME TO own_users;
  CREATE TABLE IF NOT EXISTS ids_club (id INTEGER PRIMARY KEY, k TEXT UNIQUE NOT NULL);
  INSERT OR IGNORE INTO ids_club (k) SELECT slug FROM club ORDER BY slug;
  DROP VIEW IF EXISTS groups;
  CREATE VIEW groups AS SELECT id, title AS name, ${TIME} AS first_measured_at, ${TIME} AS measured_at,
    1 AS measurements FROM club JOIN ids_club ON k = slug;`;
const WITHHELD = /^CREATE TABLE withheld \(.*?^\).*?;/ms.exec(SCHEMA)?.[0] ?? '';
/** The tables that the database has no data for. */
const EMPTY = [...SCHEMA.matchAll(/^CREATE TABLE (?!groups|withheld)\w+ \(.*?^\).*?;/gms)].join('\n');

/** A database in WAL mode with software of its own, the views, and the path of a register. */
async function setUp(views = VIEWS) {
  const folder = path(`club's`);
  await mkdir(folder);
  const files = {
    own: join(folder, 'own.db'),
    views: join(folder, 'views.sql'),
    register: join(folder, 'register.db'),
  };
  const own = openDatabase(files.own);
  own.pragma('journal_mode = WAL');
  own.exec(`PRAGMA user_version = 7; CREATE TABLE users (name); CREATE TABLE club (slug TEXT PRIMARY KEY, title TEXT);
    INSERT INTO club VALUES ('mill', 'Mill'), ('sail', 'Sail')`);
  onTestFinished(() => void own.close());
  writeFileSync(files.views, views + EMPTY.replaceAll('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS'));
  const copy = (...options: readonly string[]) =>
    run([join(DEPLOY, 'copy-register.sh'), ...options, files.own, files.views, files.register]);
  return { ...files, own, copy };
}

const filesOf = (register: string): string[] =>
  readdirSync(dirname(register))
    .filter((name) => name.startsWith('register'))
    .toSorted();

const withheldIn = (register: string): unknown[] => rowsOf(register, 'SELECT kind, id FROM withheld');

describe.runIf(hasTools)('a copy of a database', () => {
  it('is a register, and made again keeps the ids and what is withheld', async () => {
    const { own, views, register, copy } = await setUp();
    expect(await copy('--first')).toEqual(DONE);
    expect((await inProcess('check', '--register', register)).code).toBe(0);

    changeRegister(register, `${WITHHELD} INSERT INTO withheld VALUES ('group', 1, ${TIME})`);
    own.exec(
      `INSERT INTO club VALUES ('abbey', 'Abbey'); UPDATE club SET title = 'Sails' WHERE slug = 'sail'`,
    );
    expect(await copy()).toEqual(DONE);
    expect(withheldIn(register)).toEqual([['group', 1]]);
    const groups = ['Mill', 'Sails', 'Abbey'].map((name, at) => [at + 1, name]);
    expect(rowsOf(register, 'SELECT id, name FROM groups ORDER BY id')).toEqual(groups);
    // What the copy adds is in the copy alone.
    expect(own.pragma('user_version', { simple: true })).toBe(7);
    expect(rowsOf(register, 'PRAGMA user_version')).toEqual([[1]]);
    const added = `SELECT name FROM sqlite_schema WHERE name LIKE 'ids%' OR name = 'groups'`;
    expect(own.prepare<[]>(added).all()).toEqual([]);
    const kept = matching(/^register\.db\.\d{4}-\d\d-\d\d$/);
    expect(filesOf(register)).toEqual(['register.db', kept, 'register.db.lock']);

    // Views may also make that table if there is none.
    appendFileSync(views, WITHHELD.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS'));
    expect(await copy()).toEqual(DONE);
    expect(withheldIn(register)).toEqual([['group', 1]]);
  });

  it('keeps what it replaces, the last of a day, and three in all', async () => {
    const { own, register, copy } = await setUp();
    const made = async (title: string, time: string, ...options: readonly string[]): Promise<void> => {
      own.prepare(`UPDATE club SET title = ? WHERE slug = 'mill'`).run(title);
      expect(await copy(...options)).toEqual(DONE);
      utimesSync(register, new Date(time), new Date(time));
    };
    await made('Mill', '2026-11-20T03:00:00Z', '--first');
    const times = ['21T03:00', '21T23:59', '22T00:01', '23T03:00', '24T03:00'];
    for (const [index, time] of times.entries()) await made(`Mill ${index}`, `2026-11-${time}:00Z`);
    // One that was interrupted after it had kept the register.
    linkSync(register, `${register}.2026-11-24`);
    await made('Mill', '2026-11-25T03:00:00Z');
    const names = ['', '.2026-11-22', '.2026-11-23', '.2026-11-24'].map((day) => `register.db${day}`);
    expect(filesOf(register)).toEqual([...names, 'register.db.lock']);
    const titles = names.map((name) =>
      rowsOf(join(dirname(register), name), 'SELECT name FROM groups WHERE id = 1'),
    );
    expect(titles.flat(2)).toEqual(['Mill', 'Mill 2', 'Mill 3', 'Mill 4']);
  });

  it('keeps a record that somebody withholds while it is made', async () => {
    const { views, register, copy } = await setUp();
    await copy('--first');
    const [begun, goOn] = [path('begun'), path('go-on')];
    const wait = `.shell touch ${begun}; until [ -e ${goOn} ]; do sleep 0.1; done`;
    writeFileSync(views, `${wait}\n${readFileSync(views, 'utf8')}`);
    const copied = copy();
    await until(() => existsSync(begun), 'the views are run');
    changeRegister(register, `${WITHHELD} INSERT INTO withheld VALUES ('group', 2, ${TIME})`);
    writeFileSync(goOn, '');
    expect(await copied).toEqual(DONE);
    expect(withheldIn(register)).toEqual([['group', 2]]);
  });

  it('stays as it was if the views have a mistake, or the database is gone', async () => {
    const { own, views, register, copy } = await setUp();
    await copy('--first');
    const before = readFileSync(register);
    const sql = readFileSync(views, 'utf8');
    for (const spoil of [
      () => writeFileSync(views, 'CREATE VIEW groups AS SELEC'),
      () => [writeFileSync(views, sql), own.exec('DROP TABLE club')],
    ]) {
      spoil();
      expect(await copy()).toEqual({ code: 1, output: matching(/error/i) });
      expect(readFileSync(register).equals(before)).toBe(true);
      expect(existsSync(`${register}.next`)).toBe(false);
    }
  });

  it('begins without ids and withheld list only if it is told to, once', async () => {
    const { views, register, copy } = await setUp();
    const refused = (what: string) => ({
      code: 3,
      output: containing(`copy-register: ${register} ${what}, expected`),
    });
    expect(await copy()).toEqual(refused('is missing or empty'));
    writeFileSync(register, '');
    expect(await copy()).toEqual(refused('is missing or empty'));
    expect(await copy('--first')).toEqual(DONE);
    expect(filesOf(register)).toEqual(['register.db', 'register.db.lock']);
    const output = `copy-register: ${register} has all ids, expected no --first\n`;
    expect(await copy('--first')).toEqual({ code: 2, output });
    writeFileSync(views, `${readFileSync(views, 'utf8')} CREATE TABLE IF NOT EXISTS ids_host (id, k);`);
    expect(await copy()).toEqual(refused('has no table ids_host'));
    expect(await copy('--first')).toEqual(DONE);
  });

  it('whose ids were lost gets them back from what is published, and is not published without', async () => {
    const { own, register, copy } = await setUp(VIEWS.replace('1 AS', 'slug AS platform_id, 1 AS'));
    const out = path('site');
    const build = () => inProcess('build', '--quiet', ...inputs(register, out));
    await copy('--first');
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: '' });
    own.exec(`INSERT INTO club VALUES ('abbey', 'Abbey')`);
    unlinkSync(register);
    await copy('--first');
    const said = `2 ids would mean another record than published: group 1 'abbey' instead of 'mill', group 2`;
    expect(await build()).toMatchObject({ code: 1, stderr: containing(said) });
    const guide = readFileSync(join(PROJECT, 'docs/your-register.md'), 'utf8');
    const [, sql = ''] = /"(ATTACH 'site\/[^"]+)"/.exec(guide) ?? [];
    changeRegister(register, sql.replace(`'site/`, `'${out}/`));
    expect(await copy()).toEqual(DONE);
    const slugs = rowsOf(register, 'SELECT platform_id FROM groups ORDER BY id').flat();
    expect(slugs).toEqual(['mill', 'sail', 'abbey']);
  });

  it('is refused where it can’t be made, with the reason', async () => {
    const { views, register, copy } = await setUp();
    const script = join(DEPLOY, 'copy-register.sh');
    expect(await run([script, views])).toEqual({ code: 2, output: containing('usage: ') });
    const output = `copy-register: ${register}.none is missing, expected a file\n`;
    expect(await run([script, `${register}.none`, views, register])).toEqual({ code: 3, output });
    await copy('--first');
    const writer = openDatabase(register);
    writer.pragma('journal_mode = WAL');
    writer.exec('CREATE TABLE t (x)');
    expect(await copy()).toEqual({ code: 3, output: containing('is in WAL mode, expected') });
    writer.close();
    await holding(`${register}.lock`);
    expect(await copy()).toEqual({ code: 75, output: 'copy-register: another copy is being made\n' });
  });
});
