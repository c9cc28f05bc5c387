/** What somebody does to a register while a build reads it: all that is published is of one state, or nothing is. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { InlineThreads } from '../../../generator/pipeline/threads.js';
import { startThreads } from '../../support/build.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { contentOf, stateOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { STEP, buildWith, failureOf, pair, site } from '../../support/site.js';
import { loseState } from '../../support/state.js';
import { it, thorough } from '../../support/thorough.js';
import { differing, json, readTree } from '../../support/tree.js';
import { fields } from '../../support/values.js';
import { damageOf, expectAtRest, progressThat } from '../publish/support.js';

const path = temporary();
const CHANGE = 'UPDATE games SET visits = 8 WHERE id = 1';

/** Another program: it changes a register if it may, closes the file, and prints what it was told. */
const WRITER = `
  const [module, file, sql] = process.argv.slice(1);
  import(module).then(({ openDatabase }) => {
    const database = openDatabase(file, { timeout: 0 });
    try {
      database.exec(sql);
      process.stdout.write('done');
    } catch (error) {
      process.stdout.write(error.code);
    }
    database.close();
  });`;

function commit(register: string, sql = CHANGE): string {
  const module = join(PROJECT, 'build/generator/base/sqlite/sqlite.js');
  return spawnSync(process.execPath, ['-e', WRITER, module, register, sql], { encoding: 'utf8' }).stdout;
}

it('nobody may write into a register without WAL, whatever files of it were read and closed', async () => {
  const { register, out } = await site(path);
  const before = contentOf(out);
  const said: string[] = [];
  const { progress } = progressThat('checking the register', (step) => {
    if (step === 1) said.push(commit(register));
  });
  // So that it is checked and rendered.
  changeRegister(register, 'CREATE INDEX by_price ON items (price)');
  await buildWith({ register, out }, { progress });
  expect(said).toEqual(['SQLITE_BUSY']);
  expect(differing(contentOf(out), before)).toEqual([]);
  expect(commit(register)).toBe('done');
});

it('what is committed to a register in WAL mode after its bytes were read is not taken for those', async () => {
  const { register, out } = await site(path);
  changeRegister(register, 'PRAGMA journal_mode = WAL');
  const [before, earlier] = [contentOf(out), path('earlier.sqlite')];
  copyFileSync(register, earlier);
  // Of which a build warns before it renders.
  loseState(out);
  const said: string[] = [];
  await buildWith({ register, out }, { warn: () => void said.push(commit(register)) });
  expect(said).toEqual(['done']);
  expect(json(readTree(out), 'api/v1/game/1.json')).toMatchObject({ visits: 8 });
  for (const end of ['-wal', '-shm']) rmSync(register + end, { force: true });
  copyFileSync(earlier, register);
  await buildWith({ register, out });
  expect(differing(contentOf(out), before)).toEqual([]);
});

const both = await pair(path);

/** Rows of a table that don't fit into the cache of a connection, 4 MB. */
const large = (column: string) =>
  Array.from({ length: 90 }, (_, id) => ({ id: id + 1, [column]: 0, description: 'd'.repeat(50_000) }));
const INTO_BOTH =
  'BEGIN IMMEDIATE; UPDATE games SET visits = visits + 1; UPDATE items SET price = price + 1; COMMIT';

thorough.each(['DELETE', 'WAL'])('two tables are of one commit, whenever that is: %s', async (mode) => {
  const rows = { games: large('visits'), items: large('price') };
  const [register, out] = [writeRegister(path('register.sqlite'), rows), both.tree()];
  changeRegister(register, `PRAGMA journal_mode = ${mode}`);
  // Of which a build warns.
  loseState(out);
  const said = new Set<string>();
  const thenCommit = <T>(value: T): T => {
    said.add(commit(register, INTO_BOTH));
    return value;
  };
  const { progress: steps } = progressThat('checking the register', (step) => {
    if (step <= 3) thenCommit(step);
  });
  await buildWith(
    { register, out },
    {
      now: () => thenCommit(new Date('2026-12-01T00:00:00Z')),
      startThreads: (source) => thenCommit(new InlineThreads(source)),
      warn: thenCommit,
      progress: { ...steps, blocking: async (work) => thenCommit(await work()) },
    },
  );
  const tree = readTree(out);
  const values = rows.games.flatMap(({ id }) => [
    fields(json(tree, `api/v1/game/${id}.json`))['visits'],
    fields(json(tree, `api/v1/item/${id}.json`))['price'],
  ]);
  expect([new Set(values).size, Number(values[0]) > 0]).toEqual([1, true]);
  expect(said).toEqual(new Set(mode === 'WAL' ? ['done'] : ['done', 'SQLITE_BUSY']));
});

thorough.each([
  ['replaced by another file', 'DELETE', (file: string) => renameSync(both.registers[1], file)],
  ['changed by a writer', 'WAL', (file: string) => changeRegister(file, STEP)],
] as const)('a register that is %s is rendered by all threads as it was before', async (_, mode, change) => {
  const { register } = await site(path);
  changeRegister(register, `PRAGMA journal_mode = ${mode}`);
  const out = path('dist');
  const { progress, steps } = progressThat('checking the register', (step) => {
    if (step === 1) change(register);
  });
  await buildWith({ register, out }, { progress, startThreads });
  expect(steps()).toBeGreaterThanOrEqual(1);
  expect(differing(contentOf(out), both.trees[0])).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
});

/** All pages but the first become noise. */
function overwrite(file: string): void {
  const { size } = statSync(file);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
  closeSync(descriptor);
}

thorough.each([
  ['overwritten with garbage', overwrite],
  ['emptied', (file: string) => truncateSync(file, 0)],
])('a register that is %s leaves the tree as it was', async (_, breakIt) => {
  // Larger than SQLite's cache of 16 MB, so that it has to be read again.
  const items = Array.from({ length: 3000 }, (__, id) => ({ id: id + 1, description: 'd'.repeat(10_000) }));
  const [register, out] = [writeRegister(path('register.sqlite'), { items }), both.tree()];
  const before = stateOf(out);
  const { progress, steps } = progressThat('checking the register', (step) => {
    if (step === 1) breakIt(register);
  });
  const error = await failureOf(buildWith({ register, out }, { progress }));
  expect(steps()).toBeGreaterThanOrEqual(1);
  expect([1, 3]).toContain(error.exitCode);
  expect(error.message).toContain('the published tree is what it was');
  expect(differing(stateOf(out), before)).toEqual([]);
  await expectAtRest(out);
});
