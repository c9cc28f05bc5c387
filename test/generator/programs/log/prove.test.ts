/** Proofs of documents, checked by an implementation of the specifications that has none of the generator's code. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  hashed,
  prove,
  type ProofRequest,
  type ProofSource,
  type Proven,
} from '../../../../generator/programs/log/tlog/prove.js';
import { published } from '../../../support/build.js';
import { listening } from '../../../support/ports.js';
import { writeRegister } from '../../../support/register.js';
import { filesByUrl, inProcess, manifestOf, sha256, temporary } from '../../publish/support.js';
import { newKey } from './naive.js';
import { ORIGIN, checkpointOf, entryOf, filesOfLog, naivelyVerified, signTree } from './signed.js';

const path = temporary();
const key = newKey(ORIGIN, 1);
const out = path('dist');
const register = path('register.sqlite');
let entries: readonly string[];

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

const TREE = '0123456789abcdef';
/** 300 earlier snapshots, so that the log has two levels of tiles. */
const BEFORE = range(300).map((sequence) =>
  entryOf(TREE, sequence, null, 0, sha256(String(sequence)), sha256('snapshot.json')),
);

beforeAll(async () => {
  const readings = { first_measured_at: '2026-11-20T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
  writeRegister(register, {
    groups: range(900).map((id) => ({
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
  entries = signTree(out, key, BEFORE);
});

/** Proves a document of the tree by the command. */
async function provenBy(document: string, from = out): Promise<string> {
  const { code, stdout, stderr } = await inProcess('prove', from, document);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

describe('a proof', () => {
  it('holds for every document of a tree, and has its content if that is text of at most 1 MiB', async () => {
    expect(entries).toHaveLength(301);
    const { sequence, tree } = manifestOf(out);
    const own = /^\/(snapshot\.json|changes\/|feeds\/snapshots\.)/;
    const documents = filesByUrl(out).filter(([url]) => url !== '' && !own.test(url));
    const pages = /^\/(group|user|game|item)\/\d+$/;
    const all = documents.filter(([url]) => !pages.test(url) && url !== '/api/v1/largest');
    expect(all.length).toBeGreaterThan(2000);
    // Every document of the rarer sorts, and some of the others.
    const some = all.filter(([url], at) => !/\/(group|largest|lookup)\b/.test(url) || at % 97 === 0);
    expect(some.length).toBeGreaterThan(100);
    expect(some.map(([url]) => url)).toContain('/favicon.ico');
    const place = { index: 300, size: 301, sequence, tree: tree.id };
    for (const [url, file] of [...some, ['/api/v1/group/3', '/api/v1/group/3.json'] as const]) {
      const content = readFileSync(join(out, file));
      const proof = naivelyVerified(await provenBy(url), key);
      expect(proof).toMatchObject({ path: url, ...place, sha256: sha256(content) });
      const isText = Buffer.from(content.toString()).equals(content);
      expect(proof.body).toBe(isText && content.length <= 1024 * 1024 ? content.toString() : null);
    }
  });
});

/** Files in memory by URL path, and what was asked for. */
class Memory implements ProofSource {
  readonly files = new Map<string, Buffer>();
  readonly asked: string[] = [];
  readonly waits: number[] = [];
  /** What happens in each of the pauses. */
  duringWait: () => void = () => undefined;

  get = async (file: string) => {
    this.asked.push(file);
    return this.files.get(file);
  };
  document = async (file: string) => {
    const content = await this.get(file);
    return content && hashed(content);
  };
  wait = async (ms: number) => {
    this.waits.push(ms);
    this.duringWait();
  };
}

const LOG = `/log/${TREE}/`;
const id = { name: 'id', in: 'path' as const };
const ROUTES = [
  { name: 'stats', path: '/stats', file: 'stats.json' },
  { name: 'group', path: '/group/{id}', file: 'group/{id}.json', parameters: [id] },
  { name: 'none', path: '/none/{id}', file: 'none/{id}.json', parameters: [id] },
];
type Contents = Readonly<Record<string, string>>;

/** A tree that holds these documents, in memory. */
function memoryOf(contents: Contents, before = BEFORE.slice(0, 3), sequence = 4): Memory {
  const memory = new Memory();
  publishTo(memory, contents, before, sequence);
  return memory;
}

function publishTo(memory: Memory, contents: Contents, before: readonly string[], sequence: number): void {
  const documents = new Map(Object.entries(contents).map(([url, content]) => [url, sha256(content)]));
  const manifest = { tree: { id: TREE }, sequence, as_of: null, routes: ROUTES, documents };
  const { entries, files } = filesOfLog(manifest, before);
  files.set('checkpoint', key.note(checkpointOf(ORIGIN, entries)));
  for (const [name, content] of files) memory.files.set(LOG + name, Buffer.from(content));
  const log = { path: `/log/${TREE}`, origin: ORIGIN, keys: [key.vkey] };
  memory.files.set('/snapshot.json', Buffer.from(JSON.stringify({ sequence, log })));
  for (const [url, content] of Object.entries(contents)) memory.files.set(url, Buffer.from(content));
}

const group = (id: number): ProofRequest => ({
  path: `/group/${id}`,
  route: 'group',
  key: { value: id, parse: Number },
});
const STATS: ProofRequest = { path: '/stats', route: 'stats' };
const messageOf = async (work: Promise<Proven>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return 'no error';
};

describe('a proof from a large route', () => {
  const ids = range(200_000).map((id) => id * 7);
  let memory: Memory;
  beforeAll(() => {
    memory = memoryOf(Object.fromEntries(ids.map((id) => [`/group/${id}`, `{"id":${id}}`])));
  });

  it('holds for the first and last documents of chunks, lists and routes, and costs nine files', async () => {
    const lists = [...memory.files].filter(([name]) => /chunks-\d+\.txt$/.test(name));
    expect(lists.length).toBeGreaterThan(2);
    const firsts = lists.flatMap(([, text]) =>
      text
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => Number(line.split(' ')[0])),
    );
    // The borders of lists, and every 40th border of chunks.
    const borders = firsts.filter((_, at) => at % 256 < 2 || at % 256 > 254 || at % 40 === 0);
    for (const id of [7, 1_400_000, ...borders.flatMap((each) => [each - 7, each])].filter(
      (each) => each > 0,
    )) {
      memory.asked.length = 0;
      const { text } = await prove(group(id), memory);
      const proof = naivelyVerified(text, key);
      expect(proof).toMatchObject({ path: `/group/${id}`, body: `{"id":${id}}`, leaves: firsts.length });
      expect(memory.asked).toHaveLength(9);
    }
  });

  it.each([0, 8, 1_400_001])('says that %d is not there', async (id) => {
    expect(await messageOf(prove(group(id), memory))).toBe(`signed snapshot 4 has no document /group/${id}`);
    expect(memory.waits).toEqual([]);
  });
});

describe('while a snapshot is being published', () => {
  const OLD = { '/stats': 'old', '/group/1': 'old', '/group/2': 'same' };
  const NEW = { '/stats': 'new', '/group/1': 'new', '/group/2': 'same' };
  const next = (): Memory => memoryOf(NEW, BEFORE.slice(0, 4), 5);

  it.each([
    ['the documents', /^\/(stats|group)/],
    ['the index, too', /^\/(stats|group)|\/index\//],
  ])('and %s are new, it waits with growing pauses, and proves the new one', async (_, isNew) => {
    const memory = memoryOf(OLD);
    for (const [name, content] of next().files) if (isNew.test(name)) memory.files.set(name, content);
    memory.duringWait = () => {
      if (memory.waits.length === 2) publishTo(memory, NEW, BEFORE.slice(0, 4), 5);
    };
    const { text, sequence } = await prove(group(1), memory);
    expect(naivelyVerified(text, key)).toMatchObject({ sequence: 5, body: 'new', index: 4, size: 5 });
    expect(sequence).toBe(5);
    expect(memory.waits).toEqual([1000, 2000]);
  });

  const isOlder = 'the files of the log are of different snapshots';
  it.each([
    ['a document is newer', '/group/1', group(1), '/group/1 is not as signed snapshot 4 lists it'],
    ['the checkpoint is older than the index', `${LOG}index/routes.txt`, group(2), isOlder],
    ['a file is missing', `${LOG}checkpoint`, group(1), `${LOG}checkpoint is not there`],
    ['a listed one is gone', '/group/1', group(1), 'signed snapshot 4 lists /group/1, which is not there'],
  ])('and %s for good, it says so after five tries', async (what, name, request, message) => {
    const memory = memoryOf(OLD);
    if (/missing|gone/.test(what)) memory.files.delete(name);
    else memory.files.set(name, next().files.get(name) ?? Buffer.alloc(0));
    expect(await messageOf(prove(request, memory))).toContain(message);
    expect(memory.waits).toEqual([1000, 2000, 4000, 8000]);
  });

  it('a document that is not listed yet is said to be not yet signed', async () => {
    const memory = memoryOf(OLD);
    memory.files.set('/group/9', Buffer.from('nine'));
    expect(await messageOf(prove(group(9), memory))).toContain(
      '/group/9 is not yet in a signed snapshot (the newest is 4)',
    );
  });
});

it.each([
  [1024 * 1024, 'its content'],
  [1024 * 1024 + 1, 'its hash alone'],
])('a proof of a document of %d bytes has %s', async (bytes, what) => {
  const content = 'x'.repeat(bytes);
  const proof = naivelyVerified((await prove(STATS, memoryOf({ '/stats': content }))).text, key);
  expect(proof.sha256).toBe(sha256(content));
  expect(proof.body === content).toBe(what === 'its content');
});

describe('a log that is not sound', () => {
  const CONTENT = { '/group/1': 'one', '/stats': '{}' };

  it('is no proof if a tile was changed', async () => {
    const memory = memoryOf(CONTENT);
    const [name, tile] = [...memory.files].find(([each]) => each.includes('/tile/0/')) ?? [];
    memory.files.set(name ?? '', Buffer.from(tile ?? '').fill(1, 0, 1));
    expect(await messageOf(prove(group(1), memory))).toContain('the log is damaged');
  });

  it.each([
    ['has no log', '{}', 'the snapshots of this tree are not signed'],
    ['leads elsewhere', '{"log":{"path":"//other.example/log"}}', '/snapshot.json is invalid'],
  ])('is refused if snapshot.json %s', async (_, snapshot, message) => {
    const memory = memoryOf(CONTENT);
    memory.files.set('/snapshot.json', Buffer.from(snapshot));
    expect(await messageOf(prove(group(1), memory))).toContain(message);
  });
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
    expect(await inProcess('prove', out, '/api/v1/stats')).toMatchObject({ stdout: proof });
  });

  const NOWHERE = 'no route of documents leads to';
  it.each([
    ['/group/3', 'did you mean /api/v1/group/3?'],
    ['/api/v1/group/03', `${NOWHERE} "/api/v1/group/03"`],
    ['/../state', `${NOWHERE} "/../state"`],
    ['/api/v1/largest', 'did you mean /api/v1/largest?limit=100?'],
    ['/api/v1/group/4', 'error: signed snapshot 1 has no document /api/v1/group/4\n', 1],
  ])('refuses the path %s', async (document, message, expected = 2) => {
    const { code, stderr } = await inProcess('prove', out, document);
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  it('refuses facts without a file for the proof, and a folder without a tree', async () => {
    const facts = await inProcess('prove', out, '/api/v1/stats', '--json');
    expect(facts).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('along with --write') as unknown,
    });
    const folder = path('nothing');
    expect(await inProcess('prove', folder, '/api/v1/stats')).toMatchObject({
      code: 3,
      stderr: `error: "${folder}" is no published tree and no http or https URL\n`,
    });
  });
});

describe('the command prove over HTTP', () => {
  const asked: string[] = [];
  let server: Server;
  let base: string;
  beforeAll(async () => {
    const files = new Map(filesByUrl(out));
    server = createServer(({ url = '', headers }, response) => {
      asked.push(`${url} ${headers['user-agent']}`);
      const file = url.startsWith('/log/')
        ? url
        : (files.get(url) ?? (url === '/snapshot.json' ? url : undefined));
      if (file === undefined || !existsSync(join(out, file))) response.writeHead(404).end();
      else response.end(readFileSync(join(out, file)));
    });
    base = `http://127.0.0.1:${await listening(server)}`;
  });
  afterAll(() => server.close());

  it('asks for about ten files, and says who asks', async () => {
    const file = path('group.tlog-proof');
    asked.length = 0;
    const { code, stdout } = await inProcess('prove', base, '/api/v1/group/2700', '--write', file, '--json');
    expect(code).toBe(0);
    expect(naivelyVerified(readFileSync(file, 'utf8'), key)).toMatchObject({ path: '/api/v1/group/2700' });
    expect(JSON.parse(stdout)).toMatchObject({ requests: asked.length });
    expect(asked.length).toBeLessThanOrEqual(12);
    for (const each of asked) expect(each).toMatch(/ test\/0\.0\.0 \(prove\)$/);
  });

  it('says where there is no tree', async () => {
    const empty = createServer((_, response) => response.writeHead(404).end());
    const origin = `http://127.0.0.1:${await listening(empty)}`;
    const { code, stderr } = await inProcess('prove', origin, '/api/v1/stats');
    empty.close();
    expect([code, stderr]).toEqual([3, 'error: /snapshot.json is not there, expected a published tree\n']);
  });
});

describe('the command verify-proof', () => {
  let file: string;
  beforeAll(async () => {
    file = path('group.tlog-proof');
    writeFileSync(file, await provenBy('/api/v1/group/3'));
  });

  it('prints facts as JSON', async () => {
    const { stdout } = await inProcess('verify-proof', file, '--key', key.vkey, '--json');
    expect(JSON.parse(stdout)).toEqual({
      path: '/api/v1/group/3',
      sha256: sha256(readFileSync(join(out, 'api/v1/group/3.json'))),
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

  it('takes keys from files, and several of them', async () => {
    const keys = path('keys');
    writeFileSync(keys, `${newKey(ORIGIN, 1).vkey}\n${key.vkey}\n`);
    expect(await inProcess('verify-proof', file, '--key', keys)).toMatchObject({ code: 0 });
    const args = ['--key', newKey('monitor.example', 1).vkey, '--key', key.vkey];
    expect(await inProcess('verify-proof', file, ...args)).toMatchObject({ code: 0 });
  });

  it('says of a proof without the content how that is compared', async () => {
    const icon = path('icon.tlog-proof');
    writeFileSync(icon, await provenBy('/favicon.ico'));
    const args = ['verify-proof', icon, '--key', key.vkey];
    expect((await inProcess(...args)).stdout).toContain(
      'not in the proof: compare the document with --body\n',
    );
    expect((await inProcess(...args, '--body', join(out, 'favicon.ico'))).stdout).not.toContain('--body');
  });

  it('refuses a proof by another key in one line', async () => {
    const { code, stderr, stdout } = await inProcess('verify-proof', file, '--key', newKey(ORIGIN, 1).vkey);
    expect(stderr).toMatch(/^error: ".*" proves nothing: .*\n$/);
    expect([code, stdout]).toEqual([1, '']);
  });

  it('compares a document', async () => {
    const args = ['verify-proof', file, '--key', key.vkey, '--body'];
    expect(await inProcess(...args, join(out, 'api/v1/group/3.json'))).toMatchObject({ code: 0 });
    const { code, stderr } = await inProcess(...args, join(out, 'api/v1/group/6.json'));
    expect(stderr).toMatch(/^error: ".*" proves nothing: .*\n$/);
    expect(code).toBe(1);
  });

  it('needs a key, or a file of keys', async () => {
    const args = ['verify-proof', file];
    expect(await inProcess(...args)).toMatchObject({ code: 2 });
    expect(await inProcess(...args, '--key', 'a+0123abcd+x')).toMatchObject({ code: 2 });
    expect(await inProcess(...args, '--key', '/nowhere/at/all')).toMatchObject({ code: 3 });
    const empty = path('empty');
    writeFileSync(empty, '\n');
    expect(await inProcess(...args, '--key', empty)).toMatchObject({
      code: 2,
      stderr: `error: "${empty}" (--key) has no key, expected NAME+ID+BASE64\n`,
    });
    writeFileSync(empty, Buffer.from(`\n# café\n${key.vkey}\n`, 'latin1'));
    const { code, stderr } = await inProcess(...args, '--key', empty);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not UTF-8 at line 2, column 6')]);
    writeFileSync(empty, `\uFEFF${key.vkey}\n`);
    expect(await inProcess(...args, '--key', empty)).toMatchObject({ code: 0 });
  });
});
