/** Proofs of documents, checked by an implementation of the specifications that has none of the generator's code. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { prove } from '../../../../generator/programs/log/tlog/prove.js';
import { published } from '../../../support/build.js';
import { listenOn } from '../../../support/ports.js';
import { writeRegister } from '../../../support/register.js';
import { containing, matching } from '../../../support/values.js';
import { failureOf, filesByUrl, inProcess, manifestOf, sha256, temporary } from '../../publish/support.js';
import { LOG, Memory, STATS, group, key, range, snapshotsBefore } from './memory.js';
import { newKey } from './naive.js';
import { ORIGIN, naivelyVerified, signTree } from './signed.js';

const path = temporary();
const out = path('dist');
let entries: readonly string[];

beforeAll(async () => {
  const readings = { first_measured_at: '2026-11-20T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
  const register = writeRegister(path('register.sqlite'), {
    groups: range(470).map((id) => ({
      id: id * 3,
      name: id === 1 ? 'Große Gruppe 群' : null,
      member_count: id,
    })),
    users: range(5).map((id) => ({ id: id * 1_000_000, username: `u${id}` })),
    usernames: ['10', '11'].map((month, at) => ({
      ...readings,
      user_id: 1_000_000,
      position: at + 1,
      username: `u${at}`,
      changed_at: `2026-${month}-02T08:00:00Z`,
    })),
  });
  await published({ register, out });
  entries = signTree(out, key, snapshotsBefore(300));
});

const bodyOf = (id: number): string => join(out, `api/v1/group/${id}.json`);

/** Proves a document of the tree by the command. */
async function provenBy(document: string): Promise<string> {
  const { code, stdout, stderr } = await inProcess('prove', out, document);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

it('a proof holds for every document of a tree, and has its content if that is text', async () => {
  expect(entries).toHaveLength(301);
  const { sequence, tree } = manifestOf(out);
  const own = /^\/(snapshot\.json|changes\/|feeds\/snapshots\.)|^$/;
  const pages = /^\/(group|user|game|item)\/\d+$|^\/api\/v1\/largest$/;
  const all = filesByUrl(out).filter(([url]) => !own.test(url) && !pages.test(url));
  expect(all.length).toBeGreaterThan(1000);
  // Every document of the rarer sorts, and some of the others.
  const some = all.filter(
    ([url], at) => !/\/(group|largest|lookup)\b/.test(url) || at % 47 === 0 || url === '/api/v1/group/3',
  );
  expect(some.length).toBeGreaterThan(100);
  expect(some.map(([url]) => url)).toContain('/favicon.ico');
  const place = { index: 300, size: 301, sequence, tree: tree.id };
  for (const [url, file] of some) {
    const content = readFileSync(join(out, file));
    const proof = naivelyVerified(await provenBy(url), key);
    expect(proof).toMatchObject({ path: url, ...place, sha256: sha256(content) });
    const isText = Buffer.from(content.toString()).equals(content);
    expect(proof.body).toBe(isText && content.length <= 1024 * 1024 ? content.toString() : null);
  }
});

it.each([
  [1024 * 1024, 'its content'],
  [1024 * 1024 + 1, 'its hash alone'],
])('a proof of a document of %d bytes has %s', async (bytes, what) => {
  const content = 'x'.repeat(bytes);
  const proof = naivelyVerified((await prove(STATS, new Memory({ '/stats': content }))).text, key);
  expect(proof.sha256).toBe(sha256(content));
  expect(proof.body === content).toBe(what === 'its content');
});

it('a proof from a large route holds for the first and last documents of chunks, lists and routes, and costs nine files', async () => {
  const ids = range(140_000).map((id) => id * 7);
  const memory = new Memory(Object.fromEntries(ids.map((id) => [`/group/${id}`, `{"id":${id}}`])));
  const lists = [...memory.files].filter(([name]) => /chunks-\d+\.txt$/.test(name));
  expect(lists.length).toBeGreaterThan(2);
  const firsts = lists.flatMap(([, text]) => text.toString().match(/^\d+(?= )/gm) ?? []).map(Number);
  // The borders of lists, and every 40th border of chunks.
  const borders = firsts.filter((_, at) => at % 256 < 2 || at % 256 > 254 || at % 40 === 0);
  const some = [7, ids.at(-1)!, ...borders.flatMap((each) => [each - 7, each])].filter((each) => each > 0);
  for (const id of some) {
    memory.asked.length = 0;
    const proof = naivelyVerified((await prove(group(id), memory)).text, key);
    expect(proof).toMatchObject({ path: `/group/${id}`, body: `{"id":${id}}`, leaves: firsts.length });
    expect(memory.asked).toHaveLength(9);
  }
  for (const id of [0, 8, ids.at(-1)! + 1]) {
    const { message } = await failureOf(prove(group(id), memory));
    expect(message).toBe(`signed snapshot 4 has no document /group/${id}`);
  }
  expect(memory.waits).toEqual([]);
});

describe('while a snapshot is being published', () => {
  const OLD = { '/stats': 'old', '/group/1': 'old', '/group/2': 'same' };
  const NEW = { '/stats': 'new', '/group/1': 'new', '/group/2': 'same' };
  const next = new Memory(NEW, 5);

  it.each([
    ['the documents', /^\/(stats|group)/],
    ['the index, too', /^\/(stats|group)|\/index\//],
  ])('and %s are new, it waits with growing pauses, and proves the new one', async (_, isNew) => {
    const memory = new Memory(OLD);
    for (const [name, content] of next.files) if (isNew.test(name)) memory.files.set(name, content);
    memory.duringWait = () => {
      if (memory.waits.length === 2) memory.publish(NEW, 5);
    };
    const { text, sequence } = await prove(group(1), memory);
    expect(naivelyVerified(text, key)).toMatchObject({ sequence: 5, body: 'new', index: 4, size: 5 });
    expect([sequence, memory.waits]).toEqual([5, [1000, 2000]]);
  });

  const isOlder = 'the files of the log are of different snapshots';
  it.each([
    ['a document is newer', '/group/1', group(1), '/group/1 is not as signed snapshot 4 lists it'],
    ['the checkpoint is older than the index', `${LOG}index/routes.txt`, group(2), isOlder],
    ['a document is not listed', '/group/9', group(9), 'is not yet in a signed snapshot (the newest is 4)'],
    ['a file is missing', `${LOG}checkpoint`, group(1), `${LOG}checkpoint is not there`],
    ['a listed one is gone', '/group/1', group(1), 'signed snapshot 4 lists /group/1, which is not there'],
  ])('and %s for good, it says so after five tries', async (what, name, request, message) => {
    const memory = new Memory(OLD);
    if (/missing|gone/.test(what)) memory.files.delete(name);
    else memory.files.set(name, next.files.get(name) ?? Buffer.alloc(0));
    expect((await failureOf(prove(request, memory))).message).toContain(message);
    expect(memory.waits).toEqual([1000, 2000, 4000, 8000]);
  });
});

it.each<[string, (files: Map<string, Buffer>) => unknown, string]>([
  [
    'a tile was changed',
    (files) => files.get(`${LOG}tile/0/000.p/4`)?.fill(1, 0, 1),
    'the log is damaged: its tiles',
  ],
  [
    'there is no log',
    (files) => files.set('/snapshot.json', Buffer.from('{}')),
    'the snapshots of this tree are not signed',
  ],
  [
    'the log is elsewhere',
    (files) => files.set('/snapshot.json', Buffer.from('{"log":{"path":"//other.example/log"}}')),
    '/snapshot.json is invalid',
  ],
])('nothing is proved if %s', async (_, spoil, message) => {
  const memory = new Memory({ '/group/1': 'one', '/stats': '{}' });
  spoil(memory.files);
  expect((await failureOf(prove(group(1), memory))).message).toContain(message);
});

describe('the command prove', () => {
  it('writes the file, and says how it is verified', async () => {
    const file = path('stats.tlog-proof');
    const { code, stdout } = await inProcess('prove', out, '/api/v1/stats', '--write', file);
    const proof = readFileSync(file, 'utf8');
    expect(naivelyVerified(proof, key).path).toBe('/api/v1/stats');
    expect(code).toBe(0);
    expect(stdout).toContain(`${file} proves /api/v1/stats in signed snapshot 1 of ${ORIGIN}`);
    expect(stdout).toContain(`verify-proof ${file} --key KEY`);
    expect(await provenBy('/api/v1/stats')).toBe(proof);
  });

  const NOWHERE = 'no route of documents leads to';
  const nothing = path('nothing');
  it.each([
    [2, '/group/3', 'did you mean /api/v1/group/3?'],
    [2, '/api/v1/group/03', `${NOWHERE} "/api/v1/group/03"`],
    [2, '/../state', `${NOWHERE} "/../state"`],
    [2, '/api/v1/largest', 'did you mean /api/v1/largest?limit=100?'],
    [1, '/api/v1/group/4', 'error: signed snapshot 1 has no document /api/v1/group/4\n'],
    [2, '/api/v1/stats', 'along with --write', ['--json']],
    [3, '/api/v1/stats', `error: "${nothing}" is no published tree and no http or https URL\n`, [], nothing],
  ])('ends with %d for the path %s: %s', async (expected, document, message, options = [], tree = out) => {
    const { code, stdout, stderr } = await inProcess('prove', tree, document, ...options);
    expect([code, stdout, stderr]).toEqual([expected, '', containing(message)]);
  });

  it('over HTTP asks for about ten files, says who asks, and where there is no tree', async () => {
    const files = new Map(filesByUrl(out));
    const asked: string[] = [];
    const server = createServer(({ url = '', headers }, response) => {
      asked.push(`${url} ${headers['user-agent']}`);
      const file = /^\/log\/|^\/snapshot\.json$/.test(url) ? url : (files.get(url) ?? 'none');
      if (existsSync(join(out, file))) response.end(readFileSync(join(out, file)));
      else response.writeHead(404).end();
    });
    const base = `http://127.0.0.1:${await listenOn(server)}`;
    const proof = path('group.tlog-proof');
    const document = '/api/v1/group/1404';
    const { code, stdout } = await inProcess('prove', base, document, '--write', proof, '--json');
    expect(code).toBe(0);
    expect(naivelyVerified(readFileSync(proof, 'utf8'), key)).toMatchObject({ path: document });
    expect(JSON.parse(stdout)).toMatchObject({ requests: asked.length });
    expect(asked.length).toBeLessThanOrEqual(12);
    for (const each of asked) expect(each).toMatch(/ test\/0\.0\.0 \(prove\)$/);
    const empty = createServer((_, response) => response.writeHead(404).end());
    const origin = `http://127.0.0.1:${await listenOn(empty)}`;
    const none = { code: 3, stderr: 'error: /snapshot.json is not there, expected a published tree\n' };
    expect(await inProcess('prove', origin, '/api/v1/stats')).toMatchObject(none);
  });
});

describe('the command verify-proof', () => {
  const file = path('group.tlog-proof');
  beforeAll(async () => writeFileSync(file, await provenBy('/api/v1/group/3')));
  const verified = (...args: readonly string[]) => inProcess('verify-proof', file, ...args);
  const NOTHING = { code: 1, stdout: '', stderr: matching(/^error: ".*" proves nothing: .*\n$/) };

  it('prints facts as JSON', async () => {
    const { stdout } = await verified('--key', key.vkey, '--json');
    expect(JSON.parse(stdout)).toEqual({
      path: '/api/v1/group/3',
      sha256: sha256(readFileSync(bodyOf(3))),
      tree: manifestOf(out).tree.id,
      sequence: 1,
      as_of: '2026-11-20T08:00:00Z',
      origin: ORIGIN,
      index: 300,
      signed_by: [key.vkey.slice(0, ORIGIN.length + 9)],
      body: true,
      seconds: 0,
      peak_memory_bytes: 0,
    });
  });

  it('refuses another key or document in one line, also where the proof is without the content', async () => {
    expect(await verified('--key', newKey(ORIGIN, 1).vkey)).toEqual(NOTHING);
    expect(await verified('--key', key.vkey, '--body', bodyOf(3))).toMatchObject({ code: 0 });
    expect(await verified('--key', key.vkey, '--body', bodyOf(6))).toEqual(NOTHING);
    const icon = path('icon.tlog-proof');
    writeFileSync(icon, await provenBy('/favicon.ico'));
    const args = ['verify-proof', icon, '--key', key.vkey];
    const { stdout } = await inProcess(...args);
    expect(stdout).toContain('not in the proof: compare the document with --body\n');
    expect((await inProcess(...args, '--body', join(out, 'favicon.ico'))).stdout).not.toContain('--body');
    expect(await inProcess(...args, '--body', bodyOf(3))).toEqual(NOTHING);
  });

  const [keys, empty, latin1] = [path('keys'), path('empty'), path('latin1')];
  writeFileSync(keys, `\uFEFF${newKey(ORIGIN, 1).vkey}\n${key.vkey}\n`);
  writeFileSync(empty, '\n');
  writeFileSync(latin1, Buffer.from(`\n# café\n${key.vkey}\n`, 'latin1'));
  it.each<[code: number, given: readonly string[], message: string]>([
    [0, [keys], ''],
    [0, [newKey('monitor.example', 1).vkey, key.vkey], ''],
    [2, [], '--key'],
    [2, ['a+0123abcd+x'], '--key'],
    [3, ['/nowhere/at/all'], '/nowhere/at/all'],
    [2, [empty], `error: "${empty}" (--key) has no key, expected NAME+ID+BASE64\n`],
    [2, [latin1], 'is not UTF-8 at line 2, column 6'],
  ])('ends with %d if its keys, or files of them, are %j', async (expected, given, message) => {
    const { code, stderr } = await verified(...given.flatMap((each) => ['--key', each]));
    expect([code, stderr]).toEqual([expected, containing(message)]);
  });
});
