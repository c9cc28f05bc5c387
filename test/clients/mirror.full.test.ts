/** The script that keeps a copy of the files of a tree, against real trees through the real proxy. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { startProxy } from '../support/proxy.js';
import { hashesOf, sha256 } from '../support/published.js';
import { startNginx } from '../system/contract/servers.js';
import {
  STEPS,
  before,
  filesOf,
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
const SCRIPT = scriptOf('mirror.py');

/** A site that goes on, the place of a copy, and the script. */
async function mirrored() {
  const site = await newSite();
  const copy = join(path('place'), 'copy');
  mkdirSync(join(copy, '..'));
  const mirror = (to = copy): Promise<string> => run(SCRIPT, site.proxy.base, to);
  return { ...site, copy, mirror };
}

const stateOf = (copy: string): string => copy.replace(/copy$/, '.copy-mirror');

/** Changes documents of most kinds, and adds and removes some. */
const [{ sql: CHANGE }] = STEPS;

/** The script, which is killed at a call of a function. */
const dying = (what: string, times: number): string =>
  scriptWith(
    path,
    'mirror.py',
    `left, real = ${times}, ${what}
def dying(*args, **options):
    global left
    left -= 1
    if left < 0: os.kill(os.getpid(), 9)
    return real(*args, **options)
${what} = dying`,
  );

/** Responses without an end. */
const endless =
  (chunk: Buffer | string) =>
  (response: ServerResponse): void => {
    const write = (): void => void (response.destroyed || response.write(chunk, write));
    write();
  };
const send = (body: Buffer | string) => (response: ServerResponse) => response.end(body);
const redirect = (response: ServerResponse) => response.writeHead(302, { Location: '/' }).end();
const drip = (response: ServerResponse): void =>
  void setInterval(() => response.destroyed || response.write('a'), 50).unref();

describe.skipIf(!has('the script in Python that copies files', 'python3'))('mirror.py', () => {
  it('over eight snapshots makes a copy what the tree is, and forgets what is withheld', async () => {
    const { out, build, mirror, copy } = await mirrored();
    const late = join(path('late'), 'copy');
    mkdirSync(join(late, '..'));
    expect(await mirror()).toBe('');
    expect(filesOf(copy)).toEqual(filesOf(out));
    const withheld = new Set<string>();
    for (const [index, { sql, keeps, isFollowed = true, startsOver = false }] of STEPS.entries()) {
      const before = Object.keys(filesOf(out));
      await build(sql, keeps);
      for (const file of before)
        if (/^api\/v1\/(user|group)\/\d/.test(file) && !existsSync(join(out, file))) withheld.add(file);
      if (!isFollowed) continue;
      const note = `nothing leads on from snapshot ${index}: beginning again with the download\n`;
      expect([index, await mirror()]).toEqual([index, startsOver ? note : '']);
      expect(filesOf(copy), `snapshot ${index + 2}`).toEqual(filesOf(out));
      // This one begins with downloads that are older than the tree, and misses most of what follows.
      if (keeps === true) await mirror(late);
      expect(filesOf(keeps === true ? late : copy)).toEqual(filesOf(out));
    }
    await mirror(late);
    expect(filesOf(late)).toEqual(filesOf(out));
    expect(withheld.size).toBe(2);
    // Neither the paths of what is withheld, nor what was staged.
    for (const each of [copy, late]) {
      expect(readdirSync(stateOf(each))).toEqual(['state.sqlite']);
      const known = readFileSync(join(stateOf(each), 'state.sqlite'));
      expect([...withheld].filter((file) => known.includes(file))).toEqual([]);
    }
    // Without a new snapshot, a build leaves another time.
    await build('');
    await mirror();
    expect(filesOf(copy)).toEqual(filesOf(out));
  }, 300_000);

  it('keeps assets as long as the service has them, whatever the page names', async () => {
    const { out, build, mirror, copy } = await mirrored();
    await mirror();
    // As if an earlier version had had another style sheet.
    const name = 'assets/style-0123456789.css';
    const database = openDatabase(join(stateOf(copy), 'state.sqlite'));
    database
      .prepare('INSERT INTO held VALUES (?, ?), (?, ?)')
      .run(name, sha256('a'), name.replace('0', '1'), sha256('b'));
    database.close();
    writeFileSync(join(copy, name), 'a');
    writeFileSync(join(copy, name.replace('0', '1')), 'b');
    writeFileSync(join(out, name), 'a');
    await build(CHANGE);
    await mirror();
    expect(filesOf(copy)).toEqual({ ...filesOf(out), [name]: sha256('a') });
  });

  it('ended by kill -9 at any request or move leaves what the next run completes', async () => {
    const { out, proxy, build, mirror, copy } = await mirrored();
    const asked: string[] = [];
    const base = await before(proxy, ({ url = '' }) => {
      if (url.startsWith('/downloads/')) asked.push(url);
      return false;
    });
    const killed = async (script: string): Promise<void> => {
      await expect(run(script, base, copy)).rejects.toThrow(/^$/);
    };
    for (const times of [0, 1, 5, 20, 30]) await killed(dying('opener.open', times));
    // Nothing is moved before everything is there.
    expect(filesOf(copy)).toEqual({});
    for (const times of [0, 1, 20, 400]) await killed(dying('os.replace', times));
    await killed(dying('shutil.rmtree', 0));
    await mirror();
    // What was there is not fetched again.
    expect(asked).toEqual([...new Set(asked)]);
    const old = filesOf(copy);
    expect(old).toEqual(filesOf(out));
    await build(`${CHANGE} DELETE FROM games WHERE id = ${nth('games', 5)}`);
    const next = filesOf(out);
    for (const times of [1, 3, 20]) await killed(dying('opener.open', times));
    expect(filesOf(copy)).toEqual(old);
    await killed(dying('os.remove', 0));
    for (const times of [0, 3, 10]) {
      await killed(dying('os.replace', times));
      const now = filesOf(copy);
      for (const [file, hash] of Object.entries(now)) expect([old[file], next[file]]).toContain(hash);
      expect(now['snapshot.json']).toBe(old['snapshot.json']);
    }
    // The service is gone, and the commit is completed all the same.
    await expect(run(SCRIPT, 'http://127.0.0.1:1', copy)).rejects.toThrow('Connection refused');
    expect(filesOf(copy)).toEqual(next);
  }, 300_000);

  it('never mixes two snapshots: if the service goes on, the copy stays, and the next run goes on', async () => {
    const { out, proxy, build, copy, mirror } = await mirrored();
    let isOn = false;
    const base = await before(proxy, (request, response) => {
      if (isOn || request.url !== '/downloads/groups.csv') return false;
      isOn = true;
      void (async () => {
        await build(CHANGE);
        response.end(await (await proxy.get('/downloads/groups.csv')).text());
      })();
      return true;
    });
    await expect(run(SCRIPT, base, copy)).rejects.toThrow(
      '/downloads/groups.csv?snapshot=1 is not that of snapshot 1: caches',
    );
    expect(filesOf(copy)).toEqual({});
    await mirror();
    expect(filesOf(copy)).toEqual(filesOf(out));
  });

  it.each([
    ['leads out', '/a', '../a'],
    ['begins at the root', '/a', '/tmp/a'],
    ['has a dotfile', '/a', '.ssh/a'],
    ['leads out further down', '/a', 'a/../../a'],
    ['leads out of the one folder with a dot', '/a', '.well-known/../a'],
    ['leads out by its parameter', '/a/{id}', '{id}/../../a'],
    ['leads to another host', '@127.0.0.1/a', 'a'],
  ])('takes no route that %s', async (_, url, file) => {
    const { out, proxy, copy } = await mirrored();
    const text = readFileSync(join(out, 'snapshot.json'), 'utf8');
    const route = JSON.stringify({ name: 'a', path: url, file });
    const other = text.replace('"routes":[', `$&${route},`);
    const base = await instead(proxy, { '/snapshot.json': send(other) });
    await expect(run(SCRIPT, base, copy)).rejects.toThrow('which are no plain paths\n');
    expect(Object.keys(filesOf(join(copy, '..')))).toEqual(['.copy-mirror/state.sqlite']);
  });

  const list = gzipSync(`${'0'.repeat(64)}  api/v1/group/1.json\n`.repeat(100));
  const half = list.subarray(9);
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024));
  const LIST = '/downloads/documents.sha256.gz';

  const megabytes = endless(Buffer.alloc(1 << 20));

  it.each<[string, string, (response: ServerResponse) => void, string, (Buffer | string)?]>([
    ['a description without an end', '/snapshot.json', endless(' '.repeat(65536)), 'Expecting value'],
    ['a page without an end', '/developers', megabytes, 'developers?snapshot=1 is not that of'],
    ['a download without an end', '/downloads/users.csv', megabytes, 'is not that of snapshot 1'],
    ['a page of another hash', '/developers', send('other'), 'is not that of snapshot 1'],
    ['a redirect', '/developers', redirect, 'HTTP Error 302'],
    ['a list of other documents', LIST, send(list), 'the documents are not those of snapshot 1', list],
    ['a line without an end', LIST, send(bomb), `${LIST} has a line of`, bomb],
    ['half a list', LIST, send(half), `${LIST}: Not a gzipped file`, half],
    ['too much in all', '/none', () => undefined, 'given up after 1000 bytes', 'MOST = 1000'],
    ['silence', '/developers', () => undefined, 'timed out', 'SILENCE = 0.5'],
    ['a long drip', '/developers', drip, 'given up after 2 seconds', 'WHOLE = 2'],
  ])('a service with %s ends it with a sentence', async (_, url, answer, why, extra = '') => {
    const [content, constants] = typeof extra === 'string' ? [undefined, extra] : [extra, ''];
    const { out, proxy, copy } = await mirrored();
    const text = readFileSync(join(out, 'snapshot.json'), 'utf8');
    const form = new RegExp(`"file":"${url}","bytes":\\d+,"sha256":"\\w+"`);
    const named = content && `"file":"${url}","bytes":${content.length},"sha256":"${sha256(content)}"`;
    const manifest = named === undefined ? text : text.replace(form, named);
    const base = await instead(proxy, { '/snapshot.json': send(manifest), [url]: answer });
    const said = await run(scriptWith(path, 'mirror.py', constants), base, copy).catch(String);
    expect(said).toContain(why);
    expect(said.trimEnd().split('\n')).toHaveLength(1);
    expect(filesOf(copy)).toEqual({});
  });

  it('takes nothing of a bundle that leads out, whatever the digest', async () => {
    const { out, proxy, build, mirror, copy } = await mirrored();
    await mirror();
    const files = filesOf(copy);
    await build(CHANGE);
    const bundle = gunzipSync(readFileSync(join(out, 'changes/2.ndjson.gz')));
    const lines = [
      { path: '/a', file: '../a', sha256: sha256('a'), bytes: 1, body: 'a' },
      { path: '/b', file: '../.copy-mirror/state.sqlite', deleted: true },
    ];
    const more = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const other = gzipSync(Buffer.concat([bundle, Buffer.from(more)]));
    const text = readFileSync(join(out, 'snapshot.json'), 'utf8');
    const named = `"/changes/2.ndjson.gz","bytes":${other.length},"sha256":"${sha256(other)}"`;
    const said = text.replace(/"\/changes\/2.ndjson.gz","bytes":\d+,"sha256":"\w+"/, named);
    const base = await instead(proxy, { '/changes/2.ndjson.gz': send(other), '/snapshot.json': send(said) });
    await run(SCRIPT, base, copy);
    expect(readdirSync(join(copy, '..')).toSorted()).toEqual(['.copy-mirror', 'copy']);
    expect(filesOf(copy)).not.toEqual(files);
  });

  it('follows no link in the copy', async () => {
    const { build, mirror, copy } = await mirrored();
    await mirror();
    await build(CHANGE);
    const elsewhere = path('elsewhere');
    renameSync(join(copy, 'api'), elsewhere);
    symlinkSync(elsewhere, join(copy, 'api'));
    const files = hashesOf(elsewhere);
    await expect(mirror()).rejects.toThrow(`${copy}/api is a link, and not of this script\n`);
    expect(hashesOf(elsewhere)).toEqual(files);
  });

  it('leaves a folder that it has not made as it is', async () => {
    const { mirror, copy } = await mirrored();
    mkdirSync(copy);
    writeFileSync(join(copy, 'diary'), 'sunny');
    await expect(mirror()).rejects.toThrow(
      `${copy} is no copy that this script has made: name another folder\n`,
    );
    expect(hashesOf(join(copy, '..'))).toEqual({ 'copy/diary': sha256('sunny') });
  });

  it('lets one run at a time work', async () => {
    const { mirror, copy } = await mirrored();
    await mirror();
    const other = openDatabase(join(stateOf(copy), 'state.sqlite'));
    onTestFinished(() => void other.close());
    other.exec('BEGIN EXCLUSIVE');
    await expect(mirror()).rejects.toThrow('database is locked: is another run at work?\n');
  });

  it.skipIf(!has('a copy that nginx serves', 'nginx'))('makes a copy that both servers serve', async () => {
    const { out, proxy, mirror, copy } = await mirrored();
    await mirror();
    const [second, nginx] = [await startProxy(copy), await startNginx(copy, path('nginx'))];
    onTestFinished(async () => {
      await second.stop();
      await nginx.stop();
    });
    const id = Object.keys(filesOf(out))
      .find((file) => file.startsWith('api/v1/group/'))
      ?.match(/\d+/g)?.[1];
    for (const url of [
      '/',
      `/api/v1/group/${id}`,
      `/group/${id}`,
      '/api/v1/largest?limit=7',
      '/downloads/groups.csv',
      '/snapshot.json',
      '/.well-known/security.txt',
    ]) {
      const there = await proxy.get(url);
      const text = await there.text();
      for (const { base } of [second, nginx]) {
        const response = await fetch(base + url);
        expect([url, response.status]).toEqual([url, 200]);
        expect(await response.text()).toBe(text);
      }
    }
    for (const { base } of [second, nginx]) expect((await fetch(`${base}/group/1`)).status).toBe(404);
  });

  it.skipIf(!has('copies through caches', 'nginx'))('says until when to wait for a cache', async () => {
    const { out, proxy, build, copy } = await mirrored();
    const cache = await nginxBefore(path, proxy, '$uri|$arg_limit|$arg_snapshot');
    const blind = await nginxBefore(path, proxy, '$uri|$arg_limit');
    onTestFinished(async () => {
      await cache.stop();
      await blind.stop();
    });
    for (const { base } of [cache, blind]) await (await fetch(`${base}/downloads/groups.csv`)).text();
    await build(CHANGE);
    await expect(run(SCRIPT, blind.base, copy)).rejects.toThrow(
      / is not that of snapshot 2: caches may have another until \S*\d\d:\d\d:\d\d/,
    );
    expect(filesOf(copy)).toEqual({});
    await run(SCRIPT, cache.base, copy);
    expect(filesOf(copy)).toEqual(filesOf(out));
  });
});
