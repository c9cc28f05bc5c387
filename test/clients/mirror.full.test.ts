/** The script that keeps a copy of the files of a tree, against real trees through the real proxy. */
import { mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { hashesOf, sha256 } from '../support/published.js';
import { changeRegister } from '../support/register.js';
import { CHANGE, before, filesOf, following, instead, nth, run, scriptOf, scriptWith } from './python.js';

const path = temporary();
const newSite = following(path);
const SCRIPT = scriptOf('mirror.py');

async function mirrored() {
  const site = await newSite();
  const copy = join(path('place'), 'copy');
  mkdirSync(join(copy, '..'));
  const mirror = (to = copy): Promise<string> => run(SCRIPT, site.proxy.base, to);
  return { ...site, copy, mirror };
}

const stateOf = (copy: string): string => copy.replace(/copy$/, '.copy-mirror');

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

/** What snapshot.json says of a file that is another. */
const naming = (manifest: string, file: string, content: Buffer): string =>
  manifest.replace(
    new RegExp(`"${file}","bytes":\\d+,"sha256":"\\w+"`),
    `"${file}","bytes":${content.length},"sha256":"${sha256(content)}"`,
  );

describe.skipIf(!has('the script in Python that copies files', 'python3'))('mirror.py', () => {
  it('keeps assets as long as the service has them, whatever the page names', async () => {
    const { out, build, mirror, copy } = await mirrored();
    await mirror();
    // As if an earlier version had had another style sheet.
    const name = 'assets/style-0123456789.css';
    const held = `INSERT INTO held VALUES ('${name}', '${sha256('a')}'), ('${name.replace('0', '1')}', '${sha256('b')}')`;
    changeRegister(join(stateOf(copy), 'state.sqlite'), held);
    writeFileSync(join(copy, name), 'a');
    writeFileSync(join(copy, name.replace('0', '1')), 'b');
    writeFileSync(join(out, name), 'a');
    await build(CHANGE);
    await mirror();
    expect(filesOf(copy)).toEqual({ ...filesOf(out), [name]: sha256('a') });
  });

  it('ended by kill -9 at a request or a move leaves what the next run completes', async () => {
    const { out, proxy, build, mirror, copy } = await mirrored();
    const asked: string[] = [];
    const base = await before(proxy, ({ url = '' }) => {
      if (url.startsWith('/downloads/')) asked.push(url);
      return false;
    });
    const killed = async (script: string): Promise<void> => {
      await expect(run(script, base, copy)).rejects.toThrow(/^$/);
    };
    for (const times of [0, 5, 30]) await killed(dying('opener.open', times));
    // Nothing is moved before everything is there.
    expect(filesOf(copy)).toEqual({});
    for (const times of [0, 400]) await killed(dying('os.replace', times));
    await killed(dying('shutil.rmtree', 0));
    await mirror();
    // What was there is not fetched again.
    expect(asked).toEqual([...new Set(asked)]);
    const old = filesOf(copy);
    expect(old).toEqual(filesOf(out));
    await build(`${CHANGE} DELETE FROM games WHERE id = ${nth('games', 5)}`);
    const next = filesOf(out);
    for (const times of [1, 20]) await killed(dying('opener.open', times));
    expect(filesOf(copy)).toEqual(old);
    await killed(dying('os.remove', 0));
    for (const times of [0, 10]) {
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

  it('takes no route that leads out, or to another host', async () => {
    const { out, proxy, copy } = await mirrored();
    const text = readFileSync(join(out, 'snapshot.json'), 'utf8');
    for (const [url, file] of [
      ['/a', '../a'],
      ['/a', '/tmp/a'],
      ['/a', '.ssh/a'],
      ['/a', 'a/../../a'],
      ['/a', '.well-known/../a'],
      ['/a/{id}', '{id}/../../a'],
      ['@127.0.0.1/a', 'a'],
    ]) {
      const route = JSON.stringify({ name: 'a', path: url, file });
      const base = await instead(proxy, {
        '/snapshot.json': send(text.replace('"routes":[', `$&${route},`)),
      });
      await expect(run(SCRIPT, base, copy)).rejects.toThrow('which are no plain paths\n');
      expect(Object.keys(filesOf(join(copy, '..')))).toEqual(['.copy-mirror/state.sqlite']);
    }
    for (const file of ['/../a', '//tmp/a', '/nothing']) {
      const named = JSON.stringify({ file, sha256: sha256('a'), bytes: 1 });
      const base = await instead(proxy, { '/snapshot.json': send(text.replace('"files":[', `$&${named},`)) });
      await expect(run(SCRIPT, base, copy)).rejects.toThrow('to which no route leads\n');
      expect(Object.keys(filesOf(join(copy, '..')))).toEqual(['.copy-mirror/state.sqlite']);
    }
  });

  it('ends with a sentence where a service sends too much, too little or something else', async () => {
    const { out, proxy } = await mirrored();
    const text = readFileSync(join(out, 'snapshot.json'), 'utf8');
    const list = gzipSync(`${'0'.repeat(64)}  api/v1/group/1.json\n`.repeat(100));
    const half = list.subarray(9);
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 1 });
    const LIST = '/downloads/documents.sha256.gz';
    const megabytes = endless(Buffer.alloc(1 << 20));
    const cases: readonly [string, (response: ServerResponse) => void, string, (Buffer | string)?][] = [
      ['/snapshot.json', endless(' '.repeat(65536)), 'Expecting value'],
      ['/downloads/users.csv', megabytes, 'is not that of snapshot 1'],
      ['/developers', send('other'), 'is not that of snapshot 1'],
      ['/developers', redirect, 'HTTP Error 302'],
      [LIST, send(list), 'the documents are not those of snapshot 1', list],
      [LIST, send(bomb), `${LIST} has a line of`, bomb],
      [LIST, send(half), `${LIST}: Not a gzipped file`, half],
      ['/none', () => undefined, 'given up after 1000 bytes', 'MOST = 1000'],
      ['/developers', () => undefined, 'timed out', 'SILENCE = 0.5'],
      ['/developers', drip, 'given up after 2 seconds', 'WHOLE = 2'],
    ];
    for (const [url, answer, why, extra = ''] of cases) {
      const [content, constants] = typeof extra === 'string' ? [undefined, extra] : [extra, ''];
      const manifest = content === undefined ? text : naming(text, url, content);
      const base = await instead(proxy, { '/snapshot.json': send(manifest), [url]: answer });
      const copy = path('copy');
      const said = await run(scriptWith(path, 'mirror.py', constants), base, copy).catch(String);
      expect(said).toContain(why);
      expect(said.trimEnd().split('\n')).toHaveLength(1);
      expect(filesOf(copy)).toEqual({});
    }
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
    const said = naming(text, '/changes/2.ndjson.gz', other);
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
});
