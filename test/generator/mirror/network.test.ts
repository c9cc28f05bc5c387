/** What a mirror makes of a network that fails, limits, and origins that are broken or hostile. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { RequestBudget } from '../../../generator/mirror/limits.js';
import { originSchema } from '../../../generator/mirror/origin.js';
import { Lock } from '../../../generator/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR } from '../../support/build.js';
import { writeRegister } from '../../support/register.js';
import { inState } from '../../support/tree.js';
import { damageOf, inProcess, sha256, temporary } from '../publish/support.js';
import { tableOf } from '../../../generator/routes/index.js';
import { MadeUpOrigin, ROUTES, documentsOf } from './made-up.js';
import { impatient } from './impatient.js';

const path = temporary();
const waits = impatient();
let origin: MadeUpOrigin;
let base: string;
let out: string;

beforeEach(async () => {
  origin = new MadeUpOrigin();
  base = await origin.start(0);
  out = path('copy');
});
afterEach(() => origin.stop());

const run = () => inProcess('mirror', base, '--out', out);

const ONE = documentsOf({ 1: 'one', 2: 'two' });
const GROUPS = '/downloads/documents/group.ndjson.gz';
/** Too long for one packet, and hardly compressible. */
const LONG = documentsOf(
  Object.fromEntries(Array.from({ length: 4000 }, (_, at) => [at + 1, sha256(`group ${at}`)])),
);

/** Does something at the first requests for a path. */
function atFirst(
  file: string,
  times: number,
  respond: (response: ServerResponse, body: Buffer) => void,
): void {
  let count = 0;
  origin.instead = ({ url }, response, body) => {
    if (url !== file || body === undefined || (count += 1) > times) return false;
    respond(response, body);
    return true;
  };
}

/** Sends the first half and closes the connection. */
const cut = (etag?: string) => (response: ServerResponse, body: Buffer) => {
  response.writeHead(200, { 'content-length': body.length, ...(etag !== undefined && { etag }) });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};

const expectCopy = async () => {
  const ended = await run();
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  expect(await damageOf(out)).toEqual([]);
  return ended.stdout;
};

/** Runs it in vain: nothing may be published. */
const failing = async () => {
  const { code, stderr } = await run();
  expect(existsSync(join(out, 'snapshot.json'))).toBe(false);
  return [code, stderr];
};

/** The file of an asset with this content. */
const named = (body: string): string => `assets/style-${sha256(body).slice(0, 10)}.css`;

describe('a connection that breaks', () => {
  it('is taken up where it broke', async () => {
    origin.publish(LONG);
    const body = origin.files.get(GROUPS) ?? Buffer.alloc(0);
    atFirst(GROUPS, 1, cut(`"${createHash('sha1').update(body).digest('hex')}"`));
    await expectCopy();
    const [first, second] = origin.log.filter((each) => each.startsWith(GROUPS));
    expect(first).toBe(GROUPS);
    expect(Number(/bytes=(\d+)-$/.exec(second ?? '')?.[1])).toBeGreaterThan(1000);
  });

  it.each([
    ['begins again if the file is another by now', '"another"', `${GROUPS} bytes=`],
    ['begins again without a strong ETag', 'W/"weak"', GROUPS],
    ['begins again without any ETag', undefined, GROUPS],
  ])('%s', async (_, etag, second) => {
    origin.publish(LONG);
    atFirst(GROUPS, 1, cut(etag));
    await expectCopy();
    const asked = origin.log.filter((each) => each.startsWith(GROUPS));
    expect(asked).toEqual([GROUPS, expect.stringContaining(second)]);
    expect(asked[1] === GROUPS).toBe(second === GROUPS);
  });
});

it.each(['/', '/downloads/datapackage.json'])(
  'the connection of %s breaks: it is asked for again, since nothing says its size',
  async (file) => {
    origin.publish(ONE);
    const body = origin.files.get(file) ?? Buffer.alloc(0);
    atFirst(file, 1, cut(`"${createHash('sha1').update(body).digest('hex')}"`));
    await expectCopy();
    expect(origin.log.filter((each) => each.split(' ')[0] === file)).toEqual([file, file]);
    expect(origin.log.filter((each) => each === '/snapshot.json')).toHaveLength(1);
  },
);

describe('a server', () => {
  it.each([429, 503])('that responds %i is asked again when it says', async (status) => {
    origin.publish(ONE);
    atFirst('/brand.bin', 1, (response) => response.writeHead(status, { 'retry-after': '2' }).end('later'));
    await expectCopy();
    expect(waits).toContain(2000);
    expect(origin.log.filter((each) => each === '/brand.bin')).toHaveLength(2);
  });

  it('that redirects within itself is followed, to another host never', async () => {
    origin.publish(ONE);
    atFirst('/brand.bin', 1, (response) => response.writeHead(308, { location: '/brand.bin?' }).end());
    origin.files.set('/brand.bin?', origin.files.get('/brand.bin') ?? Buffer.alloc(0));
    await expectCopy();
    out = path('another');
    atFirst('/snapshot.json', 9, (response) =>
      response.writeHead(302, { location: 'http://localhost:1/snapshot.json' }).end(),
    );
    expect(await failing()).toEqual([
      3,
      expect.stringMatching(/redirects to "http:\/\/localhost:1\/snapshot\.json"/),
    ]);
    atFirst('/snapshot.json', 9, (response) => response.writeHead(302, { location: '/snapshot.json' }).end());
    expect(await failing()).toEqual([3, expect.stringMatching(/redirects to/)]);
  });

  it('gets all requests on one connection, and learns who asks', async () => {
    origin.publish(ONE);
    const [sockets, agents] = [new Set<unknown>(), new Set<unknown>()];
    origin.instead = ({ socket, headers }) => {
      sockets.add(socket);
      agents.add(headers['user-agent']);
      return false;
    };
    await expectCopy();
    expect(sockets.size).toBe(1);
    expect([...agents]).toEqual(['test/0.0.0 (mirror)']);
  });

  it('is asked no more often than its limits permit', async () => {
    origin.limits = { tokens: 4, refill_seconds: 0.25 };
    origin.publish(ONE);
    const start = performance.now();
    await expectCopy();
    // 9 requests, the first before the limits are known; page and API have a bucket each.
    expect(Math.max(...waits) + performance.now() - start).toBeGreaterThan(3 * 250);
    expect(origin.log.filter((each) => each === '/snapshot.json')).toHaveLength(1);
  });
});

describe('the limits', () => {
  it('count a download against both buckets, and a range by its share', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const limits = new RequestBudget();
    const api = { tokens: 3, refill_seconds: 1000 };
    limits.set({ api, download: { tokens: 2, refill_seconds: 100 }, page: api });
    expect(limits.take('download', 1)).toBe(0);
    expect(limits.take('download', 0.5)).toBe(0);
    const download = { bucket: 'download', bytes: 100 } as const;
    expect(limits.secondsFor([download, download])).toBe(1000);
    // One of each, and half a one of downloads, is left.
    limits.set({
      api: { tokens: 1000, refill_seconds: 1 },
      download: { tokens: 2, refill_seconds: 100, token_bytes: 200 },
      page: api,
    });
    expect([limits.costOf(400), limits.costOf(100), limits.costOf(100, 400), limits.costOf(1)]).toEqual([
      1, 0.5, 0.25, 0.01,
    ]);
    expect(limits.secondsFor([download, download])).toBe(50);
    limits.set({ api, download: { tokens: 2, refill_seconds: 100 }, page: api });
    expect(limits.take('page', 1)).toBe(0);
    // Half a token is left of two, and one of three.
    expect(limits.take('download', 1)).toBe(50_000);
    expect(limits.take('api', 1)).toBe(1_000_000);
  });
});

it('what was asked before the limits were known counts as well', () => {
  const limits = new RequestBudget();
  expect(limits.take('api', 1)).toBe(0);
  const api = { tokens: 2, refill_seconds: 1000 };
  limits.set({ api, download: api, page: api });
  expect(limits.take('api', 1)).toBe(0);
  expect(Math.round(limits.take('api', 1) / 1000)).toBe(1000);
});

it('limits that would make a timer overflow count as one request a day', () => {
  const day = 24 * 3600 * 1000;
  const limits = new RequestBudget();
  const api = { tokens: 1, refill_seconds: 1e9 };
  limits.set({ api, download: api, page: api });
  limits.learn('"page";q=1;w=999999999999');
  for (const bucket of ['api', 'page'] as const) {
    expect(limits.take(bucket, 1)).toBe(0);
    const wait = limits.take(bucket, 1);
    expect(wait).toBeGreaterThan(day - 60_000);
    expect(wait).toBeLessThanOrEqual(day);
  }
});

/** A route with a file, whose parameter it declares. */
const leadingTo = (file: string) => {
  const route = { ...ROUTES[3]!, name: 'another', file };
  if (!file.includes('{key}')) return { ...route, path: '/another' };
  const parameters = [{ name: 'key', in: 'path' as const, type: 'id', description: '' }];
  return { ...route, path: '/another/{key}', parameters };
};

describe('an origin that is no origin', () => {
  it.each([
    ['of a later format', { format: 5 }, /snapshot\.json of the origin can't be used \(see "format"\)/],
    ['without an id', { tree: { files: 1, bytes: 1 } }, /\(see "tree\.id"\)/],
    ['with a number that is none', { sequence: '1' }, /\(see "sequence"\)/],
    [
      'with a redirect elsewhere',
      { redirects: [{ path: '/docs', to: '//evil.example' }] },
      /redirects\.0\.to/,
    ],
    [
      'with a redirect that says more',
      { redirects: [{ path: '/docs', to: '/y; } location /evil { root /' }] },
      /redirects\.0\.to/,
    ],
    [
      'with a redirect of its documents',
      { redirects: [{ path: ROUTES[0]!.path, to: '/x' }] },
      /can't be used/,
    ],
    [
      'with a page of errors that says more',
      { errors: { not_found: { status: 404, title: 'a', detail: 'b', page: '/4\n/x /y 200' } } },
      /not_found\.page/,
    ],
    ['with problems below more', { problems_below: ['/api {'] }, /problems_below\.0/],
  ])('%s is refused', async (_, members, message) => {
    origin.publish(ONE);
    origin.announce(members);
    expect(await failing()).toEqual([1, expect.stringMatching(message)]);
  });

  it('but a page is refused', async () => {
    origin.files.set('/snapshot.json', Buffer.from('<html>'));
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used/)]);
  });

  it.each([
    '../outside.json',
    'a/../../outside',
    '/etc/passwd',
    '.hidden',
    'a/.snapshot/x',
    'snapshot.json',
    'changes/1.json',
    'a\0b',
    'a;}b',
    'a b',
    'a\nb',
    String.raw`..\outside`,
    'a//b',
    '',
    'index.html',
    // Files of the publisher, of other routes, their siblings and folders.
    'feeds/snapshots.atom',
    'feeds/snapshots.json.gz',
    'api/v1/group/7.json',
    'api/v1/group/7.json.br',
    'api/v1/group/{key}.json',
    'api/v1/group/1{key}.json',
    'api/v1/stats.json',
    'api/v1/stats.json/x',
    'api/v1',
    'api/v1/group/{key}.json/x',
    'log/efd62e2505583bf5/checkpoint',
    'log/{key}/checkpoint',
    'log/{key}',
    'log/efd62e2505583bf5/tile',
    'log/efd62e2505583bf5/tile/0/{key}',
    'log/efd62e2505583bf5/index/group/7.txt.gz',
  ])('a route with the file %j is refused', async (file) => {
    origin.routes = [...ROUTES, leadingTo(file)];
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it('routes whose files can be the same by keys that don’t overlap are refused', async () => {
    const [one, other] = [leadingTo('x/{key}x2'), leadingTo('x/1x{key}')];
    // `x/1x2` is a file of both.
    origin.routes = [...ROUTES, one, { ...other, name: 'other', path: '/other/{key}' }];
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it.each([
    { file: 'api/v1/group/{key}.json', requires: 'nosuch' },
    { file: 'api/v1/group/{key}.json', requires: 'bad' },
    { file: 'nosuch.html', requires: ROUTES[3]!.name },
  ])('a page of records that can be none is refused: %j', async (members) => {
    origin.routes = [...ROUTES, { ...ROUTES[3]!, name: 'bad', path: '/bad', ...members }];
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it.each([
    'api/v1/{key}/stats.json',
    'api/v1/group/x{key}.json',
    'api/v1/group/{key}/x.json',
    'log/readme.txt',
  ])('a route with the file %j is not refused', async (file) => {
    origin.routes = [...ROUTES, leadingTo(file)];
    origin.publish(ONE);
    expect(originSchema.safeParse(JSON.parse(String(origin.files.get('/snapshot.json'))))).toMatchObject({
      success: true,
    });
  });

  it.each([
    ['snapshot', { file: '../secret.txt' }],
    ['snapshot', { path: '/other.json' }],
    ['changes', { file: 'changes/1.json' }],
    ['change-list', { path: '/changes/{sequence}.json', file: '../{sequence}.json' }],
    ['change-bundle', { path: '/changes/{sequence}.ndjson.gz', file: '/etc/{sequence}' }],
    ['feed-snapshots', { path: '/feeds/snapshots.atom', file: 'api/v1/stats.json' }],
    ['feed-snapshots-json', { path: '/feeds/all.json', file: 'feeds/snapshots.json' }],
    ['log-tile', { path: '/log/{tree}/tile/{path}', file: '{path}' }],
    ['log-checkpoint', { path: '/log/{tree}/checkpoint', file: 'snapshot.json' }],
  ])('a route %s of another path or file is refused: %j', async (name, members) => {
    const own = ROUTES.find((each) => each.name === name) ?? ROUTES[3]!;
    origin.routes = [
      ...ROUTES.filter((each) => each !== own || own === ROUTES[3]),
      { ...own, name, ...members },
    ];
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it('but the routes of a signed log are those of every signed tree', () => {
    const logged = tableOf({ isSigned: true }).slice(-3);
    expect(logged.map(({ name }) => name)).toEqual(['log-checkpoint', 'log-tile', 'log-index']);
    origin.publish(ONE);
    const snapshot = z.looseObject({}).parse(JSON.parse(String(origin.files.get('/snapshot.json'))));
    const withRoutes = (routes: readonly object[]) =>
      originSchema.safeParse({ ...snapshot, routes: [...origin.routes, ...routes] }).success;
    expect(withRoutes(logged)).toBe(true);
    // Any other route has keys, which no text of these is.
    expect(withRoutes(logged.map((route) => ({ ...route, name: `my-${route.name}` })))).toBe(false);
    const [, tile] = logged;
    expect(withRoutes([{ ...tile, name: 'mine', path: '/x/{path}', file: 'x/{path}' }])).toBe(false);
  });

  const asset = {
    ...ROUTES[3]!,
    name: 'former-style',
    class: 'asset',
    bucket: 'page',
    type: 'text/css; charset=utf-8',
  };

  it('a route of a former asset that is none of ours is refused', async () => {
    origin.routes = [...ROUTES, { ...asset, path: `/${named('a')}`, file: named('a') }];
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it('of a list with endless values is refused', async () => {
    const maximum = Number.MAX_SAFE_INTEGER;
    origin.routes = ROUTES.map((each) =>
      'parameters' in each && each.name === 'largest'
        ? {
            ...each,
            parameters: [
              {
                name: 'limit',
                in: 'query',
                type: 'integer',
                minimum: 1,
                maximum,
                default: 2,
                description: '',
              },
            ],
          }
        : each,
    );
    origin.publish(ONE);
    expect(await failing()).toEqual([1, expect.stringMatching(/can't be used \(see "routes"\)/)]);
  });

  it.each([
    ['', '/changes/../../outside'],
    ['', '/api/v1/stats'],
  ])('%schange files of the name %j are refused', async (_, file) => {
    origin.publish(ONE);
    origin.publish(documentsOf({ 3: 'three' }));
    const index = String(origin.files.get('/changes/index.json'));
    origin.files.set(
      '/changes/index.json',
      Buffer.from(index.replace('"/changes/2.json"', JSON.stringify(file))),
    );
    expect(await failing()).toEqual([1, expect.stringMatching(/index\.json of the origin can't be used/)]);
  });
});

const indexSchema = z.looseObject({
  changes: z.array(z.looseObject({ from: z.int().nullable(), sequence: z.int() })),
});

/** Replaces the newest bundle by these lines. */
function bundle(...lines: readonly object[]): void {
  const index = indexSchema.parse(JSON.parse(String(origin.files.get('/changes/index.json'))));
  const [newest, ...rest] = index.changes;
  const header = { tree: origin.tree, from: newest?.from, to: newest?.sequence, ...lines[0] };
  const content = gzipSync([header, ...lines.slice(1)].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const file = `/changes/${newest?.sequence}.ndjson.gz`;
  const changes = [{ ...newest, bundle: { file, bytes: content.length, sha256: sha256(content) } }, ...rest];
  origin.files.set('/changes/index.json', Buffer.from(JSON.stringify({ ...index, changes })));
  origin.files.set(file, content);
}

describe('an origin of bad bundles', () => {
  const stats = '/api/v1/stats';
  const [huge, part] = ['a'.repeat(10_000), 'a'.repeat(100)];

  it.each([
    ['with a body of another hash', [{}, { path: stats, sha256: sha256('a'), bytes: 1, body: 'b' }]],
    ['with a body of another size', [{}, { path: stats, sha256: sha256('a'), bytes: 2, body: 'a' }]],
    ['with a path of no route', [{}, { path: '/../../etc', sha256: sha256('a'), bytes: 1, body: 'a' }]],
    [
      'with a path that is another’s sibling',
      [{}, { path: `${stats}.gz`, sha256: sha256('a'), bytes: 1, body: 'a' }],
    ],
    ['of another tree', [{ tree: 'f'.repeat(16) }]],
    ['of another step', [{ from: 7 }]],
    ['with lines of another form', [{}, { no: 1 }]],
    [
      'with more than the whole tree',
      [{}, { path: stats, sha256: sha256(huge), bytes: huge.length, body: huge }],
    ],
    [
      'with more deletions than the whole tree has bytes',
      [{}, ...Array.from({ length: 1000 }, (_, at) => ({ path: `/api/v1/group/${at + 9}`, deleted: true }))],
    ],
    [
      'with more than the whole tree in parts',
      [
        {},
        ...Array.from({ length: 100 }, () => ({ path: stats, sha256: sha256(part), bytes: 100, body: part })),
      ],
    ],
  ])('%s is given up for a copy from the start', async (_, lines) => {
    origin.publish(ONE);
    await expectCopy();
    origin.publish(documentsOf({ 1: 'new', 2: 'two' }));
    bundle(...lines);
    expect(await expectCopy()).toContain('copied from the start');
    expect(JSON.parse(readFileSync(join(out, 'api/v1/group/1.json'), 'utf8'))).toEqual({
      id: 1,
      name: 'new',
    });
  });

  it('that leads to something else is given up for a copy from the start', async () => {
    origin.publish(ONE);
    await expectCopy();
    origin.publish(documentsOf({ 1: 'new', 2: 'two' }));
    bundle({}, { path: stats, sha256: sha256('a'), bytes: 1, body: 'a' });
    expect(await expectCopy()).toContain('copied from the start');
  });
});

it('other documents larger than the origin says are not stored', async () => {
  origin.publish(ONE);
  const bytes = ['group', 'other'].map((name) => {
    const file = origin.files.get(`/downloads/documents/${name}.ndjson.gz`);
    return file?.length ?? 0;
  });
  // More than each compressed file, and less than the documents in them.
  const most = Math.max(...bytes, origin.files.get('/downloads/datapackage.json')?.length ?? 0);
  const long = { ...ONE, '/api/v1/stats': JSON.stringify({ text: 'a'.repeat(10 * most) }) };
  origin.publish(long);
  origin.announce({ tree: { id: origin.tree, files: 10, bytes: 5 * most } });
  expect(await failing()).toEqual([
    1,
    expect.stringMatching(/downloads are damaged: .* has more than \d+ bytes of documents/),
  ]);
});

it('documents larger than the origin says are not stored', async () => {
  origin.publish(LONG);
  origin.announce({ tree: { id: origin.tree, files: 4000, bytes: 1000 } });
  expect(await failing()).toEqual([1, expect.stringMatching(/expected 200 with|more than 1000 bytes/)]);
});

/** Builds a tree where the copy is to be. */
const built = () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1 }] });
  return inProcess('build', '--quiet', '--register', register, '--operator', OPERATOR, '--out', out);
};

/** Runs it in vain, since there is a tree that is no copy. */
const expectLeftAlone = async () => {
  const before = readdirSync(out, { recursive: true });
  const manifest = readFileSync(join(out, 'snapshot.json'));
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([3, expect.stringContaining('is not known to be a copy: choose another')]);
  expect(readdirSync(out, { recursive: true })).toEqual(before);
  expect(readFileSync(join(out, 'snapshot.json')).equals(manifest)).toBe(true);
};

describe('a folder', () => {
  it('that holds another tree is left alone', async () => {
    origin.publish(ONE);
    await expectCopy();
    origin.announce({}, '2026-12-02T00:00:00Z');
    // The same tree: it is a copy that lost its state, and has one again.
    rmSync(inState(out), { recursive: true });
    await expectCopy();
    rmSync(inState(out), { recursive: true });
    origin.tree = 'c'.repeat(16);
    origin.announce();
    await expectLeftAlone();
    expect(existsSync(inState(out))).toBe(false);
  });

  it('that holds the origin itself is left alone', async () => {
    // A state without a record of a copy is that of a tree that builds publish.
    origin.publish(ONE);
    await expectCopy();
    rmSync(inState(out, 'mirror'), { recursive: true });
    await expectLeftAlone();
    expect(existsSync(inState(out, 'mirror'))).toBe(false);
    expect((await built()).stderr).not.toContain('is a copy');
  });

  it('in which a mirror failed can be built into, again and again, and is left alone then', async () => {
    origin.publish(ONE);
    atFirst('/', 9, (response) => response.writeHead(403).end());
    expect(await failing()).toEqual([3, expect.stringContaining('the response is 403')]);
    expect(existsSync(inState(out, 'mirror'))).toBe(true);
    for (const _ of [1, 2]) expect(await built()).toMatchObject({ code: 0, stderr: '' });
    origin.instead = () => false;
    await expectLeftAlone();
  });

  it('that is a copy is left alone by builds, whatever tree its origin has begun since', async () => {
    origin.publish(ONE);
    for (const tree of ['a', 'd']) {
      origin.tree = tree.repeat(16);
      origin.announce();
      await expectCopy();
      const { code, stderr } = await built();
      expect([code, stderr]).toEqual([3, expect.stringContaining('is a copy, whose snapshots')]);
    }
  });

  it('at which another process is at work ends with 75', async () => {
    origin.publish(ONE);
    const lock = Lock.take(new Tree(out).lock);
    try {
      expect(await run()).toMatchObject({ code: 75 });
    } finally {
      lock.release();
    }
  });
});

it.each(['ftp://127.0.0.1', 'http://127.0.0.1/register', 'http://user@127.0.0.1', 'example', 'http://a/?b'])(
  'the base URL %s is refused',
  async (url) => {
    const { code, stderr } = await inProcess('mirror', url, '--out', out);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is no base URL: expected http or https')]);
  },
);
