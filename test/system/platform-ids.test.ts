/** A record by the platform's own id: one more name of its file, in every place that names files. */
import { linkSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished } from 'vitest';
import { RegisterClient } from '../../clients/typescript/client.js';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { has } from '../support/programs.js';
import { inProcess } from '../support/in-process.js';
import { startProxy } from '../support/proxy.js';
import { snapshotOf } from '../support/published.js';
import { changeRegister, writeRegister, type Rows } from '../support/register.js';
import { Site } from '../support/site.js';
import { it, thorough } from '../support/thorough.js';
import { pathsBelow, readTree } from '../support/tree.js';
import { containing } from '../support/values.js';
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

const inodeIn = (out: string, file: string): number => statSync(join(out, file)).ino;

const REFUSED = ['a%20b', 'x.json', 'x.gz', 'x.br', 'x.html', `${LONG}x`];
/** What begins with a dot is hidden, as everywhere. */
const MISSING = ['Baker', 'baker', 'SECRET', 'nobody', '.hidden'];

/** What is the same each time. */
const lasting = ({ headers, body }: Answer) => ({ body, headers: { ...headers, date: '', ratelimit: '' } });

/** A server answers at paths with ids of the platform as it should. @returns the coding of a large record */
async function expectAnswers(base: string): Promise<unknown> {
  const send = sender(base);
  const get = (id: string): Promise<Answer> =>
    send(`/api/v1/group/${id}`, { headers: { 'accept-encoding': 'br' } });
  const bodyOf = async (id: string): Promise<unknown> =>
    JSON.parse(String((await get(`platform/${id}`)).body));
  const statuses = { 200: PLAIN, 400: REFUSED, 404: MISSING };
  for (const [status, ids] of Object.entries(statuses))
    for (const id of ids) expect([id, (await get(`platform/${id}`)).status]).toEqual([id, Number(status)]);
  const [record, alias] = [await get('45'), await get('platform/long')];
  expect(lasting(alias)).toEqual(lasting(record));
  expect(await bodyOf('nobody')).toMatchObject({
    detail:
      'no group with the platform id nobody has a path; if there is one all the same, /api/v1/lookup leads to it',
  });
  expect(await bodyOf('x.json')).toMatchObject({
    detail: containing(
      'expected 1 to 100 letters, digits, ".", "_" and "-", not beginning with "." or ending in .json, .gz, .br or .html',
    ),
  });
  return alias.headers['content-encoding'];
}

/** The files that say something of ids of the platform, but for the typed client, which all registers have. */
const namedIn = (tree: string): string[] =>
  [...readTree(tree)].flatMap(([file, { text }]) =>
    file !== 'clients/client.ts' && /platform-id\b|\/platform\//.test(file + text) ? [file] : [],
  );

describe('a record by the id of the platform', () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  beforeAll(async () => {
    writeRegister(register, ROWS);
    // By the clock of the servers, who say of no file that it was changed in the future.
    await published({ register, out, at: new Date().toISOString() });
  });

  it('has its file by one more name where the id is plain, and by no other', () => {
    const plain = [...PLAIN, 'secret', 'long'].map((id) => `${id}.json`);
    expect(aliasesIn(out)).toEqual([...plain, 'long.json.br', 'long.json.gz'].toSorted());
    expect(aliasesIn(out, 'user')).toEqual(['1000069713101223618.json']);
    for (const [index, id] of PLAIN.entries())
      expect(inodeIn(out, fileOf(id))).toBe(inodeIn(out, `api/v1/group/${index + 1}.json`));
    for (const suffix of ['', '.gz', '.br'])
      expect(inodeIn(out, fileOf('long') + suffix)).toBe(inodeIn(out, `api/v1/group/45.json${suffix}`));
    expect(readFileSync(join(out, fileOf('long')), 'utf8')).toContain('"self":"/api/v1/group/45"');
  });

  it('is named in the index, OpenAPI and the documentation, unless a register has no ids of the platform', async () => {
    const [bare, without] = [writeRegister(path('bare.sqlite'), { groups: [{ id: 1 }] }), path('without')];
    for (const table of ['groups', 'users', 'games', 'items'])
      changeRegister(bare, `ALTER TABLE ${table} DROP COLUMN platform_id`);
    await published({ register: bare, out: without });
    // The description has the shape of /api/v1/lookup, with example values.
    expect(namedIn(without)).toEqual(['api/v1/openapi.json', 'snapshot.json']);
    expect(namedIn(out)).toEqual(
      expect.arrayContaining(['api/v1.json', 'developers.html', 'developers/reference/groups.html']),
    );
    // No game has such an id, but games might.
    expect(readFileSync(join(out, 'api/v1.json'), 'utf8')).toContain('/api/v1/game/platform/{platform_id}');
    expect(snapshotOf(out).routes.find(({ name }) => name === 'group-by-platform-id')).toMatchObject({
      example: `/api/v1/group/platform/${PLAIN[0]}`,
    });
  });

  it('is answered by the proxy', async () => {
    const { base, stop } = await startProxy(out);
    onTestFinished(async () => void (await stop()));
    expect(await expectAnswers(base)).toBe('br');
    const id = { platform_id: 'the-Midnight_bakery.1' };
    const found = await new RegisterClient(base).get('/api/v1/group/platform/{platform_id}', id);
    expect(found).toMatchObject({ id: 2, links: { self: '/api/v1/group/2' } });
  });

  it('is answered by nginx', async ({ skip }) => {
    skip(!has('nginx over records by ids of the platform', 'nginx'));
    const nginx = await startNginx(out, path('nginx'));
    onTestFinished(nginx.stop);
    expect(await expectAnswers(nginx.base)).toBe('br');
  });
});

/** What a build changes, and the paths that there are then. */
const STEPS: readonly (readonly [sql: string, files: string])[] = [
  ['', 'abc.json def.json other.json'],
  // Another id, and one that another record had, which gets siblings.
  [
    `UPDATE groups SET platform_id = 'ghi' WHERE id = 1;
     UPDATE groups SET platform_id = 'abc', description = '${TEXT}' WHERE id = 3`,
    'abc.json abc.json.br abc.json.gz def.json ghi.json',
  ],
  // No byte of the other record changes, but that it has a path.
  [
    `INSERT INTO groups (id, platform_id, measured_at) VALUES (4, 'DEF', '2026-11-20T08:00:00Z');
     UPDATE groups SET platform_id = NULL WHERE id = 1; UPDATE groups SET description = 'short' WHERE id = 3`,
    'abc.json',
  ],
  [`INSERT INTO withheld VALUES ('group', 4, '${T}')`, 'abc.json def.json'],
];

const small = (): string =>
  writeRegister(path('small.sqlite'), {
    groups: ['abc', 'def', 'other'].map((platform_id, index) => ({ id: index + 1, platform_id })),
  });

thorough('of a record follows what changes', async () => {
  const site = new Site(small(), path('following'));
  for (const [step, [sql, files]] of STEPS.entries()) {
    // Somebody else gives the file the name that it gets: a rename from one name of a file to another does nothing.
    if (step === 3) linkSync(join(site.out, 'api/v1/group/2.json'), join(site.out, fileOf('def')));
    await site.build(sql);
    expect(aliasesIn(site.out).join(' ')).toBe(files);
    expect(await inProcess('verify', '--out', site.out)).toMatchObject({ code: 0 });
  }
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
  expect(await inProcess('verify', '--out', out)).toMatchObject({ code: 0 });
  expect(aliasesIn(out)).toEqual(['abc.json', 'def.json', 'def.json.br', 'def.json.gz', 'other.json']);
  const [own, record] = [fileOf('def'), 'api/v1/group/2.json'].map((file) => statSync(join(out, file)));
  expect([own?.nlink, own?.mtimeMs]).toEqual([1, record?.mtimeMs]);
});
