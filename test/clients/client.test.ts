/** The typed client against the real proxy, and against servers that misbehave. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, expectTypeOf, onTestFinished, vi } from 'vitest';
import { it, thorough } from '../support/thorough.js';
import { TYPES_FILE, clientTypes } from '../../clients/generate.js';
import {
  ProblemError,
  ResponseError,
  type Document,
  type RegisterClient,
} from '../../clients/typescript/client.js';
import { beginsChunk } from '../../generator/base/chunks.js';
import { PROJECT, newFolder, temporary } from '../support/folder.js';
import { startProxy } from '../support/proxy.js';
import { siteOf } from '../support/site.js';
import { gate } from '../proxy/support.js';
import { endsProxies, proxied, rejectionOf, served } from './support.js';

const path = temporary();
endsProxies();

/** Ids of which each begins a page of ids, and of names. */
const BORDERS = Array.from({ length: 40_000 }, (_, at) => at + 1000).filter((id) => beginsChunk(id, 4096));
/** Names are in the order of ids. */
const USERS = [...Array.from({ length: 200 }, (_, index) => 1 + index), ...BORDERS].map((id) => ({
  id,
  username: `User_${String(id).padStart(5, '0')}`,
}));
const GROUPS = [
  { id: 7, name: 'seven', state: 'locked', member_count: 5, owner_state: 'none' },
  { id: 8, name: 'eight', member_count: 9 },
];

const { out } = await siteOf(path, {
  groups: [
    ...GROUPS,
    { id: 15, name: 'Ask Reddit', member_count: 1 },
    { id: 16, name: 'ask, gone', state: 'deleted' },
  ],
  group_member_readings: [{ group_id: 7, measured_at: '2026-11-20T08:00:00Z', member_count: 5 }],
  users: USERS,
  // Who was called otherwise.
  usernames: ['AskRed', 'User_00043'].map((username, index) => ({
    user_id: 43,
    position: index + 1,
    username,
    first_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
    last_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
  })),
});

/** Answers each request with the next of these; the last again and again. */
function answering(...answers: readonly RequestListener[]): RequestListener {
  let turn = 0;
  return (request, response) => {
    answers[Math.min(turn++, answers.length - 1)]?.(request, response);
  };
}
const answer =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
const HERE = answer(200, 'application/json', '{"name":"here"}');
const lost: RequestListener = (request) => request.socket.destroy();
const refusal = (status: number, headers: Record<string, string> = {}): RequestListener =>
  answer(status, 'text/html', '<h1>busy</h1>', headers);

/** Requests that are compiled, and not made. */
export const uncalled = (client: RegisterClient) => [
  client.get('/api/v1/largest'),
  client.get('/api/v1/largest', {}),
  client.get('/api/v1/largest', { limit: 3 }),
  // @ts-expect-error the id is missing
  client.get('/api/v1/group/{id}'),
  // @ts-expect-error another name
  client.get('/api/v1/group/{id}', { group: 7 }),
  // @ts-expect-error no such path
  client.get('/api/v1/groups'),
  // @ts-expect-error no JSON: it is for `fetch`
  client.get('/.well-known/api-catalog'),
];

const download = (client: RegisterClient) => client.fetch('/downloads/groups.csv');

/** Has each wait for a second end at once, until the test does. @returns them in ms */
function skippedSeconds(): number[] {
  const waits: number[] = [];
  const { setTimeout } = globalThis;
  vi.stubGlobal('setTimeout', (call: () => void, ms: number) => {
    if (ms !== 1000) return setTimeout(call, ms);
    waits.push(ms);
    return setTimeout(call);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return waits;
}

describe('the types of the client', () => {
  it('are those of the description of today; if not: npm run client', async () => {
    expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await clientTypes());
  });

  it('are open where words may be added, and closed where parameters are', () => {
    type Group = Document<'/api/v1/group/{id}'>;
    const [known, unknown]: Group['state'][] = ['locked', 'lost'];
    expect([known, unknown]).toEqual(['locked', 'lost']);
    expectTypeOf<Group['member_count']>().toEqualTypeOf<number | null>();
    expectTypeOf<Group['id']>().toEqualTypeOf<number>();
    expectTypeOf<Group['owner']>().toExtend<{ readonly name: string | null } | null>();
    expectTypeOf<ReturnType<typeof download>>().toEqualTypeOf<Promise<Response>>();
    expect(readFileSync(TYPES_FILE, 'utf8')).toContain(
      `readonly state: 'present' | 'locked' | 'deleted' | (string & {}) | null;`,
    );
  });
});

describe('get', () => {
  it('returns documents by path and query', async () => {
    const { client } = await proxied(out);
    expect(await client.get('/api/v1/group/{id}', { id: 7 })).toMatchObject({
      name: 'seven',
      state: 'locked',
      owner_state: 'none',
    });
    const { limit, groups } = await client.get('/api/v1/largest', { limit: 1 });
    expect([limit, groups.map(({ id }) => id)]).toEqual([1, [8]]);
    expect((await client.get('/api/v1/largest')).limit).toBe(100);
    const { members, links } = await client.get('/group/{id}/history.json', { id: 7 });
    expect(members).toEqual([{ measured_at: '2026-11-20T08:00:00Z', member_count: 5 }]);
    expect(await (await client.fetch(links.group)).json()).toMatchObject({ id: 7 });
    const csv = await (await client.fetch('/downloads/groups.csv')).text();
    expect(csv.split('\r\n')[1]).toMatch(/^7,seven,locked,/);
  });

  it('throws the problem of an error, with its code', async () => {
    const { client, statuses } = await proxied(out);
    const error = await rejectionOf(client.get('/api/v1/group/{id}', { id: 9 }));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 404,
      code: 'not_found',
      problem: { detail: 'no group 9 in this register', instance: '/api/v1/group/9' },
    });
    expect(await rejectionOf(client.get('/api/v1/largest', { limit: 900 }))).toMatchObject({
      status: 400,
      code: 'invalid_limit',
    });
    expect(statuses).toEqual([404, 400]);
    // @ts-expect-error what JavaScript may do
    const forgotten: Promise<unknown> = client.get('/api/v1/group/{id}', {});
    expect(await rejectionOf(forgotten)).toBeInstanceOf(TypeError);
    expect(statuses).toHaveLength(2);
  });

  it('asks with the ETag of what it has in memory', async () => {
    const { client, statuses } = await proxied(out);
    const first = await client.get('/api/v1/stats');
    const second = await client.get('/api/v1/stats');
    expect(second).toEqual(first);
    // Whoever changes a document changes no other.
    expect(second).not.toBe(first);
    expect(statuses).toEqual([200, 304]);
  });

  thorough('keeps no more in memory than it may: the least recently used goes first', async () => {
    const both = [7, 8]
      .map((id) => readFileSync(join(out, `api/v1/group/${id}.json`), 'utf8'))
      .join('').length;
    for (const [cacheCharacters, ids, expected] of [
      [both, [7, 8, 7, 8], [200, 200, 304, 304]],
      [both - 1, [7, 7, 8, 8, 7], [200, 304, 200, 304, 200]],
      [0, [7, 7], [200, 200]],
    ] as const) {
      const { client, statuses } = await proxied(out, { cacheCharacters });
      for (const id of ids) await client.get('/api/v1/group/{id}', { id });
      expect(statuses).toEqual(expected);
    }
  });
});

const idsOf = async (client: RegisterClient): Promise<number[]> => {
  const ids: number[] = [];
  for await (const id of client.ids('user')) ids.push(id);
  return ids;
};

describe('find', () => {
  it('finds names of all kinds by their beginnings, in three requests at most', async () => {
    const { client, paths } = await proxied(out);
    expect((await client.get('/api/v1/lookup/names')).pages.length).toBeGreaterThan(3);
    expect(await client.find('ASK')).toEqual([
      { kind: 'group', id: 15, name: 'Ask Reddit', is_current: true },
      { kind: 'user', id: 43, name: 'AskRed', is_current: false },
    ]);
    const names = ['Ask Reddit', 'AskRed', 'eight', 'seven', ...USERS.map(({ username }) => username)];
    for (const prefix of ['user_0', 'user_00099', 'user_34918', 'a', 'ｕser_00', 'zebra', '']) {
      paths.length = 0;
      const found = await client.find(prefix, { limit: 10 });
      const expected = names.filter((name) => name.toLowerCase().startsWith(prefix.normalize('NFKC')));
      expect(found.map(({ name }) => name)).toEqual(expected.slice(0, 10));
      expect(paths.length).toBeLessThanOrEqual(3);
    }
  });

  it('and ids begin again if another snapshot was published meanwhile', async () => {
    expect(await idsOf((await proxied(out)).client)).toEqual(USERS.map(({ id }) => id));
    const waits = skippedSeconds();
    // Page 7 is gone, to which caches on the way still lead.
    const { client, statuses } = await served((request, response) => {
      const page = request.headers['cache-control'] === 'no-cache' ? 8 : 7;
      const documents: Readonly<Record<string, object>> = {
        '/lookup/names': { count: 1, pages: [{ first: 'a', path: `/api/v1/lookup/names/${page}` }] },
        '/lookup/names/8': { next: null, names: [{ kind: 'user', id: 1, name: 'Anna' }] },
        '/ids': { kinds: { user: { first: '/api/v1/ids/user/1' } } },
        '/ids/user/1': { ids: [1, 2], next: `/api/v1/ids/user/${page}` },
        '/ids/user/8': { ids: [2, 8], next: null },
      };
      const document = documents[request.url?.replace('/api/v1', '') ?? ''];
      const gone = answer(404, 'application/problem+json', '{"error":"not_found","detail":"gone"}');
      const here = answer(200, 'application/json', JSON.stringify(document));
      (document === undefined ? gone : here)(request, response);
    });
    expect(await client.find('an')).toMatchObject([{ name: 'Anna' }]);
    expect([statuses, waits]).toEqual([[200, 404, 200, 200], [1000]]);
    statuses.length = 0;
    expect(await idsOf(client)).toEqual([1, 2, 8]);
    expect(statuses).toEqual([200, 200, 404, 200, 200, 200]);
  });
});

describe('a refused request', () => {
  it('is an error after as many repetitions as were asked for', async () => {
    const { client, statuses } = await served(refusal(503, { 'retry-after': '0' }), { retries: 2 });
    const error = await rejectionOf(client.get('/api/v1'));
    expect(error).toMatchObject({ name: 'ResponseError', status: 503, retryAfter: 0 });
    expect(statuses).toEqual([503, 503, 503]);
  });

  it('waits for seconds, until a date, or a second if neither is given', async () => {
    const cases: readonly [number, Record<string, string>][] = [
      [429, { 'retry-after': '1' }],
      [503, { 'retry-after': 'Sun, 06 Nov 1994 08:50:39 GMT', date: 'Sun, 06 Nov 1994 08:50:38 GMT' }],
      [502, {}],
      [504, {}],
    ];
    const waits = skippedSeconds();
    for (const [status, headers] of cases) {
      const { client, statuses } = await served(answering(refusal(status, headers), HERE));
      const { name } = await client.get('/api/v1');
      expect([name, waits.splice(0), statuses]).toEqual(['here', [1000], [status, 200]]);
    }
  });

  it.each(
    '61|Sun, 06 Nov 1994 08:50:39 GMT|Sunday, 06-Nov-94 08:50:39 GMT|Sun Nov  6 08:50:39 1994'.split('|'),
  )('is an error at once where the wait is too long: %s, from the date of the response', async (after) => {
    const headers = { 'retry-after': after, date: 'Sun, 06 Nov 1994 08:49:38 GMT' };
    const { client, statuses } = await served(answering(refusal(503, headers), HERE), {
      maxWaitSeconds: 60,
    });
    const error = await rejectionOf(client.get('/api/v1'));
    expect(error).toMatchObject({ status: 503, retryAfter: 61 });
    expect(error instanceof ResponseError && error.headers.get('retry-after')).toBe(after);
    expect(statuses).toEqual([503]);
    // The next is sent all the same.
    expect((await client.get('/api/v1')).name).toBe('here');
  });
});

const cut: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"name":', () => response.destroy());
};
const endless: RequestListener = (_, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).write('{');

it('a lost connection is tried again, also within a document, and is an error in the end', async () => {
  skippedSeconds();
  for (const [ending, expected] of [
    [lost, [200]],
    [cut, [200, 200]],
  ] as const) {
    const { client, statuses } = await served(answering(ending, HERE));
    expect((await client.get('/api/v1')).name).toBe('here');
    expect(statuses).toEqual(expected);
  }
  const { client } = await served(lost, { retries: 1 });
  expect(await rejectionOf(client.get('/api/v1'))).toBeInstanceOf(TypeError);
});

it('a slow request ends by itself, holds up no other, and is none if it is a download that is being read', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const finishes: (() => void)[] = [];
  const slowly: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('id');
    finishes.push(() => response.end(',name'));
  };
  for (const never of [() => undefined, endless]) {
    const { passed, letGo } = gate();
    const asked: RequestListener = (...both) => [never(...both), letGo()];
    const { client } = await served(answering(slowly, asked, HERE), { timeoutSeconds: 2 });
    const download = await client.fetch('/downloads/groups.csv');
    const slow = rejectionOf(client.get('/api/v1'));
    await passed;
    expect((await client.get('/api/v1')).name).toBe('here');
    vi.advanceTimersByTime(2000);
    expect(String(await slow)).toMatch(/^TimeoutError: .*\/api\/v1: no response in 2 seconds$/);
    for (const finish of finishes) finish();
    expect(await download.text()).toBe('id,name');
  }
});

it('a download ends by itself if the service falls silent, or takes too long in all', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: ServerResponse[] = [];
  const piecemeal: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('id');
    sent.push(response);
  };
  const isGone = () => vi.waitFor(() => expect(sent.at(-1)?.closed).toBe(true));
  const { client } = await served(piecemeal, { timeoutSeconds: 2, bodySeconds: 5 });
  const begin = async () => {
    const response = await client.fetch('/downloads/groups.csv');
    expect(new URL(response.url).pathname).toBe('/downloads/groups.csv');
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('id');
    return { next: () => reader.read() };
  };
  const silent = await begin();
  // Nobody reads it, so nothing is late.
  await vi.advanceTimersByTimeAsync(10_000);
  const read = rejectionOf(silent.next());
  await vi.advanceTimersByTimeAsync(2000);
  expect(String(await read)).toMatch(/^TimeoutError: .*groups\.csv: nothing came for 2 seconds$/);
  await isGone();
  const slow = await begin();
  for (let seconds = 0; seconds < 4.5; seconds += 1.5) {
    const piece = slow.next();
    await vi.advanceTimersByTimeAsync(1500);
    sent.at(-1)?.write(',');
    await piece;
  }
  const last = rejectionOf(slow.next());
  await vi.advanceTimersByTimeAsync(500);
  expect(String(await last)).toMatch(/^TimeoutError: .*: the body took more than 5 seconds$/);
  await isGone();
});

it('a JSON without an end is not read to its end', async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '), { level: 1 });
  for (const [status, type] of [
    [200, 'application/json'],
    [404, 'application/problem+json'],
  ] as const) {
    const { client } = await served((_, response) =>
      response.writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' }).write(bomb),
    );
    const error = await rejectionOf(client.get('/api/v1'));
    expect(error).toBeInstanceOf(ResponseError);
    expect(String(error)).toContain(`${status} expected at most 67108864 bytes`);
  }
});

it.each([
  [200, 'text/html', '<h1>Are you human?</h1>'],
  [200, 'application/json', '<h1>'],
  [403, 'text/html', '<h1>'],
  [404, 'application/problem+json', '<h1>'],
  [404, 'application/problem+json', '{"title":"no"}'],
])('is an error of its own kind if it is not of the service: %d %s %s', async (status, type, body) => {
  const { client, statuses } = await served(answer(status, type, body));
  const error = await rejectionOf(client.get('/api/v1/stats'));
  expect(error).toMatchObject({ name: 'ResponseError', status, retryAfter: undefined });
  expect(error instanceof ResponseError && error.headers.get('content-type')).toBe(type);
  expect(statuses).toEqual([status]);
});

it('the base URL keeps its path', async () => {
  for (const base of ['/copies/one', '/copies/one/']) {
    const { client, paths } = await served(HERE, {}, base);
    await client.get('/api/v1/group/{id}', { id: 7 });
    await client.fetch('/group/7/history.json');
    expect(paths).toEqual(['/copies/one/api/v1/group/7', '/copies/one/group/7/history.json']);
  }
});

it.each(['1/evil', '@elsewhere.example/', 'https://elsewhere.example/', '', '/../other', '/%2e%2e/other'])(
  'a path from the service leads to nothing but the service: "%s"',
  async (wrong) => {
    const { client, statuses } = await served(HERE, {}, '/copies/one');
    const error = await rejectionOf(client.fetch(wrong));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/expected a path of .*\/copies\/one that begins with "\/", got "/);
    expect(statuses).toEqual([]);
  },
);

describe('an abort', () => {
  it('ends a wait at once, before which no other request is sent, and that of one in the queue', async () => {
    // Longer than a test may take.
    const long = { maxWaitSeconds: 3600 };
    const { client, statuses } = await served(answering(refusal(429, { 'retry-after': '1800' }), HERE), long);
    const waiting = new AbortController();
    const queued = new AbortController();
    const first = rejectionOf(client.get('/api/v1', {}, { signal: waiting.signal }));
    await vi.waitFor(() => expect(statuses).toEqual([429]));
    const second = rejectionOf(client.get('/api/v1', {}, { signal: queued.signal }));
    queued.abort(new Error('no more'));
    expect(await second).toMatchObject({ message: 'no more' });
    const third = client.get('/api/v1');
    await new Promise((settle) => setTimeout(settle, 50));
    expect(statuses).toEqual([429]);
    waiting.abort();
    expect(await first).toMatchObject({ name: 'AbortError' });
    expect((await third).name).toBe('here');
    expect(statuses).toEqual([429, 200]);
  });

  it('ends a request that is under way, and before one sends none', async () => {
    const controller = new AbortController();
    const { client, statuses } = await served(() => controller.abort(new Error('enough')));
    const options = { signal: controller.signal };
    for (const _ of ['under way', 'before'])
      expect(await rejectionOf(client.get('/api/v1', {}, options))).toMatchObject({ message: 'enough' });
    expect(statuses).toEqual([]);
  });
});

const run = async (cwd: string, program: string, ...args: readonly string[]): Promise<string> => {
  const env = { ...process.env, PATH: `${join(PROJECT, 'node_modules/.bin')}:${process.env['PATH']}` };
  return (await promisify(execFile)(program, args, { cwd, env })).stdout;
};

thorough('the README has examples that run', async () => {
  const readme = readFileSync(join(TYPES_FILE, '../README.md'), 'utf8');
  const examples = [...readme.matchAll(/```ts\n(.*?)\n```/gs)].map(([, code = '']) => code);
  const changing = await siteOf(path, { groups: GROUPS });
  await changing.build(`DELETE FROM groups WHERE id = 8; UPDATE groups SET name = 'new' WHERE id = 7`);
  const proxy = await startProxy(changing.out);
  onTestFinished(async () => void (await proxy.stop()));
  const more = `
      const show = () => console.log([...copy].map(([url, body]) => url + ' ' + JSON.parse(body).name).join(), position?.sequence);
      show();
      const index = await register.get('/changes/index.json');
      // A copy as of the first snapshot.
      const first = index.changes.find(({ sequence }) => sequence === 2);
      position = { tree: index.tree, sequence: 1, digest: first?.from_digest ?? '' };
      copy.set('/api/v1/group/7', '{"name":"old"}').set('/api/v1/group/8', '{"name":"gone"}');
      await update();
      show();
      position = { ...position, tree: 'another' };
      copy.set('/api/v1/group/8', '{"name":"gone"}');
      await update();
      show();`;
  const code = [...examples, more].join('\n').replace('https://register.example', proxy.base);
  const made = path('client');
  cpSync(join(TYPES_FILE, '..'), made, { recursive: true });
  const folder = newFolder(path('project'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(made, 'npm', 'pack', '--silent');
  await run(folder, 'npm', 'install', '--silent', '--offline', join(made, 'register-api-client-0.1.0.tgz'));
  writeFileSync(join(folder, 'example.ts'), code);
  // The oldest settings that the README names.
  const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', 'nodenext'];
  await run(folder, 'tsc', ...target, '--types', '', '--strict', '--outDir', 'build', 'example.ts');
  const stdout = await run(folder, process.execPath, 'build/example.js');
  const now = '/api/v1/group/7 new 2\n';
  expect(stdout).toBe(`new 5\nno such group\n1 groups\n${now}${now}${now}`);
});
