/** Proofs of documents, checked by an implementation of the specifications that has none of the generator's code. */
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { hashed, prove } from '../../../generator/log/prove.js';
import type { ProofRequest, ProofSource, Proven } from '../../../generator/log/prove.js';
import { published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, filesByUrl, inProcess, manifestOf, mirrorOf, sha256, temporary } from '../publish/support.js';
import { NaiveKey, NaiveVerifier, ORIGIN, entryOf, logOf, naivelyVerified, signTree } from './signed.js';
import { naiveManifest } from './support.js';

const path = temporary();
const key = new NaiveKey();
const out = path('dist');
const register = path('register.sqlite');
let entries: readonly string[];

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** 300 earlier snapshots, so that the log has two levels of tiles. */
const BEFORE = range(300).map((sequence) =>
  entryOf('0123456789abcdef', sequence, 'none', 0, sha256(String(sequence))),
);

beforeAll(async () => {
  writeRegister(register, {
    groups: range(900).map((id) => ({
      id: id * 3,
      name: id === 1 ? 'Große Gruppe 群' : null,
      member_count: id,
    })),
    users: range(5).map((id) => ({ id: id * 1_000_000, username: `u${id}` })),
    usernames: [
      {
        user_id: 1_000_000,
        position: 1,
        username: 'u0',
        changed_at: '2026-10-02T08:00:00Z',
        first_measured_at: '2026-10-01T08:00:00Z',
        last_measured_at: '2026-10-01T08:00:00Z',
      },
      {
        user_id: 1_000_000,
        position: 2,
        username: 'u1',
        changed_at: '2026-11-02T08:00:00Z',
        first_measured_at: '2026-11-20T08:00:00Z',
        last_measured_at: '2026-11-20T08:00:00Z',
      },
    ],
  });
  await published({ register, out });
  entries = signTree(out, { key, before: BEFORE });
});

/** Proves a document of the tree by the command. */
async function provenBy(document: string, from = out): Promise<string> {
  const { code, stdout, stderr } = await inProcess('prove', from, document);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

describe('a proof', () => {
  it('holds for every document of a tree, and has its content', async () => {
    const sequence = manifestOf(out).sequence;
    const own = /^\/(snapshot\.json|changes\/|feeds\/snapshots\.)/;
    const documents = filesByUrl(out).filter(([url]) => url !== '' && !own.test(url));
    const pages = /^\/(group|user|game|item)\/\d+$/;
    const all = documents.filter(([url]) => !pages.test(url) && url !== '/api/v1/largest');
    expect(all.length).toBeGreaterThan(2000);
    // Every document of the rarer sorts, and some of the others.
    const some = all.filter(([url], at) => !/\/(group|largest|lookup)\b/.test(url) || at % 97 === 0);
    expect(some.length).toBeGreaterThan(100);
    for (const [url, file] of some) {
      const content = readFileSync(join(out, file));
      const proof = naivelyVerified(await provenBy(url), key);
      expect(proof).toMatchObject({ path: url, index: 300, size: 301, sequence, sha256: sha256(content) });
      const isText = Buffer.from(content.toString()).equals(content);
      expect(proof.body).toBe(isText && content.length <= 1024 * 1024 ? content.toString() : null);
    }
  });

  it('is of the entry that was signed', async () => {
    expect(entries).toHaveLength(301);
    const { tree, body } = naivelyVerified(await provenBy('/api/v1/group/3'), key);
    expect(tree).toBe(manifestOf(out).tree.id);
    expect(body).toContain('Große Gruppe 群');
  });

  it('has no content that is larger than 1 MiB or is no text', async () => {
    const proof = naivelyVerified(await provenBy('/favicon.ico'), key);
    expect(proof.body).toBe(null);
    expect(proof.sha256).toBe(sha256(readFileSync(join(out, 'favicon.ico'))));
  });
});

describe('the log of a tree that a build has signed', () => {
  it('has the files that the specification says, to the byte', async () => {
    const [tree, file] = [path('signed'), path('key')];
    await inProcess('keygen', '--name', ORIGIN, '--write', file);
    await published({ register, out: tree, key: [file] });
    const manifest = manifestOf(tree);
    const { files } = logOf(
      { ...manifest, documents: mirrorOf(tree) },
      { key, manifest: naiveManifest(join(tree, 'snapshot.json')) },
    );
    const folder = join(tree, 'log', manifest.tree.id);
    for (const [name, content] of Object.entries(files)) {
      // That of a checkpoint is of another key.
      const body = (text: string): string => (name === 'checkpoint' ? (text.split('\n\n')[0] ?? '') : text);
      expect(body(readFileSync(join(folder, name), 'latin1')), name).toBe(
        body(Buffer.from(content).toString('latin1')),
      );
    }
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    expect(found).toHaveLength(Object.keys(files).length);
  });
});

describe('a proof from a tree that a build has signed', () => {
  thorough('holds for every sort of document, in each of its snapshots', async () => {
    const [tree, file, rows] = [path('signed'), path('key'), path('rows.sqlite')];
    writeRegister(rows, ROWS);
    expect(await inProcess('keygen', '--name', ORIGIN, '--write', file)).toMatchObject({ code: 0 });
    const verifier = NaiveVerifier.of(readFileSync(`${file}.pub`, 'utf8').trimEnd());
    const proofs = [];
    for (const [at, name] of ['first', 'second', 'third'].entries()) {
      changeRegister(rows, `UPDATE groups SET name = '${name}' WHERE id = 2`);
      await published({ register: rows, out: tree, key: [file] });
      const inSnapshot = { index: at, size: at + 1, sequence: at + 1 };
      for (const url of ['/api/v1/stats', '/group/2/history.json', '/developers/guides/log'])
        expect(naivelyVerified(await provenBy(url, tree), verifier)).toMatchObject({
          path: url,
          ...inSnapshot,
        });
      const text = await provenBy('/api/v1/group/2', tree);
      const proof = naivelyVerified(text, verifier);
      expect(proof).toMatchObject(inSnapshot);
      expect(proof.body).toContain(name);
      proofs.push(text);
    }
    // Proofs of earlier snapshots stay valid.
    for (const [at, text] of proofs.entries()) {
      const saved = path('saved.tlog-proof');
      writeFileSync(saved, text);
      const { code, stdout } = await inProcess('verify-proof', saved, '--key', `${file}.pub`);
      expect(stdout).toContain(`/api/v1/group/2 was in snapshot ${at + 1} of ${ORIGIN}`);
      expect(code).toBe(0);
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

  add(prefix: string, files: Readonly<Record<string, string | Buffer>>): void {
    for (const [name, content] of Object.entries(files)) this.files.set(prefix + name, Buffer.from(content));
  }
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

const TREE = '0123456789abcdef';
const LOG = `/log/${TREE}/`;
const ROUTES = [
  { name: 'stats', path: '/stats', file: 'stats.json' },
  {
    name: 'group',
    path: '/group/{id}',
    file: 'group/{id}.json',
    parameters: [{ name: 'id', in: 'path' as const }],
  },
  {
    name: 'none',
    path: '/none/{id}',
    file: 'none/{id}.json',
    parameters: [{ name: 'id', in: 'path' as const }],
  },
];

/** A tree that holds these documents, in memory. */
function memoryOf(contents: ReadonlyMap<string, string>, before = BEFORE.slice(0, 3), sequence = 4): Memory {
  const memory = new Memory();
  publishTo(memory, contents, before, sequence);
  return memory;
}

function publishTo(
  memory: Memory,
  contents: ReadonlyMap<string, string>,
  before: readonly string[],
  sequence: number,
): void {
  const documents = new Map([...contents].map(([url, content]) => [url, sha256(content)]));
  const manifest = { tree: { id: TREE }, sequence, as_of: null, routes: ROUTES, documents };
  memory.add(LOG, logOf(manifest, { key, before }).files);
  memory.add('', {
    '/snapshot.json': JSON.stringify({
      sequence,
      log: { path: `/log/${TREE}`, origin: ORIGIN, keys: [key.vkey] },
    }),
  });
  for (const [url, content] of contents) memory.files.set(url, Buffer.from(content));
}

const group = (id: number): ProofRequest => ({
  path: `/group/${id}`,
  route: 'group',
  key: { value: id, of: Number },
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
    memory = memoryOf(new Map(ids.map((id) => [`/group/${id}`, `{"id":${id}}`])));
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

  it.each([0, 3, 8, 1_400_001, 9_999_999])('says that %d is not there', async (id) => {
    expect(await messageOf(prove(group(id), memory))).toBe(`signed snapshot 4 has no document /group/${id}`);
    expect(memory.waits).toEqual([]);
  });
});

describe('a proof from a log of', () => {
  it.each([1, 2, 3, 255, 256, 257, 511, 512, 513, 700])('%d entries holds', async (size) => {
    const before = range(size - 1).map((sequence) =>
      entryOf(TREE, sequence, 'none', 0, sha256(`${sequence}`)),
    );
    const memory = memoryOf(
      new Map([
        ['/stats', '{}'],
        ['/group/1', '1'],
      ]),
      before,
      size,
    );
    for (const request of [STATS, group(1)]) {
      expect(naivelyVerified((await prove(request, memory)).text, key)).toMatchObject({
        index: size - 1,
        size,
      });
    }
  });
});

describe('while a snapshot is being published', () => {
  const OLD = new Map([
    ['/stats', 'old'],
    ['/group/1', 'old'],
    ['/group/2', 'same'],
  ]);
  const NEW = new Map([
    ['/stats', 'new'],
    ['/group/1', 'new'],
    ['/group/2', 'same'],
  ]);
  const next = (): Memory => memoryOf(NEW, BEFORE.slice(0, 4), 5);

  it.each([
    ['the documents', /^\/(stats|group)/],
    ['the index, too', /^\/(stats|group)|\/index\//],
    ['all but the checkpoint', /^(?!.*\/checkpoint$)/],
    ['the checkpoint alone', /checkpoint$|tile/],
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

  it.each([
    ['a document is newer', group(1), ['/group/1'], '/group/1 is not as signed snapshot 4 lists it'],
    [
      'the only document of a route is newer',
      STATS,
      ['/stats'],
      '/stats is not as signed snapshot 4 lists it',
    ],
    [
      'the checkpoint is older than the index',
      group(2),
      [`${LOG}index/routes.txt`],
      'the files of the log are of different snapshots',
    ],
    [
      'a chunk is newer',
      group(2),
      [`${LOG}index/group/1.txt`],
      'the files of the log are of different snapshots',
    ],
  ])('and %s for good, it says so after five tries', async (_, request, names, message) => {
    const memory = memoryOf(OLD);
    for (const name of names) memory.files.set(name, next().files.get(name) ?? Buffer.alloc(0));
    expect(await messageOf(prove(request, memory))).toContain(message);
    expect(memory.waits).toEqual([1000, 2000, 4000, 8000]);
  });

  it.each([
    ['a file is missing', [`${LOG}checkpoint`], `${LOG}checkpoint is not there`],
    [
      'a document is gone that is listed',
      ['/group/1'],
      'signed snapshot 4 lists /group/1, which is not there',
    ],
  ])('and %s for good, it says so after five tries', async (_, names, message) => {
    const memory = memoryOf(OLD);
    for (const name of names) memory.files.delete(name);
    expect(await messageOf(prove(group(1), memory))).toContain(message);
    expect(memory.waits).toHaveLength(4);
  });

  it('a document that is not listed yet is said to be not yet signed', async () => {
    const memory = memoryOf(OLD);
    memory.files.set('/group/9', Buffer.from('nine'));
    expect(await messageOf(prove(group(9), memory))).toContain(
      '/group/9 is not yet in a signed snapshot (the newest is 4)',
    );
  });
});

describe('a proof of a large document', () => {
  it.each([
    [1024 * 1024, 'has its content'],
    [1024 * 1024 + 1, 'has its hash alone'],
  ])('of %d bytes %s', async (bytes, what) => {
    const content = 'x'.repeat(bytes);
    const memory = memoryOf(new Map([['/stats', content]]));
    const proof = naivelyVerified((await prove(STATS, memory)).text, key);
    expect(proof.sha256).toBe(sha256(content));
    expect(proof.body === content).toBe(what === 'has its content');
  });
});

describe('a log that is not sound', () => {
  const CONTENT = new Map([
    ['/group/1', 'one'],
    ['/stats', '{}'],
  ]);

  it('is no proof if a tile was changed', async () => {
    const memory = memoryOf(CONTENT);
    const [name, tile] = [...memory.files].find(([each]) => each.includes('/tile/0/')) ?? [];
    memory.files.set(name ?? '', Buffer.from(tile ?? '').fill(1, 0, 1));
    expect(await messageOf(prove(group(1), memory))).toContain('the log is damaged');
  });

  it.each([
    ['has no log', '{}', 'the snapshots of this tree are not signed'],
    ['is no JSON', '<', '/snapshot.json is invalid'],
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

  it('prints facts as JSON', async () => {
    const file = path('stats.tlog-proof');
    const { stdout } = await inProcess('prove', out, '/api/v1/stats', '--write', file, '--json');
    expect(JSON.parse(stdout)).toEqual({
      path: '/api/v1/stats',
      sha256: sha256(readFileSync(join(out, 'api/v1/stats.json'))),
      sequence: 1,
      index: 300,
      bytes: readFileSync(file).length,
      requests: 0,
      seconds: 0,
      peak_memory_bytes: 0,
    });
    const refused = await inProcess('prove', out, '/api/v1/stats', '--json');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--write');
  });

  it.each([
    ['/group/3', 'did you mean /api/v1/group/3?'],
    ['/api/v1/largest', 'did you mean /api/v1/largest?limit=100?'],
    ['api/v1/group/3', 'no route of documents leads to "api/v1/group/3"'],
    ['/api/v1/group/03', 'no route of documents leads to "/api/v1/group/03"'],
    ['/snapshot.json', 'no route of documents leads to "/snapshot.json"'],
    ['/../state', 'no route of documents leads to "/../state"'],
  ])('refuses the path %s', async (document, message) => {
    const { code, stderr } = await inProcess('prove', out, document);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('says which document is not published', async () => {
    const { code, stderr } = await inProcess('prove', out, '/api/v1/group/4');
    expect(stderr).toBe('error: signed snapshot 1 has no document /api/v1/group/4\n');
    expect(code).toBe(1);
  });

  it('refuses what is neither a tree nor a URL without a path', async () => {
    expect(await inProcess('prove', path('nowhere'), '/api/v1')).toMatchObject({ code: 3 });
    expect(await inProcess('prove', 'https://register.example/x', '/api/v1')).toMatchObject({ code: 2 });
  });

  thorough('refuses a log whose checkpoint is signed by another key than the tree names', async () => {
    const other = path('other');
    await published({ register, out: other });
    signTree(other, { key });
    const snapshot = readFileSync(join(other, 'snapshot.json'), 'utf8');
    writeFileSync(join(other, 'snapshot.json'), snapshot.replaceAll(key.vkey, new NaiveKey().vkey));
    const { code, stderr } = await inProcess('prove', other, '/api/v1/stats');
    expect(stderr).toContain('error: the log proves nothing: ');
    expect(code).toBe(1);
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
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
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

  it('says which document is not there', async () => {
    const { code, stderr } = await inProcess('prove', base, '/api/v1/group/4');
    expect(stderr).toBe('error: signed snapshot 1 has no document /api/v1/group/4\n');
    expect(code).toBe(1);
  });
});

describe('the command verify-proof', () => {
  let file: string;
  beforeAll(async () => {
    file = path('group.tlog-proof');
    writeFileSync(file, await provenBy('/api/v1/group/3'));
  });

  it('says what a proof proves', async () => {
    const { code, stdout } = await inProcess('verify-proof', file, '--key', key.vkey);
    expect(stdout).toContain(
      `/api/v1/group/3 was in snapshot 1 of ${ORIGIN} (register as of 2026-11-20T08:00:00Z)`,
    );
    expect(stdout).toContain(sha256(readFileSync(join(out, 'api/v1/group/3.json'))));
    expect(code).toBe(0);
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
    writeFileSync(keys, `${new NaiveKey().vkey}\n${key.vkey}\n`);
    expect(await inProcess('verify-proof', file, '--key', keys)).toMatchObject({ code: 0 });
    const args = ['--key', new NaiveKey('witness.example').vkey, '--key', key.vkey];
    expect(await inProcess('verify-proof', file, ...args)).toMatchObject({ code: 0 });
  });

  it('refuses a proof by another key in one line', async () => {
    const { code, stderr, stdout } = await inProcess('verify-proof', file, '--key', new NaiveKey().vkey);
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

  it('says that a document is not in the proof', async () => {
    const icon = path('icon.tlog-proof');
    writeFileSync(icon, await provenBy('/favicon.ico'));
    const { stdout } = await inProcess('verify-proof', icon, '--key', key.vkey);
    expect(stdout).toContain('which is not in the proof: compare the document with --body');
    const args = ['verify-proof', icon, '--key', key.vkey, '--json'];
    expect(JSON.parse((await inProcess(...args)).stdout)).toMatchObject({ body: false });
    expect(JSON.parse((await inProcess(...args, '--body', join(out, 'favicon.ico'))).stdout)).toMatchObject({
      body: true,
    });
  });

  it.each([
    ['no key', 'a+0123abcd+x', 2],
    ['a missing file', '/nowhere/at/all', 3],
  ])('refuses %s', async (_, given, expected) => {
    expect(await inProcess('verify-proof', file, '--key', given)).toMatchObject({ code: expected });
  });

  it('needs a key', async () => {
    expect(await inProcess('verify-proof', file)).toMatchObject({ code: 2 });
  });
});
