/** When a build says that nothing changed: it is never wrong. */
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Effects } from '../../../generator/pipeline/build.js';
import { InlineThreads } from '../../../generator/pipeline/threads.js';
import { programHash } from '../../../generator/pipeline/inputs.js';
import { buildConfig } from '../../../generator/config/config.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { effectsAt } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { writeOperator } from '../../support/operator.js';
import { stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, site } from '../../support/site.js';
import { foldersOf, isAlias, json, lasting, namesThatDiffer, readTree } from '../../support/tree.js';
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
  it('if anything is another that they are made from', async () => {
    const { register, out } = await site(path);
    const folder = path('operator');
    const operator = writeOperator(folder, { files: 'site' }, { 'notice.txt': 'first' });
    const copy = { register, out, operator };
    expect(await build(copy)).toMatchObject({ sequence: 2, isRendered: true });
    onTestFinished(() => void vi.unstubAllEnvs());
    const hashOf = (options: Partial<Options> = {}): string =>
      programHash('code', buildConfig({ ...copy, ...options }));
    const hashes = [
      hashOf(),
      programHash('another', buildConfig(copy)),
      hashOf({ baseUrl: 'https://elsewhere.example' }),
      hashOf({ skipInvalid: true }),
    ];
    for (const change of [
      () => vi.stubEnv('TZ', 'Asia/Tokyo'),
      () => writeOperator(folder, { files: 'site', name: 'Another' }),
      () => writeOperator(folder, { files: 'site', name: 'Another', not_measured: ['items.price'] }),
      () => writeFileSync(join(folder, 'site/notice.txt'), 'other'),
    ]) {
      change();
      hashes.push(hashOf());
    }
    expect(new Set(hashes).size).toBe(8);
    vi.unstubAllEnvs();
    writeOperator(folder, { files: 'site' }, { 'notice.txt': 'first' });
    const generator = { ...effectsAt(DAY).generator, code: 'another' };
    const changes: readonly [string, () => unknown, Partial<Options>?, Partial<Effects>?][] = [
      ['the program', () => undefined, {}, { generator }],
      ['the month', () => undefined, { at: '2027-01-01T00:00:00Z' }],
      ['the register', () => changeRegister(copy.register, 'UPDATE games SET visits = 8 WHERE id = 1')],
    ];
    for (const [what, change, options = {}, effects = {}] of changes) {
      change();
      expect([what, (await build({ ...copy, ...options }, effects)).isRendered]).toEqual([what, true]);
    }
  });

  it('if the bytes of the register are others, and nothing is published where they say the same', async () => {
    const { register, out } = await site(path);
    const copy = { register, out };
    const lists = { purgeList: path('purge'), filesFrom: path('files'), deleteFrom: path('delete') };
    const accepting = { acceptRemovals: false, acceptRepublished: false, acceptRenumbered: false };
    // For no option that changes no document.
    for (const options of [lists, accepting, { keepDownloads: true }])
      expect(await build({ ...copy, ...options })).toMatchObject({ isRendered: false, sequence: 1 });
    const before = stateOf(copy.out);
    changeRegister(copy.register, 'CREATE INDEX by_price ON items (price); PRAGMA journal_mode = WAL');
    for (const isRendered of [true, false]) {
      expect(await build(copy)).toMatchObject({ sequence: 1, isRendered });
      expect(namesThatDiffer(stateOf(copy.out), before)).toEqual(['snapshot.json']);
    }
  });

  it('as long as a record is left out as invalid, and that is said each time', async () => {
    const { register, out } = await site(path);
    const copy = { register, out, skipInvalid: true };
    changeRegister(copy.register, `UPDATE games SET measured_at = '2026-12-05T00:00:00Z' WHERE id = 3`);
    for (const at of ['2026-12-03T00:00:00Z', '2026-12-03T01:00:00Z']) {
      const said = { excluded: { games: 1 }, report: { total: 1 } };
      expect(await build({ ...copy, at })).toMatchObject({ sequence: 2, isRendered: true, ...said });
    }
    const later = { ...copy, at: '2026-12-04T00:00:00Z' };
    expect(await build(later)).toMatchObject({ sequence: 3, excluded: {}, records: { games: 11 } });
  });
});

it('a commit before the threads begin, or in the -wal alone, is published, and no state taken for another', async () => {
  const { register: file, out } = await site(path);
  const [earlier, register] = [path('earlier.sqlite'), path('link.sqlite')];
  changeRegister(file, `PRAGMA journal_mode = WAL; UPDATE games SET visits = 7 WHERE id = 1`);
  copyFileSync(file, earlier);
  symlinkSync(file, register);
  const startThreads: Effects['startThreads'] = (source) => {
    changeRegister(register, 'UPDATE games SET visits = 8 WHERE id = 1');
    return new InlineThreads(source);
  };
  const visits = () => json(readTree(out), 'api/v1/game/1.json');
  await build({ register, out }, { startThreads });
  expect(visits()).toMatchObject({ visits: 8 });
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  copyFileSync(earlier, file);
  await build({ register, out });
  expect(visits()).toMatchObject({ visits: 7 });
  // What is in the -wal alone, which is next to the file that the link leads to.
  const writer = openDatabase(file);
  onTestFinished(() => void writer.close());
  writer.exec('UPDATE games SET visits = 9 WHERE id = 1');
  expect(await build({ register, out })).toMatchObject({ isRendered: true });
  expect(visits()).toMatchObject({ visits: 9 });
});
