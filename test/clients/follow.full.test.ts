/** The script that keeps a copy of the database current, against real trees through the real proxy. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { download } from '../../clients/typescript/changes.js';
import { RegisterClient } from '../../clients/typescript/client.js';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import type { RunningProxy } from '../support/proxy.js';
import { indexOf, snapshotOf, sha256 } from '../support/published.js';
import { startVarnish, type EdgeServer } from '../system/contract/servers.js';
import {
  PYTHON,
  STEPS,
  WITHHOLD,
  before,
  following,
  instead,
  nginxBefore,
  nth,
  run,
  scriptOf,
  scriptWith,
} from './python.js';

const path = temporary();
const newSite = following(path);
const SCRIPT = scriptOf('follow.py');
const HAS_PYTHON = has('the script in Python', 'python3');

const rowsOf = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

/** The rows of each table but that in which the script keeps its place. */
function tablesIn(file: string): Record<string, z.infer<typeof rowsOf>> {
  const database = openDatabase(file, { readonly: true });
  try {
    const names = database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck();
    const tables = names.all().filter((name) => name !== 'copied');
    return Object.fromEntries(
      tables.map((name) => {
        const rows = database.prepare<[]>(`SELECT * FROM "${name}" ORDER BY 1, 2`).raw(true);
        return [name, rowsOf.parse(rows.all())];
      }),
    );
  } finally {
    database.close();
  }
}

/** The usernames of all users. */
const namesIn = (file: string): Set<string> =>
  new Set(tablesIn(file)['users']?.map(([, username]) => `${username}`));

/** Runs statements on a database of somebody else. */
function sql(file: string, statements: string): void {
  const database = openDatabase(file);
  database.exec(statements);
  database.close();
}

/** A site that goes on, and the script. */
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
  /** Has two snapshots follow, to which no bundle leads. */
  const breakOff = async (): Promise<void> => {
    await site.build(`DELETE FROM items WHERE id = ${nth('items', 1)}`);
    await site.build(WITHHOLD('group', 7, nth('groups', 6)));
  };
  return { ...site, copy, breakOff };
}

describe.skipIf(!HAS_PYTHON)('follow.py', () => {
  it('over eight snapshots makes a copy what the download is, by the changes alone', async () => {
    const { out, build, follow } = await followed();
    const [copy, late] = [path('copy.sqlite'), path('late.sqlite')];
    // An empty file is as good as none.
    writeFileSync(late, '');
    expect(await follow(copy)).toBe('');
    let withheld = 0;
    for (const [index, { sql, keeps, isFollowed = true, startsOver = false }] of STEPS.entries()) {
      await build(sql, keeps);
      if (!isFollowed) continue;
      const before = namesIn(copy);
      const note = `nothing leads on from snapshot ${index}: beginning again with the download\n`;
      expect([index, await follow(copy)]).toEqual([index, startsOver ? note : '']);
      const gone = [...before].filter((name) => !namesIn(copy).has(name));
      const bytes = readFileSync(copy);
      expect(gone.filter((name) => bytes.includes(name))).toEqual([]);
      withheld += gone.length;
      // This one begins with downloads that are older than the tree, and misses most of what follows.
      if (keeps === true) {
        await follow(late);
        continue;
      }
      const expected = tablesIn(join(out, 'downloads/register.sqlite'));
      expect(tablesIn(copy), `snapshot ${index + 2}`).toEqual(expected);
    }
    expect(indexOf(out).sequence).toBe(8);
    expect(withheld).toBe(1);
    await follow(late);
    expect(tablesIn(late)).toEqual(tablesIn(copy));
  }, 300_000);

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

  it.each([
    ['another database', (file: string) => sql(file, 'CREATE TABLE d (day); INSERT INTO d VALUES (1)')],
    ['an empty one that has tables', (file: string) => sql(file, 'CREATE TABLE diary (day)')],
    ['one with a table copied of its own', (file: string) => sql(file, 'CREATE TABLE copied (tree)')],
    ['a file that is no database', (file: string) => writeFileSync(file, 'dear diary, '.repeat(100))],
  ])('leaves %s as it is', async (_, make) => {
    const { follow } = await followed();
    const own = path('own.db');
    make(own);
    const bytes = readFileSync(own);
    const said = / is no copy that this script has made: name another file\n$|: file is not a database\n$/;
    await expect(follow(own)).rejects.toThrow(said);
    expect(readFileSync(own)).toEqual(bytes);
  });

  it('starts over within the same database, before readers in WAL mode, and keeps what was added', async () => {
    const { out, follow, copy, breakOff } = await copied();
    sql(
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
    await breakOff();
    expect(await follow(copy)).toMatch(/^nothing leads on from snapshot 1: beginning again/);
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
    sql(copy, `UPDATE copied SET sequence = 0, tables = json_remove(tables, '$.items')`);
    const before = tablesIn(copy);
    await expect(run(SCRIPT, proxy.base, copy)).rejects.toThrow(`${copy} has a table "items" of yours\n`);
    expect(tablesIn(copy)).toEqual(before);
  });

  it('killed while it starts over leaves the old copy, which the next run replaces', async () => {
    const { out, proxy, follow, copy, breakOff } = await copied();
    const old = tablesIn(copy);
    await breakOff();
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
    const { proxy, build, copy } = await copied();
    await build(`UPDATE items SET name = 'other' WHERE id = ${nth('items', 1)}`);
    const writer = openDatabase(copy);
    onTestFinished(() => void writer.close());
    writer.exec('BEGIN IMMEDIATE');
    await expect(run(scriptWith(path, 'follow.py', 'LOCKED = 0.2'), proxy.base, copy)).rejects.toThrow(
      `${copy}: database is locked\n`,
    );
  });

  it.each([
    ['SILENCE = 0.5', 'timed out', (): void => undefined],
    ['WHOLE = 2', 'given up after 2 seconds', (write: () => void) => void setInterval(write, 50).unref()],
  ])('gives up on a server that sends next to nothing (%s)', async (constants, why, dribble) => {
    const { proxy } = await followed();
    const copy = path('copy.sqlite');
    const begin = (response: ServerResponse): void => {
      response.writeHead(200).write('a');
      dribble(() => void response.write('a'));
    };
    const base = await instead(proxy, { '/downloads/register.sqlite.gz': begin });
    await expect(run(scriptWith(path, 'follow.py', constants), base, copy)).rejects.toThrow(why);
    expect(existsSync(copy)).toBe(false);
  });

  it('takes no download that unpacks to more than snapshot.json says, and none that is longer', async () => {
    const { out, proxy, copy, breakOff } = await copied();
    const bytes = readFileSync(copy);
    await breakOff();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const manifest = JSON.stringify(snapshotOf(out)).replace(
      /"file":"\/downloads\/register.sqlite.gz","bytes":\d+,"sha256":"\w+"/,
      `"file":"/downloads/register.sqlite.gz","bytes":${bomb.length},"sha256":"${sha256(bomb)}"`,
    );
    const answers: readonly [string, (response: ServerResponse) => void][] = [
      ['is larger than', (response) => response.end(bomb)],
      [
        'is not that of snapshot 3',
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

it.skipIf(!HAS_PYTHON).each(['follow', 'mirror'])('%s.py is polite to the service', async (name) => {
  const script = scriptOf(`${name}.py`);
  expect(await run(script, '--help')).toContain(`usage: ${name}.py`);
  const { proxy } = await newSite();
  const agents = new Set<string>();
  const refusals = ['in seconds', 'as a date'];
  let [earliestMs, isEarly] = [0, false];
  const base = await before(proxy, (request, response) => {
    agents.add(request.headers['user-agent'] ?? '');
    isEarly ||= Date.now() < earliestMs;
    const form = refusals.shift();
    if (form === undefined) return false;
    // Longer than a script waits by itself.
    const date = new Date(Date.now() + 3500).toUTCString();
    earliestMs = form === 'as a date' ? Date.parse(date) : Date.now() + 3000;
    response.writeHead(429, { 'Retry-After': form === 'as a date' ? date : '3' }).end();
    return true;
  });
  const copy = path('copy');
  expect(await run(script, base, copy, '--contact', 'me@example.org')).toBe('');
  expect([...agents]).toEqual([`register-api-${name}/1 (me@example.org)`]);
  expect([refusals, isEarly]).toEqual([[], false]);
  expect(existsSync(copy)).toBe(true);
});

/** A site whose downloads are in a cache when the next snapshot is published. */
async function cached(start: (proxy: RunningProxy) => Promise<EdgeServer>) {
  const { out, proxy, build } = await followed();
  const cache = await start(proxy);
  onTestFinished(() => cache.stop());
  const client = new RegisterClient(cache.base);
  for (const name of ['datapackage.json', 'register.sqlite.gz', 'documents/group.ndjson.gz'])
    await (await client.fetch(`/downloads/${name}`)).arrayBuffer();
  await build(`UPDATE groups SET description = 'ünï' WHERE id = ${nth('groups', 4)}`);
  return { out, base: cache.base, client, copy: path('copy.sqlite') };
}

describe.skipIf(!has('copies through caches', 'python3', 'nginx', 'varnish'))(
  'follow.py and download()',
  () => {
    const GROUPS = '/downloads/documents/group.ndjson.gz';

    it.each([
      [
        'nginx, with the key that publishing.md asks for',
        (proxy: RunningProxy) => nginxBefore(path, proxy, '$uri|$arg_limit|$arg_snapshot'),
      ],
      ['Varnish', ({ port }: RunningProxy) => startVarnish(path('varnish'), port)],
    ])('take the newer one: %s', async (_, start) => {
      const { out, base, client, copy } = await cached(start);
      await run(SCRIPT, base, copy);
      expect(tablesIn(copy)).toEqual(tablesIn(join(out, 'downloads/register.sqlite')));
      const { bytes, position } = await download(client, GROUPS);
      expect(Buffer.from(bytes)).toEqual(readFileSync(join(out, GROUPS)));
      expect(position).toEqual({ tree: indexOf(out).tree, sequence: 2, digest: indexOf(out).digest });
    });

    it('say until when to wait if no query reaches the service', async () => {
      const { base, client, copy } = await cached((proxy) => nginxBefore(path, proxy, '$uri|$arg_limit'));
      const said = / is not that of snapshot 2: caches may have another until \S*\d\d:\d\d:\d\d/;
      await expect(run(SCRIPT, base, copy)).rejects.toThrow(said);
      expect(existsSync(copy)).toBe(false);
      await expect(download(client, GROUPS)).rejects.toThrow(said);
    });
  },
);
