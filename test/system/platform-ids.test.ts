/** A record by the platform's own id: one more name of its file, in every place that names files. */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changesSince, type Change, type Position } from '../../clients/typescript/changes.js';
import { RegisterClient } from '../../clients/typescript/client.js';
import { sumOfAll } from '../../generator/publish/lists.js';
import { published } from '../support/build.js';
import { inputs, snapshot } from '../support/cli.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { startProxy } from '../support/proxy.js';
import { changedBy, hashesOf, indexOf, manifestOf, sha256, stateOf } from '../support/published.js';
import { changeRegister, writeRegister, type Rows } from '../support/register.js';
import { changeState, loseState } from '../support/state.js';
import { inState, pathsBelow, readTree } from '../support/tree.js';
import { fields } from '../support/values.js';
import { filesOf, run, scriptOf } from '../clients/python.js';
import { withFault } from '../generator/publish/faults.js';
import { sender, type Answer } from './contract/cases.js';
import { startNginx } from './contract/servers.js';

const path = temporary();

const T = '2026-11-20T08:00:00Z';
const LONG = 'x'.repeat(100);
/** Enough for compressed siblings. */
const TEXT = 'A club for people who bake. '.repeat(400);

/** Each id has a path. */
const PLAIN = ['1000069713101223618', 'the-Midnight_bakery.1', '-', 'a..b', LONG, 'CON', '007'];
/** None of these has. */
const UNPLAIN = ['a b', 'a/b', 'ü', '.', '..', '.hidden', 'x.json', 'x.gz', 'x.br', 'x.html', `${LONG}x`];

const ROWS: Rows = {
  groups: [
    ...[...PLAIN, ...UNPLAIN].map((id, index) => ({ id: index + 1, platform_id: id, description: 'short' })),
    { id: 40, platform_id: 'Baker' },
    { id: 41, platform_id: 'baker' },
    { id: 42, platform_id: 'SECRET' },
    // The only one of its spelling that is published.
    { id: 43, platform_id: 'secret' },
    { id: 44 },
    { id: 45, platform_id: 'long', description: TEXT },
  ],
  users: [{ id: 7, username: 'ann', platform_id: '1000069713101223618' }],
  games: [{ id: 8, name: 'A game' }],
  withheld: [{ kind: 'group', id: 42, since: T }],
};

const aliasesIn = (out: string, kind = 'group'): string[] =>
  pathsBelow(join(out, 'api/v1', kind, 'platform'), (entry) => entry.isFile());
const fileOf = (id: string): string => `api/v1/group/platform/${id}.json`;

const REFUSED = ['a%20b', 'x.json', 'x.gz', 'x.br', 'x.html', `${LONG}x`];
/** What begins with a dot is hidden, as everywhere. */
const MISSING = ['Baker', 'baker', 'SECRET', 'nobody', '.hidden'];

/** What a server answers at paths with ids of the platform. */
async function answersOf(base: string) {
  const send = sender(base);
  const get = (id: string): Promise<Answer> =>
    send(`/api/v1/group/platform/${id}`, { headers: { 'accept-encoding': 'br' } });
  const statuses: Record<string, number> = {};
  for (const id of [...PLAIN, ...MISSING, ...REFUSED]) statuses[id] = (await get(id)).status;
  const [record, alias] = [
    await send('/api/v1/group/45', { headers: { 'accept-encoding': 'br' } }),
    await get('long'),
  ];
  const { date: _, ...headers } = record.headers;
  const { date: __, ...same } = alias.headers;
  const problem = async (id: string) => fields(JSON.parse((await get(id)).body.toString()));
  return {
    statuses,
    isSame:
      isDeepStrictEqual({ ...headers, ratelimit: '' }, { ...same, ratelimit: '' }) &&
      alias.body.equals(record.body),
    coding: alias.headers['content-encoding'],
    missing: (await problem('nobody')).detail,
    refused: String((await problem('x.json')).detail).replace(/^platform_id "x.json": /, ''),
  };
}

const ANSWERS = {
  statuses: Object.fromEntries<number>([
    ...PLAIN.map((id) => [id, 200] as const),
    ...MISSING.map((id) => [id, 404] as const),
    ...REFUSED.map((id) => [id, 400] as const),
  ]),
  isSame: true,
  coding: 'br',
  missing:
    'no group with the platform id nobody has a path; if there is one all the same, /api/v1/lookup leads to it',
  refused:
    'expected 1 to 100 letters, digits, ".", "_" and "-", not beginning with "." or ending in .json, .gz, .br or .html',
};

describe('a record by the id of the platform', () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  beforeAll(async () => {
    writeRegister(register, ROWS);
    await snapshot(['build', '--quiet', ...inputs(register, out)]);
  });

  it('has its file by one more name where the id is plain, and by no other', () => {
    const plain = [...PLAIN, 'secret', 'long'].map((id) => `${id}.json`);
    expect(aliasesIn(out)).toEqual([...plain, 'long.json.br', 'long.json.gz'].toSorted());
    expect(aliasesIn(out, 'user')).toEqual(['1000069713101223618.json']);
    for (const [index, id] of PLAIN.entries()) {
      const [own, record] = [fileOf(id), `api/v1/group/${index + 1}.json`].map((file) =>
        statSync(join(out, file)),
      );
      expect([own?.ino, own?.nlink]).toEqual([record?.ino, 2]);
    }
    for (const suffix of ['', '.gz', '.br'])
      expect(statSync(join(out, `${fileOf('long')}${suffix}`)).ino).toBe(
        statSync(join(out, `api/v1/group/45.json${suffix}`)).ino,
      );
    expect(readFileSync(join(out, fileOf('long')), 'utf8')).toContain('"self":"/api/v1/group/45"');
  });

  it('follows its record in the list, which sha256sum reads, and counts once', () => {
    const lists = inState(out, 'lists');
    const lines = readFileSync(join(lists, 'group/0000000000000000.sha256'), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.endsWith('  api/v1/group/45.json'));
    expect(lines[at + 1]).toBe(`${lines[at]?.slice(0, 64)}  ${fileOf('long')}`);
    execFileSync('sh', ['-c', `cat "${lists}"/*/* | sha256sum -c --quiet`], { cwd: out });
    const all = gunzipSync(readFileSync(join(out, 'downloads/documents.sha256.gz'))).toString();
    expect(all).toContain(`${lines[at] ?? ''}\n${lines[at + 1] ?? ''}\n`);
    const { files, bytes } = manifestOf(out).tree;
    const names = pathsBelow(lists, (entry) => entry.name.endsWith('.sha256'))
      .filter((name) => !/^(snapshot|change|feed-snapshots|former)/.test(name))
      .flatMap((name) => readFileSync(join(lists, name), 'utf8').trimEnd().split('\n'))
      .map((line) => line.slice(66))
      .filter((file) => !file.includes('/platform/'));
    expect([files, bytes]).toEqual([
      names.length,
      names.reduce((sum, file) => sum + statSync(join(out, file)).size, 0),
    ]);
  });

  it('is in the index, OpenAPI and the documentation, with an example that works', () => {
    const tree = readTree(out);
    const textOf = (file: string): string => tree.get(file)?.text ?? '';
    for (const file of [
      'api/v1.json',
      'api/v1/openapi.json',
      'developers.html',
      'developers/reference/groups.html',
    ])
      expect([file, textOf(file)]).toEqual([
        file,
        expect.stringContaining('/api/v1/group/platform/{platform_id}'),
      ]);
    // No game has such an id, but games might.
    expect(textOf('api/v1.json')).toContain('/api/v1/game/platform/{platform_id}');
    const routes = z.array(z.looseObject({ name: z.string() })).parse(manifestOf(out).routes);
    expect(routes.find(({ name }) => name === 'group-by-platform-id')).toMatchObject({
      example: `/api/v1/group/platform/${PLAIN[0]}`,
      aliases: 'group',
    });
    expect(textOf('developers/explorer.html')).toContain(`"example":"${PLAIN[0]}"`);
    expect(textOf('developers/reference/groups.html')).toContain('not beginning with');
  });

  it('is named nowhere where a register has no ids of the platform', async () => {
    const without = path('without');
    const bare = writeRegister(path('bare.sqlite'), { groups: [{ id: 1 }] });
    changeRegister(bare, 'ALTER TABLE groups DROP COLUMN platform_id');
    expect(await snapshot(['build', '--quiet', ...inputs(bare, without)])).toMatchObject({ code: 0 });
    const tree = readTree(without);
    for (const file of [
      'api/v1.json',
      'api/v1/openapi.json',
      'developers.html',
      'developers/reference/groups.html',
    ])
      expect([file, tree.get(file)?.text.includes('/api/v1/group/platform')]).toEqual([file, false]);
  });

  it('is answered by the proxy', async () => {
    const proxy = await startProxy(out);
    try {
      expect(await answersOf(proxy.base)).toEqual(ANSWERS);
      const client = new RegisterClient(proxy.base);
      const found = await client.get('/api/v1/group/platform/{platform_id}', {
        platform_id: 'the-Midnight_bakery.1',
      });
      expect(found).toMatchObject({ id: 2, links: { self: '/api/v1/group/2' } });
    } finally {
      await proxy.stop();
    }
  });

  it.skipIf(!has('nginx over records by ids of the platform', 'nginx'))('is answered by nginx', async () => {
    const nginx = await startNginx(out, path('nginx'));
    try {
      expect(await answersOf(nginx.base)).toEqual(ANSWERS);
    } finally {
      await nginx.stop();
    }
  });

  it('is found by static hosts', async () => {
    const site = path('site');
    expect(await snapshot(['edge', 'headers', '--out', out, '--write', site])).toMatchObject({ code: 0 });
    expect(readFileSync(join(site, '_redirects'), 'utf8')).toContain(
      '/api/v1/group/platform/:platform_id /api/v1/group/platform/:platform_id.json 200\n',
    );
    expect(readFileSync(join(site, '_headers'), 'utf8')).toMatch(
      /^\/api\/v1\/group\/\*\n {2}Content-Type: application\/json; charset=utf-8$/m,
    );
  });
});

/** What a build changes, and what those who follow it make of that. */
const STEPS: readonly { readonly sql: string; readonly there: readonly string[] }[] = [
  { sql: '', there: ['abc', 'def', 'other'] },
  // Another id, and one that another record had.
  {
    sql: "UPDATE groups SET platform_id = 'ghi' WHERE id = 1; UPDATE groups SET platform_id = 'abc' WHERE id = 3",
    there: ['abc', 'def', 'ghi'],
  },
  // No byte of the other record changes, but that it has a path.
  {
    sql: "INSERT INTO groups (id, platform_id, measured_at) VALUES (4, 'DEF', '2026-11-20T08:00:00Z')",
    there: ['abc', 'ghi'],
  },
  { sql: `INSERT INTO withheld VALUES ('group', 4, '${T}')`, there: ['abc', 'def', 'ghi'] },
  { sql: `UPDATE groups SET description = '${TEXT}' WHERE id = 3`, there: ['abc', 'abc+', 'def', 'ghi'] },
  { sql: "UPDATE groups SET description = 'short' WHERE id = 3", there: ['abc', 'def', 'ghi'] },
  { sql: 'UPDATE groups SET platform_id = NULL WHERE id = 1', there: ['abc', 'def'] },
];

const small = (): string =>
  writeRegister(path('small.sqlite'), {
    groups: [
      { id: 1, platform_id: 'abc' },
      { id: 2, platform_id: 'def' },
      { id: 3, platform_id: 'other' },
    ],
  });

const expectedIn = (there: readonly string[]): string[] =>
  there
    .flatMap((id) =>
      id.endsWith('+') ? [`${id.slice(0, -1)}.json.br`, `${id.slice(0, -1)}.json.gz`] : [`${id}.json`],
    )
    .toSorted();

/** Builds each step at a served tree. @param check looks at the tree, by the number of the step */
async function following(check: (out: string, base: string, step: number) => Promise<void>, lists = {}) {
  const [register, out] = [small(), path('following')];
  for (const [step, { sql }] of STEPS.entries()) {
    changeRegister(register, sql);
    const at = `2026-12-01T00:00:0${step}Z`;
    await published({ register, out, acceptRemovals: true, acceptRenumbered: true, at, ...lists });
    const proxy = await startProxy(out);
    try {
      await check(out, proxy.base, step);
    } finally {
      await proxy.stop();
    }
  }
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

it('of a record follows what changes, in the tree, the lists for operators and the changes', async () => {
  const lists = { filesFrom: path('files'), deleteFrom: path('delete'), purgeList: path('purge') };
  const remote = new Map<string, string>();
  const bodies = new Map<string, string>();
  const positions: Position[] = [];
  await following(async (out, base, step) => {
    expect(aliasesIn(out)).toEqual(expectedIn(STEPS[step]?.there ?? []));
    execFileSync('sh', ['-c', `cat "${inState(out, 'lists')}"/*/* | sha256sum -c --quiet`], { cwd: out });
    expect(await snapshot(['verify', '--out', out])).toMatchObject({ code: 0 });
    const hashes = hashesOf(out);
    for (const file of linesOf(lists.filesFrom)) remote.set(file, hashes[file] ?? '');
    for (const file of linesOf(lists.deleteFrom)) remote.delete(file);
    expect(Object.fromEntries(remote)).toEqual(hashes);

    const expected = [...readTree(out)].flatMap(([file, { text }]) =>
      file.startsWith('api/v1/group/') ? [[`/${file.replace(/\.json$/, '')}`, text] as const] : [],
    );
    const position = positions.at(-1);
    if (position === undefined) for (const [name, text] of expected) bodies.set(name, text);
    else for await (const change of changesSince(new RegisterClient(base), position)) apply(bodies, change);
    const { tree, sequence, digest } = manifestOf(out);
    positions.push({ tree: tree.id, sequence, digest });
    const found = [...bodies].filter(([name]) => name.startsWith('/api/v1/group/'));
    expect([step, Object.fromEntries(found)]).toEqual([step, Object.fromEntries(expected)]);
  }, lists);
  expect(readFileSync(lists.purgeList, 'utf8')).toContain('/api/v1/group/platform/ghi\n');
});

it.skipIf(!has('mirror.py over records by ids of the platform', 'python3'))(
  'of a record is one more name of its file in a copy by mirror.py',
  async () => {
    const copy = path('copy');
    await following(async (out, base, step) => {
      expect(await run(scriptOf('mirror.py'), base, copy)).toBe('');
      expect(filesOf(copy)).toEqual(filesOf(out));
      expect(aliasesIn(copy)).toEqual(
        (STEPS[step]?.there ?? []).flatMap((id) => (id.endsWith('+') ? [] : [`${id}.json`])),
      );
      const [own, record] = [fileOf('abc'), `api/v1/group/${step === 0 ? 1 : 3}.json`].map((file) =>
        statSync(join(copy, file)),
      );
      expect(own?.ino).toBe(record?.ino);
    });
  },
);

function apply(bodies: Map<string, string>, change: Change): void {
  if (change.kind === 'put') bodies.set(change.path, change.body);
  if (change.kind === 'same') bodies.set(change.path, bodies.get(change.as) ?? '');
  if (change.kind === 'deleted') bodies.delete(change.path);
}

it('of a record that is withheld is said by nothing that is published', async () => {
  const [register, out] = [small(), path('taken-down')];
  changeRegister(register, `UPDATE groups SET platform_id = 'SECRET-1' WHERE id = 2`);
  const build = (at: string) => published({ register, out, at, acceptRemovals: true });
  await build('2026-12-01T00:00:00Z');
  expect(textsWith(out, 'SECRET-1')).toContain('downloads/documents.sha256.gz');
  // One that is deleted without being withheld is in the bundle, by which copies delete it.
  changeRegister(register, 'DELETE FROM groups WHERE id = 1');
  await build('2026-12-02T00:00:00Z');
  expect(changedBy(out, 2).delete).toContain('/api/v1/group/platform/abc');
  changeRegister(register, `INSERT INTO withheld VALUES ('group', 2, '${T}')`);
  await build('2026-12-03T00:00:00Z');
  expect(textsWith(out, 'SECRET-1')).toEqual([]);
  expect(textsWith(inState(out, ''), 'SECRET-1')).toEqual([]);
  expect(indexOf(out)).toMatchObject({ sequence: 3, oldest: 3, changes: [{ bundle: null }, {}, {}] });
  // What follows has bundles again.
  changeRegister(register, "UPDATE groups SET description = 'short' WHERE id = 3");
  await build('2026-12-04T00:00:00Z');
  expect(changedBy(out, 4).put.map(({ file }) => file)).toContain('api/v1/group/3.json');
});

/** The files whose names or contents have a text, unpacked. */
const textsWith = (folder: string, text: string): string[] =>
  pathsBelow(folder, (entry) => entry.isFile()).filter((file) => {
    const content = readFileSync(join(folder, file));
    const unpacked = file.endsWith('.gz')
      ? gunzipSync(content)
      : file.endsWith('.br')
        ? brotliDecompressSync(content)
        : content;
    return file.includes(text) || unpacked.includes(text);
  });

it('of a record is checked and repaired by verify', async () => {
  const [register, out] = [small(), path('verified')];
  changeRegister(register, `UPDATE groups SET description = '${TEXT}' WHERE id = 2`);
  await published({ register, out });
  const verify = (...options: string[]) => snapshot(['verify', '--out', out, ...options]);
  expect(await verify()).toMatchObject({ code: 0 });
  rmSync(join(out, fileOf('abc')));
  rmSync(join(out, fileOf('other')));
  writeFileSync(join(out, fileOf('other')), '{}');
  rmSync(join(out, `${fileOf('def')}.gz`));
  linkSync(join(out, 'api/v1/group/1.json'), join(out, fileOf('nobody')));
  const { code, stdout, stderr } = await verify();
  expect(code).toBe(1);
  for (const finding of [
    /missing.*platform\/abc\.json/,
    /altered.*platform\/other\.json/,
    /missing.*platform\/def\.json\.gz/,
    /extra.*platform\/nobody\.json/,
  ])
    expect(stdout + stderr).toMatch(finding);
  expect(
    await verify('--repair', `--register=${register}`, `--operator=${inputs(register, out)[0]?.slice(11)}`),
  ).toMatchObject({ code: 0 });
  expect(await verify()).toMatchObject({ code: 0 });
  expect(aliasesIn(out)).toEqual(['abc.json', 'def.json', 'def.json.br', 'def.json.gz', 'other.json']);
  expect(statSync(join(out, fileOf('abc'))).ino).toBe(statSync(join(out, 'api/v1/group/1.json')).ino);
});

it('of a record is a file of its own where the file system has no links', async () => {
  const [register, out] = [small(), path('copied')];
  changeRegister(register, `UPDATE groups SET description = '${TEXT}' WHERE id = 2`);
  let calls = 0;
  await withFault(
    ({ name }) => {
      if (name !== 'linkSync') return undefined;
      calls += 1;
      // Of the third record, some names are there before one fails.
      return calls === 3 ? undefined : Object.assign(new Error('EPERM'), { code: 'EPERM' });
    },
    () => published({ register, out }),
  );
  expect(calls).toBeGreaterThan(2);
  expect(await snapshot(['verify', '--out', out])).toMatchObject({ code: 0 });
  expect(aliasesIn(out)).toEqual(['abc.json', 'def.json', 'def.json.br', 'def.json.gz', 'other.json']);
  const [own, record] = [fileOf('def'), 'api/v1/group/2.json'].map((file) => statSync(join(out, file)));
  expect([own?.nlink, own?.mtimeMs]).toEqual([1, record?.mtimeMs]);
});

it('of a record takes the place of a name that somebody else gave its file', async () => {
  const [register, out] = [small(), path('taken')];
  changeRegister(register, "UPDATE groups SET platform_id = 'DEF' WHERE id = 1");
  await published({ register, out });
  expect(aliasesIn(out)).toEqual(['other.json']);
  mkdirSync(join(out, 'api/v1/group/platform'), { recursive: true });
  // A rename from one name of a file to another one of it does nothing.
  linkSync(join(out, 'api/v1/group/2.json'), join(out, fileOf('def')));
  changeRegister(register, `INSERT INTO withheld VALUES ('group', 1, '${T}')`);
  await published({ register, out });
  expect(aliasesIn(out)).toEqual(['def.json', 'other.json']);
  expect(await snapshot(['verify', '--out', out])).toMatchObject({ code: 0 });
});

it('of a record that lost it goes even where the state was lost', async () => {
  const [register, out] = [small(), path('lost')];
  await published({ register, out });
  loseState(out);
  changeRegister(
    register,
    "UPDATE groups SET platform_id = NULL WHERE id = 1; UPDATE groups SET platform_id = 'a-b' WHERE id = 2",
  );
  await published({ register, out, acceptRemovals: true, acceptRenumbered: true });
  expect(aliasesIn(out)).toEqual(['a-b.json', 'other.json']);
});

it('of a record is one more name of its file after an upgrade, and no document is written again', async () => {
  const [register, out] = [small(), path('upgraded')];
  changeRegister(register, `UPDATE groups SET description = '${TEXT}' WHERE id = 2`);
  const build = (): Promise<unknown> => published({ register, out });
  await build();
  const [before, documents] = [stateOf(out), join(out, 'api/v1/group')];
  // As an earlier version left it.
  rmSync(join(documents, 'platform'), { recursive: true });
  const folder = inState(out, 'lists/group');
  const list = join(folder, '0000000000000000.sha256');
  const lines = readFileSync(list, 'utf8').split('\n');
  writeFileSync(list, lines.filter((line) => !line.includes('/platform/')).join('\n'));
  const route = z.looseObject({}).parse(JSON.parse(readFileSync(join(folder, '.route.json'), 'utf8')));
  delete route['alias'];
  writeFileSync(join(folder, '.route.json'), JSON.stringify(route));
  changeState(out, (state) => ({
    ...state,
    lists: sumOfAll(inState(out, 'lists')),
    inputs: { register: null, program: '0'.repeat(64), month: '2026-12' },
  }));
  await build();
  expect(aliasesIn(out)).toEqual(['abc.json', 'def.json', 'def.json.br', 'def.json.gz', 'other.json']);
  const after = stateOf(out);
  const records = Object.keys(before).filter(
    (file) => file.startsWith('api/v1/group/') && !file.includes('platform'),
  );
  for (const file of records) expect(after[file]).toBe(before[file]);
  expect(changedBy(out, 2).put.filter(({ file }) => file.startsWith('api/v1/group/'))).toEqual(
    ['abc', 'def', 'other'].map((id, index) => ({
      path: `/api/v1/group/platform/${id}`,
      file: fileOf(id),
      ...contentOf(join(documents, `${index + 1}.json`)),
      same_as: `/api/v1/group/${index + 1}`,
    })),
  );
});

const contentOf = (file: string) => {
  const bytes = readFileSync(file);
  return { sha256: sha256(bytes), bytes: bytes.length };
};
