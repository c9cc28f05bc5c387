/** When the bulk downloads are written anew, and that nothing goes wrong with them on the way. */
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../../../generator/sqlite/index.js';
import { describe, expect, it } from 'vitest';
import { build } from '../../../generator/build/build.js';
import { buildConfig } from '../../../generator/config/config.js';
import { openConsistentSnapshot, identityOf } from '../../../generator/register/snapshot.js';
import { Register } from '../../../generator/register/database.js';
import { rollback } from '../../../generator/build/rollback.js';
import { Thread, ThreadPool } from '../../../generator/build/workers/pool.js';
import { OPERATOR, WORKER, effectsAt, published } from '../../support/build.js';
import { snapshot } from '../../support/cli.js';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { hashes, inState, readTree, stamps } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { Tree } from '../../../generator/tree/tree.js';

const path = temporary();
const TIME = '2026-11-20T08:00:00Z';

async function site(): Promise<{ readonly register: string; readonly out: string }> {
  const register = writeRegister(path('register.sqlite'), {
    groups: [
      { id: 1, name: 'one' },
      { id: 2, name: 'two' },
    ],
    users: [{ id: 1, username: 'u' }],
    games: [{ id: 1, name: 'g' }],
    items: [{ id: 1, name: 'i', price: 1 }],
  });
  const out = path('dist');
  await published({ register, out });
  return { register, out };
}

/** Inodes and times of the downloads' files, without those that describe them. */
const files = (out: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(stamps(readTree(out))).filter(([name]) => /\.(csv|csv\.gz|parquet)$/.test(name)),
  );

/** The tables whose files differ, all three of each. */
function rewritten(before: Record<string, string>, after: Record<string, string>): string[] {
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  const tables = [...new Set(changed.map((name) => name.replace(/^downloads\/(\w+)\..*$/, '$1')))];
  expect(changed).toHaveLength(3 * tables.length);
  return tables.toSorted();
}

const text = (out: string, name: string): string => readFileSync(join(out, 'downloads', name), 'utf8');

/** What else is written from the rows of each kind. */
const GROUP = ['documents/group', 'documents/group-history'];
const USER = ['documents/user', 'documents/user-usernames'];
const ITEM = ['documents/item'];
const OTHER = 'documents/other';

describe('a table', () => {
  it.each([
    ['UPDATE items SET price = 2', ['items'], ITEM],
    [`UPDATE groups SET description = 'd' WHERE id = 2`, ['groups'], GROUP],
    // The statistics count readings, members and visits.
    [
      `INSERT INTO group_member_readings VALUES (2, '${TIME}', 5)`,
      ['group_member_readings', 'groups'],
      [...GROUP, OTHER],
    ],
    [`INSERT INTO usernames VALUES (1, 1, 'u', NULL, '${TIME}', '${TIME}')`, ['usernames', 'users'], USER],
    ['UPDATE users SET verified = 1', ['users'], USER],
    ['UPDATE games SET visits = 7', ['games'], ['documents/game', OTHER]],
    ['DELETE FROM groups WHERE id = 2', ['groups'], [...GROUP, OTHER]],
    ['SELECT 1', [], []],
  ])('is written anew after %s if it says so, and else not touched', async (sql, tables, more) => {
    const { register, out } = await site();
    const before = files(out);
    changeRegister(register, sql);
    const { exports } = await published({ register, out, acceptRemovals: true });
    const written = Object.keys(exports).filter((name) => exports[name]?.written);
    const database = tables.length > 0 ? ['register.sqlite'] : [];
    expect(written.toSorted()).toEqual([...tables, ...more, ...database].toSorted());
    // What was written anew and came out the same keeps its file.
    expect(tables).toEqual(expect.arrayContaining(rewritten(before, files(out))));
    const fresh = path('fresh');
    await published({ register, out: fresh });
    expect(hashes(new Map([...readTree(out)].filter(([name]) => name.startsWith('downloads/'))))).toEqual(
      hashes(new Map([...readTree(fresh)].filter(([name]) => name.startsWith('downloads/')))),
    );
  });

  it('is written anew by another code, whatever its version', async () => {
    const { register, out } = await site();
    const effects = {
      ...effectsAt('2026-12-02T00:00:00Z'),
      generator: { name: 'test', version: '0.0.0', code: 'another' },
    };
    const result = await build(buildConfig({ register, out, operator: OPERATOR }), effects);
    if (!result.published) throw new Error('refused');
    expect(Object.values(result.exports).every(({ written }) => written)).toBe(true);
  });

  it('is repaired where a file is damaged or missing', async () => {
    const { register, out } = await site();
    const before = hashes(readTree(join(out, 'downloads')));
    for (const name of ['items.csv', 'datapackage.json']) writeFileSync(join(out, 'downloads', name), 'x');
    for (const name of ['users.parquet', 'games.csv.gz']) rmSync(join(out, 'downloads', name));
    const { code, stdout } = await snapshot(['verify', '--out', out]);
    expect(code).toBe(1);
    for (const line of [
      'altered: downloads/items.csv\n',
      'altered: downloads/datapackage.json\n',
      'missing: downloads/users.parquet\n',
      'missing: downloads/games.csv.gz\n',
    ]) {
      expect(stdout).toContain(line);
    }
    const repair = ['verify', '--out', out, '--repair', '--register', register, '--operator', OPERATOR];
    expect((await snapshot(repair)).code).toBe(0);
    expect((await snapshot(['verify', '--out', out])).code).toBe(0);
    expect(hashes(readTree(join(out, 'downloads')))).toEqual(before);
  });

  it('goes back with the rest in a rollback', async () => {
    const { register, out } = await site();
    const before = hashes(readTree(join(out, 'downloads')));
    changeRegister(register, 'UPDATE items SET price = 2');
    await published({ register, out });
    expect(hashes(readTree(join(out, 'downloads')))).not.toEqual(before);
    await rollback(new Tree(out), effectsAt('2026-12-03T00:00:00Z'));
    expect(hashes(readTree(join(out, 'downloads')))).toEqual(before);
    expect((await snapshot(['verify', '--out', out])).code).toBe(0);
  });

  it('is written anew where only places in a history differ, which no document tells', async () => {
    const { register, out } = await site();
    changeRegister(register, `INSERT INTO group_names VALUES (1, 1, 'one', NULL, '${TIME}', '${TIME}')`);
    await published({ register, out });
    changeRegister(register, 'UPDATE group_names SET position = 4');
    await published({ register, out });
    expect(csvObjects(text(out, 'group_names.csv'))).toMatchObject([{ group_id: '1', position: '4' }]);
  });

  it('is not taken for what it should be when the index that knew is lost', async () => {
    const { register, out } = await site();
    const before = hashes(readTree(join(out, 'downloads')));
    writeFileSync(join(out, 'downloads/items.csv'), 'id,evil\r\n1,2\r\n');
    rmSync(inState(out, 'index'), { recursive: true });
    await published({ register, out });
    expect(hashes(readTree(join(out, 'downloads')))).toEqual(before);
  });
});

describe('a thread that fails', () => {
  const ways = [
    ['at once', 'throw new Error("broken thread")'],
    [
      'later',
      'import { parentPort } from "node:worker_threads"; parentPort.postMessage({ is: "done" }); parentPort.on("message", () => { throw new Error("broken thread"); })',
    ],
    ['by ending', 'process.exit(0)'],
  ] as const;
  it.each(ways)('%s, stops the build and leaves the tree as it was', async (_, code) => {
    const { register, out } = await site();
    const before = stamps(readTree(out));
    const thread = path('thread.mjs');
    writeFileSync(thread, code);
    changeRegister(register, 'UPDATE items SET price = 2');
    const effects = {
      ...effectsAt('2026-12-02T00:00:00Z'),
      startPool: (file: string) => new ThreadPool(pathToFileURL(thread), file),
    };
    await expect(build(buildConfig({ register, out, operator: OPERATOR }), effects)).rejects.toThrow(
      /broken thread|a thread ended/,
    );
    expect(stamps(readTree(out))).toEqual(before);
    expect((await published({ register, out })).changes).toMatchObject({ added: 0, removed: 0 });
  });
});

const price = (register: Register): unknown => [...register.rows('SELECT price FROM items')][0]?.[0];

describe('two connections', () => {
  it('see one state of the register, though a writer commits all the time', async () => {
    const file = writeRegister(path('busy.sqlite'), { items: [{ id: 1, price: 0 }] });
    const writer = openDatabase(file);
    writer.pragma('journal_mode = WAL');
    const one = Register.open(file);
    const two = Register.join(file);
    let commits = 0;
    const commit = (): void => {
      writer.exec('UPDATE items SET price = price + 1');
      commits += 1;
    };
    try {
      for (let round = 0; round < 200; round += 1) {
        let restarts = 0;
        const between = {
          restartRead: () => {
            // A commit between the two, in the first attempts.
            restarts += 1;
            if (restarts <= round % 4) commit();
          },
        };
        await openConsistentSnapshot(file, identityOf(file), [one, between, two]);
        expect(restarts).toBe((round % 4) + 1);
        const seen = price(one);
        expect(price(two)).toBe(seen);
        expect(seen).toBe(commits);
        commit();
        expect([price(one), price(two)]).toEqual([seen, seen]);
      }
    } finally {
      one.close();
      two.close();
      writer.close();
    }
  });

  it.each(['WAL', 'DELETE'])(
    'keep their locks, so a writer of another process in mode %s changes nothing they read',
    async (mode) => {
      const file = writeRegister(path('locked.sqlite'), { items: [{ id: 1, price: 1 }] });
      const script =
        'import sqlite3, sys\n' +
        'c = sqlite3.connect(sys.argv[1], timeout=0.2)\n' +
        'c.execute("PRAGMA journal_mode = " + sys.argv[2])\n' +
        'try:\n  c.execute("UPDATE items SET price = 2"); c.commit()\n' +
        'except sqlite3.OperationalError as error: print(error)\n' +
        'c.close()';
      // The mode is that of the file from here on.
      changeRegister(file, `PRAGMA journal_mode = ${mode}`);
      const identity = identityOf(file);
      const main = Register.open(file);
      const thread = new Thread(WORKER, { file, notMeasured: [] });
      try {
        await openConsistentSnapshot(file, identity, [main, thread]);
        const writer = spawnSync('python3', ['-c', script, file, mode], { encoding: 'utf8' });
        expect([writer.status, writer.stderr]).toEqual([0, '']);
        expect(writer.stdout).toBe(mode === 'WAL' ? '' : 'database is locked\n');
        expect(price(main)).toBe(1);
        const folder = path('written');
        await thread.ask('export', { table: 'items', folder });
        const csv = readFileSync(join(folder, 'downloads/items.csv'), 'utf8');
        expect(csvObjects(csv)).toMatchObject([{ price: '1' }]);
      } finally {
        await thread.close();
        main.close();
      }
    },
  );

  it('that see a register which was replaced meanwhile are told so', async () => {
    const file = writeRegister(path('one.sqlite'), { items: [{ id: 1 }] });
    const other = writeRegister(path('two.sqlite'), { items: [{ id: 2 }] });
    const identity = identityOf(file);
    const one = Register.open(file);
    renameSync(other, file);
    const two = Register.open(file);
    await expect(openConsistentSnapshot(file, identity, [one, two])).rejects.toMatchObject({
      exitCode: 3,
      message: containing('was replaced'),
    });
    one.close();
    two.close();
  });

  it('that never find a pause are told so', async () => {
    const file = writeRegister(path('never.sqlite'), { items: [{ id: 1, price: 0 }] });
    const writer = openDatabase(file);
    writer.pragma('journal_mode = WAL');
    writer.pragma('synchronous = OFF');
    try {
      const restartRead = () => void writer.exec('UPDATE items SET price = price + 1');
      await expect(openConsistentSnapshot(file, identityOf(file), [{ restartRead }])).rejects.toMatchObject({
        exitCode: 3,
      });
    } finally {
      writer.close();
    }
  });
});

describe('the tables and the records', () => {
  it('are of one state while a writer is at work', async () => {
    const { register, out } = await site();
    const writer = openDatabase(register);
    writer.pragma('journal_mode = WAL');
    let price = 1;
    const write = setInterval(() => writer.exec(`UPDATE items SET price = ${(price += 1)}`), 1);
    try {
      for (let round = 0; round < 5; round += 1) {
        await published({ register, out });
        const item: unknown = JSON.parse(readFileSync(join(out, 'api/v1/item/1.json'), 'utf8'));
        const [row] = csvObjects(text(out, 'items.csv'));
        expect(item).toHaveProperty('price', Number(row?.['price']));
      }
    } finally {
      clearInterval(write);
      writer.close();
    }
  });
});
