/** Both scripts that keep a copy current, of all files and of the database, over snapshots and through caches. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { download } from '../../clients/typescript/changes.js';
import { RegisterClient } from '../../clients/typescript/client.js';
import { newFolder, temporary } from '../support/folder.js';
import { freePort } from '../support/ports.js';
import { has } from '../support/programs.js';
import type { RunningProxy } from '../support/proxy.js';
import { indexOf } from '../support/published.js';
import { pathsBelow } from '../support/tree.js';
import { serve, startVarnish, temporariesIn, type EdgeServer } from '../system/contract/servers.js';
import {
  CHANGE,
  WITHHOLD,
  before,
  filesOf,
  following,
  later,
  nth,
  run,
  scriptOf,
  tablesIn,
} from './python.js';

const path = temporary();
const newSite = following(path);
const HAS_PYTHON = has('copies by scripts in Python', 'python3');

interface Change {
  readonly sql: string;
  /** Whether the downloads stay what they were. */
  readonly keeps?: true;
  readonly isFollowed?: false;
  /** Whether bundles no longer lead on from the copy. */
  readonly startsOver?: true;
}

const STEPS: readonly Change[] = [
  { isFollowed: false, sql: CHANGE },
  {
    keeps: true,
    sql: `INSERT INTO group_member_readings SELECT ${nth('groups', 3)}, ${later(2)}, 77;
      UPDATE groups SET member_count = 77, measured_at = ${later(2)} WHERE id = ${nth('groups', 3)};
      UPDATE users SET state = 'deleted', measured_at = ${later(2)} WHERE id = ${nth('users', 9)};
      DELETE FROM games WHERE id = ${nth('games', 5)}; DELETE FROM items WHERE id = ${nth('items', 5)};`,
  },
  // The owner of the most groups: their documents change as well.
  {
    sql: WITHHOLD(
      'user',
      3,
      `(SELECT owner_id FROM groups WHERE owner_id IN (SELECT id FROM users)
        AND owner_id NOT IN (SELECT id FROM withheld WHERE kind = 'user')
        GROUP BY owner_id ORDER BY count(*) DESC LIMIT 1)`,
    ),
  },
  {
    isFollowed: false,
    sql: `UPDATE games SET genre = 'another', measured_at = ${later(4)} WHERE id = ${nth('games', 1)};`,
  },
  { startsOver: true, sql: WITHHOLD('group', 5, nth('groups', 6)) },
];

function place({ base }: Pick<RunningProxy, 'base'>) {
  const folder = newFolder(path('place'));
  const [files, database] = [join(folder, 'copy'), join(folder, 'copy.sqlite')];
  const follow = () => run(scriptOf('follow.py'), base, database);
  const mirror = () => run(scriptOf('mirror.py'), base, files);
  return { files, database, follow, mirror, both: async () => [await follow(), await mirror()] };
}

const namesIn = (file: string): string[] =>
  tablesIn(file)['users']?.map(([, username]) => `${username}`) ?? [];

const LONG = { timeout: 300_000 };
it.skipIf(!HAS_PYTHON)('copies follow six snapshots, and forget what is withheld', LONG, async () => {
  const { out, proxy, build } = await newSite();
  const [copy, late] = [place(proxy), place(proxy)];
  // An empty file is as good as none.
  writeFileSync(late.database, '');
  expect(await copy.both()).toEqual(['', '']);
  expect(filesOf(copy.files)).toEqual(filesOf(out));
  // A record's path by its id of the platform is one more name of its file.
  const linked = pathsBelow(join(copy.files, 'api/v1/item/platform'), (entry) => entry.isFile());
  const ids = linked.map((file) => statSync(join(copy.files, 'api/v1/item/platform', file)).nlink);
  expect(new Set(ids)).toEqual(new Set([2]));
  const [names, withheld] = [new Set<string>(), new Set<string>()];
  for (const [index, { sql, keeps, isFollowed = true, startsOver = false }] of STEPS.entries()) {
    const before = Object.keys(filesOf(out));
    await build(sql, keeps);
    for (const file of before)
      if (/^api\/v1\/(user|group)\/\d/.test(file) && !existsSync(join(out, file))) withheld.add(file);
    if (!isFollowed) continue;
    for (const name of namesIn(copy.database)) names.add(name);
    const note = `nothing leads on from snapshot ${index}: beginning again with the download\n`;
    const said = startsOver ? note : '';
    expect([index, ...(await copy.both())]).toEqual([index, said, said]);
    expect(filesOf(copy.files), `snapshot ${index + 2}`).toEqual(filesOf(out));
    // This one begins with downloads that are older than the tree, and misses most of what follows.
    if (keeps === true) await late.both();
    expect(filesOf(keeps === true ? late.files : copy.files)).toEqual(filesOf(out));
    const tables = tablesIn(keeps === true ? late.database : join(out, 'downloads/register.sqlite'));
    expect(tablesIn(copy.database), `snapshot ${index + 2}`).toEqual(tables);
  }
  await late.both();
  expect(filesOf(late.files)).toEqual(filesOf(out));
  expect(tablesIn(late.database)).toEqual(tablesIn(copy.database));
  // Neither names and paths of what is withheld, nor what was staged.
  for (const name of namesIn(copy.database)) names.delete(name);
  expect([names.size, withheld.size]).toEqual([1, 2]);
  for (const { files, database } of [copy, late]) {
    const state = files.replace(/copy$/, '.copy-mirror');
    expect(readdirSync(state)).toEqual(['state.sqlite']);
    const [known, rows] = [readFileSync(join(state, 'state.sqlite')), readFileSync(database)];
    expect([...withheld].filter((file) => known.includes(file))).toEqual([]);
    expect([...names].filter((name) => rows.includes(name))).toEqual([]);
  }
  // Without a new snapshot, a build leaves another time.
  await build('');
  expect(await copy.both()).toEqual(['', '']);
  expect(filesOf(copy.files)).toEqual(filesOf(out));
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

const nginx =
  (key: string) =>
  async ({ port: backend }: RunningProxy): Promise<EdgeServer> => {
    const [port, folder] = [await freePort(), path('nginx')];
    mkdirSync(folder);
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `daemon off; pid ${folder}/pid; events {}
       http {
         ${temporariesIn(folder)} access_log off;
         proxy_cache_path ${folder}/cache keys_zone=cache:1m;
         server {
           listen 127.0.0.1:${port};
           proxy_cache cache;
           proxy_cache_key "${key}";
           location / { proxy_pass http://127.0.0.1:${backend}; }
         }
       }`,
    );
    return await serve(port, folder, file);
  };

const HAS_CACHES = has('copies through caches', 'python3', 'nginx', 'varnish');
it.skipIf(!HAS_CACHES)('copies through caches are of the newer snapshot, or say when to go on', async () => {
  const { out, proxy, build } = await newSite();
  const GROUPS = '/downloads/documents/group.ndjson.gz';
  const starts = [
    // With the key that publishing.md asks for.
    nginx('$uri|$arg_limit|$arg_snapshot'),
    ({ port }: RunningProxy) => startVarnish(path('varnish'), port),
    nginx('$uri|$arg_limit'),
  ];
  const caches: EdgeServer[] = [];
  for (const start of starts) caches.push(await start(proxy));
  onTestFinished(async () => void (await Promise.all(caches.map(({ stop }) => stop()))));
  const old = ['datapackage.json', 'register.sqlite.gz', 'groups.csv', 'documents/group.ndjson.gz'];
  for (const { base } of caches)
    for (const name of old) await (await fetch(`${base}/downloads/${name}`)).arrayBuffer();
  await build(CHANGE);
  const { tree, digest } = indexOf(out);
  for (const cache of caches.slice(0, 2)) {
    const { files, database, both } = place(cache);
    expect(await both()).toEqual(['', '']);
    expect(filesOf(files)).toEqual(filesOf(out));
    expect(tablesIn(database)).toEqual(tablesIn(join(out, 'downloads/register.sqlite')));
    const { bytes, position } = await download(new RegisterClient(cache.base), GROUPS);
    expect(Buffer.from(bytes)).toEqual(readFileSync(join(out, GROUPS)));
    expect(position).toEqual({ tree, sequence: 2, digest });
  }
  const blind = caches[2]!;
  const { files, database, follow, mirror } = place(blind);
  const said = / is not that of snapshot 2: caches may have another until \S*\d\d:\d\d:\d\d/;
  await expect(follow()).rejects.toThrow(said);
  await expect(mirror()).rejects.toThrow(said);
  await expect(download(new RegisterClient(blind.base), GROUPS)).rejects.toThrow(said);
  expect([existsSync(database), filesOf(files)]).toEqual([false, {}]);
});
