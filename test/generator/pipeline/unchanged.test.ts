/** When a build says that nothing changed: it is never wrong, whatever a writer does meanwhile. */
import { spawnSync } from 'node:child_process';
import fs, {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import type { Effects } from '../../../generator/pipeline/build.js';
import { InlineThreads, type Threads } from '../../../generator/pipeline/threads.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR, effectsAt } from '../../support/build.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { writeOperator } from '../../support/operator.js';
import { stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { buildWith, site } from '../../support/site.js';
import { foldersOf, isAlias, json, lasting, namesThatDiffer, readTree } from '../../support/tree.js';
import { always, some } from '../../support/thorough.js';
import { fields } from '../../support/values.js';

const path = temporary();
const DAY = '2026-12-01T00:00:00Z';
type Options = Parameters<typeof buildWith>[0];

/** Builds, and tells whether documents were rendered, for which functions are called in threads. */
async function build(options: Options, effects: Partial<Effects> = {}) {
  let calls: readonly unknown[] = [];
  const startThreads: Effects['startThreads'] = (source) => {
    const threads = effects.startThreads?.(source) ?? new InlineThreads(source);
    ({ calls } = vi.spyOn(threads, 'run').mock);
    return threads;
  };
  const result = await buildWith(options, { ...effects, startThreads });
  if (!result.published) throw new Error('refused');
  return { ...result, isRendered: calls.length > 0 };
}

it('a second build of an unchanged register touches nothing but the time in snapshot.json', async () => {
  const { out, register } = await site(path);
  mkdirSync(join(out, 'mine'));
  const [before, state, folders] = [readTree(out), stateOf(out), foldersOf(out)];
  const { sequence, changes, isRendered } = await build({ register, out, at: '2026-12-02T00:00:00Z' });
  const now = readTree(out);
  expect(namesThatDiffer(stateOf(out), state)).toEqual(['snapshot.json']);
  expect(foldersOf(out)).toEqual(folders);
  expect([sequence, isRendered]).toEqual([1, false]);
  expect(changes).toMatchObject({ added: 0, changed: 0, removed: 0 });
  expect(changes.unchanged).toBeGreaterThan([...lasting(now).keys()].filter((file) => !isAlias(file)).length);
  const said = { ...fields(json(before, 'snapshot.json')), built_at: '2026-12-02T00:00:00Z' };
  expect(json(now, 'snapshot.json')).toEqual(said);
});

describe('the documents are rendered', () => {
  const folder = path('operator');
  const operator = join(folder, 'operator.json');
  const valid = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(OPERATOR, 'utf8')));

  /** A tree that is published with a file of the operator's own. */
  async function made() {
    const { register, out } = await site(path);
    const copy = { register, out, operator };
    rmSync(folder, { recursive: true, force: true });
    writeOperator(folder, { files: 'site' }, { 'notice.txt': 'first' });
    expect(await build(copy)).toMatchObject({ sequence: 2, isRendered: true });
    return copy;
  }
  const write = (content: object): void => writeFileSync(operator, JSON.stringify(content));
  const changed = (changes: object) => () => write({ ...valid, files: 'site', ...changes });

  it('if anything is another that they are made from', async () => {
    const copy = await made();
    onTestFinished(() => void vi.unstubAllEnvs());
    const generator = { ...effectsAt(DAY).generator, code: 'another' };
    const changes: readonly [string, () => unknown, Partial<Options>?, Partial<Effects>?][] = [
      ['the code or Node', () => undefined, {}, { generator }],
      ['the time zone', () => vi.stubEnv('TZ', 'Asia/Tokyo')],
      ['the operator file', changed({ name: 'Another' })],
      ['not_measured', changed({ not_measured: ['items.price'] })],
      ['a file of the operator’s own', () => writeFileSync(join(folder, 'site/notice.txt'), 'other')],
      ['the base URL', () => undefined, { baseUrl: 'https://elsewhere.example' }],
      ['--skip-invalid', () => undefined, { skipInvalid: true }],
      ['the month', () => undefined, { at: '2027-01-01T00:00:00Z' }],
      ['the register', () => changeRegister(copy.register, 'UPDATE games SET visits = 8 WHERE id = 1')],
    ];
    for (const [what, change, options = {}, effects = {}] of changes) {
      change();
      expect([what, (await build({ ...copy, ...options }, effects)).isRendered]).toEqual([what, true]);
    }
  });

  it('for no option that changes no document, nor a second time for any other', async () => {
    const copy = await made();
    const lists = { purgeList: path('purge'), filesFrom: path('files'), deleteFrom: path('delete') };
    const accepting = { acceptRemovals: false, acceptRepublished: false, acceptRenumbered: false };
    for (const options of [lists, accepting, { keepDownloads: true }, {}])
      expect(await build({ ...copy, ...options })).toMatchObject({ isRendered: false, sequence: 2 });
  });

  it('if the bytes of the register are others, and nothing is published where they say the same', async () => {
    const copy = await made();
    const before = stateOf(copy.out);
    changeRegister(copy.register, 'CREATE INDEX by_price ON items (price); PRAGMA journal_mode = WAL');
    for (const isRendered of [true, false]) {
      expect(await build(copy)).toMatchObject({ sequence: 2, isRendered });
      expect(namesThatDiffer(stateOf(copy.out), before)).toEqual(['snapshot.json']);
    }
    // With --keep-downloads they may be of an earlier snapshot.
    changeRegister(copy.register, 'UPDATE games SET visits = 8 WHERE id = 1');
    expect(await build({ ...copy, keepDownloads: true })).toMatchObject({ sequence: 3 });
    changeRegister(copy.register, 'DROP INDEX by_price');
    expect(await build({ ...copy, keepDownloads: true })).toMatchObject({ sequence: 3 });
    expect(await build(copy)).toMatchObject({ sequence: 4, isRendered: true });
  });

  it('as long as a record is left out as invalid, and that is said each time', async () => {
    const copy = await made();
    const at = '2026-12-03T00:00:00Z';
    const ahead = `UPDATE games SET measured_at = '2026-12-05T00:00:00Z' WHERE id = 3`;
    changeRegister(copy.register, ahead);
    for (const hour of [0, 1, 2]) {
      const options = { ...copy, skipInvalid: true, at: at.replace('00:', `0${hour}:`) };
      const said = { excluded: { games: 1 }, report: { total: 1 } };
      expect(await build(options)).toMatchObject({ sequence: 3, isRendered: true, ...said });
    }
    const later = { ...copy, skipInvalid: true, at: '2026-12-04T00:00:00Z' };
    expect(await build(later)).toMatchObject({ sequence: 4, excluded: {}, records: { games: 11 } });
  });
});

/** As many rows of each table as don't fit into the cache of a connection. */
const PADDED = `
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
    INSERT INTO games (id, visits, description, first_measured_at, measured_at, measurements)
    SELECT i, 0, printf('%.3000c', '-'), '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z', 1 FROM n;
  INSERT INTO items (id, price, description, first_measured_at, measured_at, measurements)
    SELECT id, visits, description, first_measured_at, measured_at, measurements FROM games;`;

/** Another program: it changes both tables in one transaction, if it may, and closes the file. */
const WRITER = `
  const [module, file] = process.argv.slice(1);
  import(module).then(({ openDatabase }) => {
    const database = openDatabase(file, { timeout: 0 });
    try {
      database.exec('BEGIN IMMEDIATE; UPDATE games SET visits = visits + 1; UPDATE items SET price = price + 1; COMMIT');
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      if (error.code !== 'SQLITE_BUSY') throw error;
    }
    database.close();
  });`;

function commit(file: string): void {
  const module = join(PROJECT, 'build/generator/base/sqlite/sqlite.js');
  const { stderr } = spawnSync(process.execPath, ['-e', WRITER, module, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
}

function replaceReads(read: unknown): void {
  Reflect.set(fs, 'readSync', read);
  syncBuiltinESMExports();
}

/** Does something before the first reads of a file by this process, other than SQLite's, and at its end. */
function whileReading(file: string, act: () => void): void {
  const { ino } = statSync(file);
  const original = fs.readSync;
  let reads = 0;
  replaceReads((...args: Parameters<typeof original>): number => {
    const isMeant = fs.fstatSync(args[0]).ino === ino;
    if (isMeant && (reads += 1) <= 3) act();
    const bytes = original(...args);
    if (isMeant && bytes === 0) act();
    return bytes;
  });
  onTestFinished(() => replaceReads(original));
}

always.each(some(['DELETE', 'WAL'], 1))('all is of one commit, whatever a writer does: %s', async (mode) => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, PADDED);
  changeRegister(register, `PRAGMA journal_mode = ${mode}`);
  const act = (): void => commit(register);
  let rendered = 0;
  class Interrupted extends InlineThreads {
    override run: Threads['run'] = (name, input, options) => {
      const onStart = (): void => {
        options?.onStart?.();
        // Records of all kinds, and some of what draws on them.
        if (name === 'renderSection' && (rendered += 1) <= 8) act();
      };
      return super.run(name, input, { ...options, onStart });
    };
  }
  const now = (): Date => {
    act();
    return new Date(DAY);
  };
  whileReading(register, act);
  const startThreads: Effects['startThreads'] = (source) => {
    act();
    return new Interrupted(source);
  };
  await build({ register, out }, { now, startThreads });
  const values = new Set(
    [...readTree(out)].flatMap(([file, { text }]) => {
      const [, kind] = /^api\/v1\/(game|item)\/\d+\.json$/.exec(file) ?? [];
      return kind === undefined ? [] : [fields(JSON.parse(text))[kind === 'game' ? 'visits' : 'price']];
    }),
  );
  expect([values.size, rendered > 8]).toEqual([1, true]);
  expect(Number([...values][0])).toBeGreaterThan(0);
});

it('a register in WAL mode that a link leads to is not the same after a commit', async () => {
  const { register, out } = await site(path);
  changeRegister(register, 'PRAGMA journal_mode = WAL');
  const link = path('link.sqlite');
  symlinkSync(register, link);
  await build({ register: link, out });
  const writer = openDatabase(register);
  onTestFinished(() => void writer.close());
  writer.exec('UPDATE games SET visits = 7 WHERE id = 1');
  expect(await build({ register: link, out })).toMatchObject({ isRendered: true });
  expect(json(readTree(out), 'api/v1/game/1.json')).toMatchObject({ visits: 7 });
});

it('a commit before the threads begin is published, and the state before is not taken for it', async () => {
  const { register, out } = await site(path);
  const earlier = path('earlier.sqlite');
  changeRegister(register, `PRAGMA journal_mode = WAL; UPDATE games SET visits = 7 WHERE id = 1`);
  copyFileSync(register, earlier);
  const startThreads: Effects['startThreads'] = (source) => {
    changeRegister(register, 'UPDATE games SET visits = 8 WHERE id = 1');
    return new InlineThreads(source);
  };
  const visits = () => json(readTree(out), 'api/v1/game/1.json');
  await build({ register, out }, { startThreads });
  expect(visits()).toMatchObject({ visits: 8 });
  for (const end of ['-wal', '-shm']) rmSync(register + end, { force: true });
  copyFileSync(earlier, register);
  await build({ register, out });
  expect(visits()).toMatchObject({ visits: 7 });
});
