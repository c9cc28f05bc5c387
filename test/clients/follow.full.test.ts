/** The script that keeps a copy of the database current, against real trees through the real proxy. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { snapshotOf, sha256 } from '../support/published.js';
import { runSql } from '../support/register.js';
import { PYTHON, following, instead, nth, run, scriptOf, scriptWith, tablesIn } from './python.js';

const path = temporary();
const newSite = following(path);
const SCRIPT = scriptOf('follow.py');

async function followed() {
  const site = await newSite();
  const follow = (copy: string, ...options: readonly string[]): Promise<string> =>
    run(SCRIPT, site.proxy.base, copy, ...options);
  return { ...site, follow };
}

/** A site that goes on, and a copy of its first snapshot. */
async function copied() {
  const site = await followed();
  const copy = path('copy.sqlite');
  await site.follow(copy);
  /** Has the copy be of an earlier snapshot, from which no bundle leads on. */
  const breakOff = (): void =>
    void runSql(copy, `UPDATE copied SET sequence = 0; UPDATE items SET name = 'old'; DELETE FROM games`);
  return { ...site, copy, breakOff };
}

describe.skipIf(!has('the script in Python', 'python3'))('follow.py', () => {
  it('leaves the copy as it was if a bundle is not what the index says', async () => {
    const { out, build, follow, copy } = await copied();
    const before = tablesIn(copy);
    await build(`UPDATE items SET name = 'other' WHERE id = ${nth('items', 1)}`);
    const bundle = join(out, 'changes/2.ndjson.gz');
    writeFileSync(bundle, readFileSync(bundle).with(100, 0));
    await expect(follow(copy)).rejects.toThrow(
      '/changes/2.ndjson.gz is not that of snapshot 2: caches may have another until',
    );
    expect(tablesIn(copy)).toEqual(before);
  });

  it('leaves what it has not made as it is', async () => {
    const { follow } = await followed();
    const makers: readonly ((file: string) => unknown)[] = [
      (file) => runSql(file, 'CREATE TABLE d (day); INSERT INTO d VALUES (1)'),
      (file) => runSql(file, 'CREATE TABLE diary (day)'),
      (file) => runSql(file, 'CREATE TABLE copied (tree)'),
      (file) => writeFileSync(file, 'dear diary, '.repeat(100)),
    ];
    for (const make of makers) {
      const own = path('own.db');
      make(own);
      const bytes = readFileSync(own);
      const said = / is no copy that this script has made: name another file\n$|: file is not a database\n$/;
      await expect(follow(own)).rejects.toThrow(said);
      expect(readFileSync(own)).toEqual(bytes);
    }
  });

  it('starts over within the same database, before readers in WAL mode, and keeps what was added', async () => {
    const { out, follow, copy, breakOff } = await copied();
    runSql(
      copy,
      `PRAGMA journal_mode = WAL; CREATE TABLE diary (day, weather); INSERT INTO diary VALUES (1, 'sunny');
       CREATE INDEX by_name ON groups (name); CREATE VIEW largest AS SELECT max(member_count) FROM groups`,
    );
    const reader = openDatabase(copy);
    onTestFinished(() => void reader.close());
    reader.exec(`BEGIN; SELECT * FROM groups; UPDATE diary SET weather = 'rainy'; COMMIT`);
    const rows = reader.prepare<[], number>('SELECT count(*) FROM items').pluck();
    const before = rows.iterate();
    before.next();
    breakOff();
    expect(await follow(copy)).toMatch(/^nothing leads on from snapshot 0: beginning again/);
    before.return?.();
    expect(reader.pragma('integrity_check', { simple: true })).toBe('ok');
    const { diary, ...ours } = tablesIn(copy);
    expect(diary).toEqual([[1, 'rainy']]);
    expect(ours).toEqual(tablesIn(join(out, 'downloads/register.sqlite')));
    const added = `SELECT count(*) FROM sqlite_schema WHERE name IN ('by_name', 'largest')`;
    expect(reader.prepare<[], number>(added).pluck().get()).toBe(2);
    // The new names are in the index, too.
    expect(reader.prepare<[], number>('SELECT count(DISTINCT name) > 10 FROM groups').pluck().get()).toBe(1);
  });

  it('refuses a download that has a table of the name of one that was added', async () => {
    const { proxy, copy } = await copied();
    // As if the service had begun to measure items just now.
    runSql(copy, `UPDATE copied SET sequence = 0, tables = json_remove(tables, '$.items')`);
    const before = tablesIn(copy);
    await expect(run(SCRIPT, proxy.base, copy)).rejects.toThrow(`${copy} has a table "items" of yours\n`);
    expect(tablesIn(copy)).toEqual(before);
  });

  it('killed while it starts over leaves the old copy, which the next run replaces', async () => {
    const { out, proxy, follow, copy, breakOff } = await copied();
    breakOff();
    const old = tablesIn(copy);
    // In a rollback journal, a reader holds up the commit.
    const reader = openDatabase(copy);
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM about').get();
    const child = spawn(PYTHON, [SCRIPT, proxy.base, copy], { stdio: 'ignore' });
    const ends = new Promise((settle) => child.on('close', settle));
    await expect.poll(() => existsSync(`${copy}-journal`), { timeout: 30_000 }).toBe(true);
    child.kill('SIGKILL');
    await ends;
    reader.close();
    expect(tablesIn(copy)).toEqual(old);
    await follow(copy);
    expect(tablesIn(copy)).toEqual(tablesIn(join(out, 'downloads/register.sqlite')));
  });

  it('says in a line why a first run failed, and leaves nothing', async () => {
    const { proxy } = await followed();
    const copy = join(path('folder'), 'copy.sqlite');
    mkdirSync(dirname(copy));
    const sorts: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
      ['HTTP Error 403: Forbidden', (response) => response.writeHead(403).end()],
      ['HTTP Error 429: ', (response) => response.writeHead(429, { 'Retry-After': '7200' }).end()],
      ['Expecting value: line 1 column 1 (char 0)', (response) => response.end('<html>')],
      [`is not as expected: KeyError('sequence')`, (response) => response.end('{"tree":"a"}')],
    ];
    for (const [why, answer] of sorts) {
      const base = await instead(proxy, { '/changes/index.json': answer });
      const said = await run(SCRIPT, base, copy).catch(String);
      expect(said).toContain(`${base}/changes/index.json`);
      expect(said).toContain(why);
      expect(said.trimEnd().split('\n')).toHaveLength(1);
    }
    await expect(run(SCRIPT, 'http://127.0.0.1:1', copy)).rejects.toThrow('Connection refused');
    expect(readdirSync(dirname(copy))).toEqual([]);
  });

  it('says so if the copy stays locked', async () => {
    const { proxy, copy, breakOff } = await copied();
    breakOff();
    const writer = openDatabase(copy);
    onTestFinished(() => void writer.close());
    writer.exec('BEGIN IMMEDIATE');
    await expect(run(scriptWith(path, 'follow.py', 'LOCKED = 0.2'), proxy.base, copy)).rejects.toThrow(
      `${copy}: database is locked\n`,
    );
  });

  it('gives up on a server that sends next to nothing', async () => {
    const { proxy } = await followed();
    const copy = path('copy.sqlite');
    for (const [constants, why, everyMs] of [
      ['SILENCE = 0.5', 'timed out', 60_000],
      ['WHOLE = 2', 'given up after 2 seconds', 50],
    ] as const) {
      const base = await instead(proxy, {
        '/downloads/register.sqlite.gz': (response) => {
          response.writeHead(200).write('a');
          setInterval(() => response.write('a'), everyMs).unref();
        },
      });
      await expect(run(scriptWith(path, 'follow.py', constants), base, copy)).rejects.toThrow(why);
      expect(existsSync(copy)).toBe(false);
    }
  });

  it('takes no download that unpacks to more than snapshot.json says, and none that is longer', async () => {
    const { out, proxy, copy, breakOff } = await copied();
    breakOff();
    const bytes = readFileSync(copy);
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const manifest = JSON.stringify(snapshotOf(out)).replace(
      /"file":"\/downloads\/register.sqlite.gz","bytes":\d+,"sha256":"\w+"/,
      `"file":"/downloads/register.sqlite.gz","bytes":${bomb.length},"sha256":"${sha256(bomb)}"`,
    );
    const answers: readonly [string, (response: ServerResponse) => void][] = [
      ['is larger than', (response) => response.end(bomb)],
      [
        'is not that of snapshot 1',
        (response) => {
          const write = (): void => void (response.destroyed || response.write(bomb, write));
          write();
        },
      ],
    ];
    for (const [why, answer] of answers) {
      const base = await instead(proxy, {
        '/snapshot.json': (response) => response.end(manifest),
        '/downloads/register.sqlite.gz': answer,
      });
      await expect(run(SCRIPT, base, copy)).rejects.toThrow(why);
    }
    expect(readFileSync(copy)).toEqual(bytes);
  });
});
